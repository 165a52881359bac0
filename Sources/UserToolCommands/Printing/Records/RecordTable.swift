import UserStore
import UserStoreText

/// Records as the lines of a table, cut to the width of a terminal if necessary.
struct RecordTable {
  enum Fit {
    case none
    /// Columns are cut, and the last attributes are folded into one column.
    case cut(to: Int)
    /// One line is printed per field.
    case turned(at: Int)
  }

  private let records: [Record]
  private let columns: [String]
  /// The columns in the order in which a table that must be cut keeps them.
  private let important: [String]
  /// The columns that are attributes, whose titles are their names unchanged.
  private let attributes: Set<AttributeName>
  private let style: Style
  private let isMarked: (Record, String) -> Bool

  /// Creates a table; without columns, a table of users in which `first` are the attributes that come first if it must be cut.
  init(
    _ records: [Record], columns: [String]?, first: [AttributeName] = [], _ style: Style,
    isMarked: @escaping (Record, String) -> Bool = { _, _ in false }
  ) {
    self.records = records
    self.columns = columns ?? Self.columns(of: records)
    important = Self.names.prefix(2) + first.map(\.text) + self.columns
    attributes = columns == nil ? Set(self.columns.map { AttributeName($0) }).subtracting(Self.own) : []
    self.style = style
    self.isMarked = isMarked
  }

  /// The columns that every table of users has.
  private static let names = ["id", "name", "hair_color"]
  private static let own = Set(names.map { AttributeName($0) })

  /// The columns for users: those of every user, then all others in the order of their names' bytes.
  static func columns(of records: [Record]) -> [String] {
    var known = own
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
      let columns = columnsToCut
      let whole = table(of: columns[...])
      let count = whole.fittingCount(in: width, atLeast: Self.names.count)
      let table = count < columns.count ? table(of: columns[..<count], folding: columns[count...]) : whole
      return table.lines(style, within: width)
    default: return whole.lines(style)
    }
  }

  /// The columns that are not empty, the most important ones first.
  private var columnsToCut: [String] {
    var rest = Set(columns.map { AttributeName($0) })
    return important.filter { column in
      rest.remove(AttributeName(column)) != nil && records.contains { !($0[column] ?? .null).isNull }
    }
  }

  private func table(of columns: ArraySlice<String>, folding folded: ArraySlice<String> = []) -> Table {
    let titles = columns.map { title(of: $0) }
    var table = Table(header: titles + (folded.isEmpty ? [] : ["MORE"]))
    for record in records {
      let cells = columns.map { cell(of: record, $0) }
      table.add(cells + (folded.isEmpty ? [] : [foldedCell(of: record, folded)]))
    }
    return table
  }

  /// The title of a column; names of attributes are case-sensitive.
  private func title(of column: String) -> String {
    attributes.contains(AttributeName(column)) ? column.shown : column.uppercased().replacing("_", with: " ")
  }

  private func cell(of record: Record, _ column: String) -> Table.Cell {
    let isMarked = isMarked(record, column)
    guard let value = record[column] else { return Table.Cell("", isMarked: isMarked) }
    let swatch = style.swatch(value, of: AttributeName(column))
    return Table.Cell(value.shown, tail: swatch, isNumber: value.isNumber, isMarked: isMarked)
  }

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
