import UserStore

/// Records as the lines of a table, cut to the width of a terminal if necessary.
struct RecordTable {
  /// How a table that is wider than the terminal is printed.
  enum Fit {
    case none
    /// Columns are cut, and the last attributes are folded into one column.
    case cut(to: Int)
    /// One line is printed per field.
    case turned(at: Int)
  }

  private let records: [Record]
  private let columns: [String]
  private let style: Style
  private let isMarked: (Record, String) -> Bool

  /// Creates a table; `isMarked` tells which fields have just changed.
  init(
    _ records: [Record], columns: [String], _ style: Style,
    isMarked: @escaping (Record, String) -> Bool = { _, _ in false }
  ) {
    self.records = records
    self.columns = columns
    self.style = style
    self.isMarked = isMarked
  }

  /// The columns for users: the attributes that every user has, then all others in the order of their names' bytes.
  static func columns(of records: [Record]) -> [String] {
    let names: [String] = ["id", "name", "hair_color"]
    var known = Set(names.map { AttributeName($0) })
    var further: [String] = []
    for record in records {
      for field in record.fields where known.insert(AttributeName(field.name)).inserted { further.append(field.name) }
    }
    return names + further.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  func lines(_ fit: Fit) -> [String] {
    let whole = table(of: columns[...])
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
    for record in records {
      let cells = columns.map { cell(of: record, $0) }
      table.add(cells + (folded.isEmpty ? [] : [foldedCell(of: record, folded)]))
    }
    return table
  }

  private func cell(of record: Record, _ column: String) -> Table.Cell {
    let isMarked = isMarked(record, column)
    guard let value = record[column] else { return Table.Cell("", isMarked: isMarked) }
    let swatch = style.swatch(value, of: AttributeName(column))
    return Table.Cell(value.shown, tail: swatch, isNumber: value.isNumber, isMarked: isMarked)
  }

  /// The folded attributes that the record has, as in the plain format.
  private func foldedCell(of record: Record, _ columns: ArraySlice<String>) -> Table.Cell {
    let words = columns.compactMap { name in record[name].map { name.shown + "=" + $0.shown } }
    return Table.Cell(words.joined(separator: "  "), isMarked: columns.contains { isMarked(record, $0) })
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
