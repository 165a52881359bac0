import UserStore

/// Prints records in any format; a table only after the last record.
struct RecordPrinter {
  private let format: OutputFormat
  private let output: Output
  private let style: Style
  /// nil if the columns depend on the records, which are then collected first.
  private let columns: [String]?
  private let fit: Fit
  private let isTerminal = System.isTerminal(1)
  private var collected: [Record] = []
  private var count = 0

  /// How a table that is wider than the terminal is printed.
  enum Fit {
    case none
    /// Columns are cut, and the last attributes are folded into one column.
    case cut(to: Int)
    /// One line is printed per field.
    case turned(at: Int)
  }

  init(
    _ format: OutputFormat, columns: [String]?, to output: Output, _ style: Style, fit: Fit = .none
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

  private var allColumns: [String] {
    if let columns { return columns }
    var names: [String] = ["id", "name", "hair_color"]
    var known = Set(names.map { AttributeName($0) })
    var further: [String] = []
    for record in collected {
      for field in record.fields where known.insert(AttributeName(field.name)).inserted { further.append(field.name) }
    }
    names += further.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    return names
  }

  private func printTable() {
    guard !collected.isEmpty else { return }
    let columns = allColumns
    let whole = table(of: columns[...])
    for line in lines(of: whole, columns) { output.writeLine(line) }
  }

  private func lines(of whole: Table, _ columns: [String]) -> [String] {
    switch fit {
    case .turned(let width) where whole.columns > width: return whole.turned(style)
    case .cut(let width) where whole.columns > width:
      let count = whole.fittingCount(in: width, atLeast: 1 + AttributeName.builtIn.count)
      let table = count < columns.count ? table(of: columns[..<count], folding: columns[count...]) : whole
      return table.lines(style, within: width)
    default: return whole.lines(style)
    }
  }

  private func table(of columns: ArraySlice<String>, folding folded: ArraySlice<String> = []) -> Table {
    let titles = columns.map { $0.shown.uppercased().replacing("_", with: " ") }
    var table = Table(header: titles + (folded.isEmpty ? [] : ["MORE"]))
    for record in collected {
      let cells = columns.map { cell(of: record, $0) }
      table.add(cells + (folded.isEmpty ? [] : [foldedCell(of: record, folded)]))
    }
    return table
  }

  private func cell(of record: Record, _ column: String) -> Table.Cell {
    guard let value = record[column] else { return Table.Cell("") }
    return Table.Cell(value.shown, tail: style.swatch(value, of: AttributeName(column)), isNumber: value.isNumber)
  }

  /// The folded attributes that the record has, as in the plain format.
  private func foldedCell(of record: Record, _ columns: ArraySlice<String>) -> Table.Cell {
    let words = columns.compactMap { name in record[name].map { name.shown + "=" + $0.shown } }
    return Table.Cell(words.joined(separator: "  "))
  }
}

extension StoredValue {
  fileprivate var isNumber: Bool {
    switch self {
    case .integer, .real: true
    default: false
    }
  }
}
