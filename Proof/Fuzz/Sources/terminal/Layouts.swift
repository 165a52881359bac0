import Foundation
import Fuzzing
import UserStore
import UserStoreText

@testable import UserToolCommands

/// Records in the layouts of `get` and `list`.
enum Layouts {
  private static let plainStyle = Style(.never, isTerminal: false)

  static func check(_ fields: [Field], _ format: OutputFormat) {
    let users = [user(1, fields), user(2, fields.reversed())]
    let lines = printed(users, format, plainStyle)
    switch format {
    case .table, .plain: checkReadable(lines, users, format)
    case .json: checkJSON(lines, users.count)
    case .jsonl: for line in split(lines).dropLast() { checkObject(Data(line), "a line of JSON") }
    case .csv: checkCSV(lines, users)
    }
    if format == .table { checkColored(users, lines) }
  }

  private static func user(_ id: Int64, _ fields: some Sequence<Field>) -> Record {
    var names: Set<StoredValue> = [.text("id")]
    return Record(fields: [("id", .integer(id))] + fields.filter { names.insert(.text($0.name)).inserted })
  }

  private static func printed(_ records: [Record], _ format: OutputFormat, _ style: Style) -> [UInt8] {
    Captured {
      var printer = RecordPrinter(format, columns: nil, to: Output(), style)
      for record in records { printer.print(record) }
      printer.end()
    }.output
  }

  private static func split(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
  }

  // MARK: For people

  private static func checkReadable(_ bytes: [UInt8], _ records: [Record], _ format: OutputFormat) {
    let lines = split(bytes)
    let expected = records.count + (format == .table ? 1 : 0)
    expect(lines.count == expected + 1 && lines.last == [], "\(records): \(lines.count - 1) lines")
    for (index, line) in lines.enumerated() {
      guard let text = String(validating: line, as: UTF8.self) else { Findings.report("\(records): invalid UTF-8") }
      guard format == .plain, index < records.count else { return Readable.check(text, "\(records)") }
      let parts = text.split(separator: "\t", omittingEmptySubsequences: false)
      expect(parts.count == records[index].fields.count, "\(records[index]) has \(parts.count) fields in \(text)")
      for part in parts { Readable.checkControls(String(part), "\(records)") }
    }
  }

  /// Checks that colors change nothing else in the output.
  private static func checkColored(_ records: [Record], _ plain: [UInt8]) {
    let colored = String(decoding: printed(records, .table, Style(.always, isTerminal: true)), as: UTF8.self)
    let bare = colored.replacing(#/ \e\[48;2;\d+;\d+;\d+m  \e\[0m/#, with: "").replacing(#/\e\[\d*m/#, with: "")
    let trimmed = [bare, String(decoding: plain, as: UTF8.self)].map { $0.filter { $0 != " " } }
    expect(trimmed[0] == trimmed[1], "\(records): colored \(colored.debugDescription)")
  }

  // MARK: For programs

  private static func checkJSON(_ bytes: [UInt8], _ count: Int) {
    let list = try? JSONSerialization.jsonObject(with: Data(bytes))
    expect((list as? [Any])?.count == count, "invalid JSON: \(String(decoding: bytes, as: UTF8.self))")
  }

  static func checkObject(_ data: Data, _ what: String) {
    let object = try? JSONSerialization.jsonObject(with: data)
    expect(object is [String: Any], "\(what) is not JSON: \(String(decoding: data, as: UTF8.self))")
  }

  private static func checkCSV(_ bytes: [UInt8], _ records: [Record]) {
    var rows: [[[UInt8]]] = []
    var scanner = CSVScanner()
    for line in split(bytes).dropLast() {
      do {
        if try scanner.feed(line) {
          rows.append(scanner.fields)
          scanner = CSVScanner()
        }
      } catch { Findings.report("\(records) in CSV: \(error)") }
    }
    expect(rows.count == records.count + 1, "\(records): \(rows.count) rows of CSV")
    for (row, record) in zip(rows.dropFirst(), records) {
      expect(row.count == rows[0].count, "\(record) has \(row.count) fields of CSV")
      for field in record.fields {
        let column = rows[0].firstIndex { $0.elementsEqual(field.name.utf8) }
        let found = column.map { row[$0] }
        expect(found?.elementsEqual(field.value.bare.utf8) ?? false, "\(field) in CSV is \(found ?? [])")
      }
    }
  }
}
