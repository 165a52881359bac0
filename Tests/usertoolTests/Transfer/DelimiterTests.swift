import Foundation
import TestSupport
import Testing

@testable import UserToolCommands

@Suite(.bounded, .serialized) struct `The character between the fields` {
  private func recognized(_ text: String) -> CSVDelimiter {
    CSVDelimiter.recognized(in: Array(text.utf8)[...]) { CSVColumns.areTitles($0, CSVChoices()) }
  }

  @Test func `random tables with any delimiter are recognized`() {
    for seed in (0..<500).map({ Seed.base &+ $0 }) {
      var random = SplitMix64(seed: seed)
      let delimiter = random.choose(",", ";", "\t", "|")
      let titles = ["Name", "a", "b c", "d"].prefix(Int.random(in: 2...4, using: &random)).shuffled(using: &random)
      let isNamed = titles.contains("Name")
      let rows = (0..<Int.random(in: 0...5, using: &random)).map { _ in
        titles.map { _ in Self.field(&random) }.joined(separator: delimiter)
      }
      let text = ([titles.joined(separator: delimiter)] + rows).joined(separator: random.choose("\n", "\r\n"))
      if isNamed { #expect(recognized(text).byte == delimiter.utf8.first, "seed \(seed): \(text)") }
    }
  }

  private static func field(_ random: inout SplitMix64) -> String {
    random.choose("", "x", "1,5", "a;b", "\"a\"\"b\"", "\"x,y;z\"", "Zoë", "1|2", "\"a\nb\"").replacing(";", with: "")
      .replacing("1,5", with: "15").replacing("1|2", with: "12")
  }

  @Test func `decimal commas, commas in titles, and a single column do not mislead`() {
    #expect(recognized("name;price\na;1,5\nb;2,5\n").byte == UInt8(ascii: ";"))
    #expect(recognized("Last, First;name\na, b;c\n").byte == UInt8(ascii: ";"))
    #expect(recognized("name\na;b\nc;d\n") == .comma)
    #expect(recognized("x;name\na;b") != .comma && recognized("") == .comma && recognized("\n\n") == .comma)
    // An export, whatever its names are.
    #expect(recognized("id,name,hair_color,a;name;b\n1,x,,\n") == .comma)
  }

  @Test func `the line sep= decides, and is no header line`() throws {
    for (line, byte) in [("sep=;", ";"), ("SEP=,", ","), ("\"sep=|\"", "|"), ("sep=\t\r", "\t"), ("sep=a", "a")] {
      #expect(CSVDelimiter(line: Array(line.utf8)[...])?.byte == byte.utf8.first, "\(line)")
    }
    for line in ["sep=", "sep", "name", "sep=;;", "seq=;"] { #expect(CSVDelimiter(line: Array(line.utf8)[...]) == nil) }
    let workspace = try Workspace()
    try workspace.write(Data("sep=|\nname|x,y;z\nA|1\nB\n".utf8), to: "in.csv")
    let outcome = try workspace.run("import", workspace.folder + "/in.csv", "--skip-bad")
    // Lines are counted as they are in the file.
    #expect(outcome.errors.contains("in.csv:4: the header has 2 columns"), "\(outcome)")
    #expect(try workspace.run("list").output == "1\tA\t\tx,y;z=1\n")
  }

  @Test func `--delimiter is one character or tab, and decides`() throws {
    let workspace = try Workspace()
    try workspace.run("init")
    try workspace.write(Data("name:a,b\nA:1\n".utf8), to: "in.csv")
    let path = workspace.folder + "/in.csv"
    #expect(try workspace.run("import", path, "--delimiter", ":").errors == "imported 1 user as one change set\n")
    #expect(try workspace.run("list").output == "1\tA\t\ta,b=1\n")
    for bad in ["", "ab", "\"", "\n", "é"] {
      #expect(try workspace.run("import", path, "--delimiter", bad).status == 64, "\(bad)")
    }
    #expect(CSVDelimiter(argument: "tab")?.byte == 9 && CSVDelimiter(argument: "\\t")?.byte == 9)
  }

  @Test func `spaces around a field in quotes are left out, and others stay`() throws {
    let workspace = try Workspace()
    try workspace.write(Data("\"name\", \"a\" , b\n\"A\", \"x, y\" , z \n".utf8), to: "in.csv")
    #expect(try workspace.run("import", workspace.folder + "/in.csv").status == 0)
    #expect(try workspace.run("list", "--format", "jsonl").output.contains(#""a":"x, y","b":" z ""#))
  }
}
