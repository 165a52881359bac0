import ArgumentParser
import UserStore
import UserStoreText

/// Prints records in any format; a table only after the last record.
struct RecordPrinter {
  private let format: OutputFormat
  private let output: Output
  private let style: Style
  /// nil for users: their columns depend on the records, which are collected first.
  private let columns: [String]?
  private let first: [AttributeName]
  private let fit: RecordTable.Fit
  private let isTerminal = System.isTerminal(1)
  private var collected: [Record] = []
  private var count = 0

  /// Creates a printer; `first` are the attributes that come first in a table that must be cut.
  init(
    _ format: OutputFormat, columns: [String]?, to output: Output, _ style: Style, fit: RecordTable.Fit = .none,
    first: [AttributeName] = []
  ) {
    self.fit = fit
    self.format = format
    self.output = output
    self.style = style
    self.columns = columns
    self.first = first
  }

  /// Creates a printer of numbers of users, which have no title on a terminal and in plain text.
  ///
  /// In JSON, several numbers are an array, and one is an object.
  init(ofCountsIn format: OutputFormat, areMany: Bool, to output: Output, _ style: Style) {
    let isObject = format == .json && !areMany
    self.init(isObject ? .jsonl : format == .table ? .plain : format, columns: ["count"], to: output, style)
  }

  mutating func print(count: Int) {
    print(Record(fields: [("count", .integer(Int64(count)))]))
    output.flush()
  }

  /// Adds a record; `plain` replaces it in the plain format, and `json` in those of JSON.
  mutating func print(_ record: Record, plain: Record? = nil, json: JSON? = nil) {
    defer { count += 1 }
    switch format {
    case .table: collected.append(record)
    case .plain:
      output.writeLine(plain?.plain(isTerminal: isTerminal) ?? record.plain(columns, isTerminal: isTerminal))
    case .jsonl: output.write((json ?? record.json).bytes + [0x0A])
    case .json: output.writeElement(json ?? record.json)
    case .csv:
      guard let columns else { return collected.append(record) }
      if count == 0 { printCSVHeader(columns) }
      output.writeLine(record.csv(columns, isTerminal: isTerminal))
    }
  }

  mutating func end() {
    switch format {
    case .table: printTable()
    case .json: output.endArray()
    case .csv where columns == nil || count == 0:
      let columns = columns ?? RecordTable.columns(of: collected)
      printCSVHeader(columns)
      for record in collected { output.writeLine(record.csv(columns, isTerminal: isTerminal)) }
    default: break
    }
    output.flush()
  }

  private func printCSVHeader(_ columns: [String]) {
    output.writeLine(CSV.line(isTerminal ? columns.map(\.shown) : columns))
  }

  private func printTable() {
    guard !collected.isEmpty else { return }
    let table = RecordTable(collected, columns: columns, first: first, style)
    for line in table.lines(fit) { output.writeLine(line) }
  }
}

extension CommonOptions {
  /// Prints rows below the names of their columns; `isAfterChange` says whether they show a change that was made.
  func print(_ columns: [String], _ rows: [[StoredValue]], isAfterChange: Bool = false) {
    var printer = RecordPrinter(recordFormat, columns: columns, to: Output(isAfterChange: isAfterChange), style)
    for row in rows { printer.print(Record(fields: zip(columns, row).map { (name: $0, value: $1) })) }
    printer.end()
  }
}

enum OutputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
  case table
  /// One line per record, with tabs between the fields.
  case plain
  /// One JSON text.
  case json
  /// One JSON object per line.
  case jsonl
  /// RFC 4180, with a header line.
  case csv
}
