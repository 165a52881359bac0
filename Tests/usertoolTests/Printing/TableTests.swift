import Testing

@testable import UserToolCommands

@Suite(.bounded, .serialized) struct `Tables on a terminal` {
  private func table(_ header: [String], _ rows: [String]...) -> Table {
    var table = Table(header: header)
    for row in rows { table.add(row.map { Table.Cell($0, isNumber: Int($0) != nil) }) }
    return table
  }

  private let plain = Style(.never, isTerminal: false)

  @Test func `without a terminal, a table has its full width`() {
    let long = String(repeating: "x", count: 500)
    #expect(table(["ID", "NAME"], ["1", long]).lines(plain)[1] == " 1  " + long)
  }

  @Test(arguments: 1...120)
  func `a table fits the terminal, and the widest text is cut first`(width: Int) {
    let table = table(
      ["ID", "NAME", "NOTE", "COUNT"], ["1", String(repeating: "ab", count: 40), "short", "9223372036854775807"],
      ["2", "Zoë", String(repeating: "日", count: 30), "7"])
    let lines = table.lines(plain, within: width)
    #expect(lines.allSatisfy { $0.columns <= width }, "\(lines)")
    // The least width for all columns: the id, the number, four columns for each text, and the gaps.
    #expect(lines[1].hasSuffix("9223372036854775807") == (width >= 2 + 19 + 4 + 4 + 6), "\(lines)")
    #expect(lines[1].contains("…") || width < 2 + 2 + 4)
  }

  @Test func `a table that fits is not changed`() {
    let table = table(["ID", "NAME"], ["1", "Zoë"])
    #expect(table.lines(plain, within: 80) == table.lines(plain))
  }

  @Test func `text is cut at whole characters, and wide characters take two columns`() {
    #expect("Zoë Müller".cut(to: 10) == "Zoë Müller")
    #expect("Zoe\u{308} Mu\u{308}ller".cut(to: 5) == "Zoe\u{308} …")
    #expect("日本語".cut(to: 6) == "日本語")
    #expect("日本語".cut(to: 5) == "日本…")
    #expect("日本語".cut(to: 4) == "日…")
    #expect("日本語".cut(to: 1) == "…")
  }

  @Test func `a turned table has one line per field`() {
    #expect(table(["ID", "NAME"], ["1", "Zoë"]).turned(plain) == ["ID    1", "NAME  Zoë"])
  }
}
