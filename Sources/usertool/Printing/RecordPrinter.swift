import UserStore

/// Prints records in any format; a table only after the last record.
struct RecordPrinter {
  private let format: OutputFormat
  private let output: Output
  private let style: Style
  /// nil if the columns depend on the records, which are then collected first.
  private let columns: [String]?
  private let fit: RecordTable.Fit
  private let isTerminal = System.isTerminal(1)
  private var collected: [Record] = []
  private var count = 0

  init(
    _ format: OutputFormat, columns: [String]?, to output: Output, _ style: Style, fit: RecordTable.Fit = .none
  ) {
    self.fit = fit
    self.format = format
    self.output = output
    self.style = style
    self.columns = columns
  }

  /// Adds a record, and the record that the plain format prints instead, if any.
  mutating func print(_ record: Record, plain: Record? = nil) {
    defer { count += 1 }
    switch format {
    case .table: collected.append(record)
    case .plain:
      output.writeLine(plain?.plain(isTerminal: isTerminal) ?? record.plain(columns, isTerminal: isTerminal))
    case .jsonl: output.write(record.json.bytes + [0x0A])
    case .json: output.write(Array((count == 0 ? "[\n" : ",\n").utf8) + record.json.bytes)
    case .csv:
      guard let columns else { return collected.append(record) }
      if count == 0 { output.writeLine(CSV.line(columns)) }
      output.writeLine(record.csv(columns))
    }
  }

  /// Ends the output, after the last record.
  mutating func end() {
    switch format {
    case .table: printTable()
    case .json: output.writeLine(count == 0 ? "[]" : "\n]")
    case .csv where columns == nil || count == 0:
      let columns = allColumns
      output.writeLine(CSV.line(columns))
      for record in collected { output.writeLine(record.csv(columns)) }
    default: break
    }
    output.flush()
  }

  private var allColumns: [String] { columns ?? RecordTable.columns(of: collected) }

  private func printTable() {
    guard !collected.isEmpty else { return }
    for line in RecordTable(collected, columns: allColumns, style).lines(fit) { output.writeLine(line) }
  }
}
