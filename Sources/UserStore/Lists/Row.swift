/// What a list keeps of a user; never changed, so that versions of a list share it.
final class Row: Sendable {
  let id: User.ID
  let values: [StoredValue]
  /// The attributes that are no columns; only if the list shows all attributes.
  let others: [AttributeName: StoredValue]
  let byteCount: Int

  init(_ id: User.ID, _ values: [StoredValue], others: [AttributeName: StoredValue] = [:]) {
    self.id = id
    self.values = values
    self.others = others
    byteCount = others.values.reduce(values.reduce(StoredValue.overhead) { $0 + $1.memory }) { $0 + $1.memory }
  }

  func isEqual(to other: Row) -> Bool { id == other.id && values == other.values && others == other.others }
}

/// The columns of the rows of a list, and their order.
struct RowLayout: Sendable {
  /// The attributes that are sorted by, then those that are shown, then those of the condition; each once.
  let columns: [AttributeName]
  /// The number of columns that are sorted by or shown.
  let shownCount: Int
  /// Whether rows have all attributes of the users, also those that are no columns.
  let showsAll: Bool
  let order: RowOrder
  private let keys: [SortKey]

  init(_ query: Query) {
    var columns: [AttributeName] = []
    func column(_ attribute: AttributeName) -> Int {
      if let index = columns.firstIndex(of: attribute) { return index }
      columns.append(attribute)
      return columns.count - 1
    }
    order = RowOrder(keys: query.sortedBy.map { (column($0.attribute), $0.isDescending, $0.missingLast) })
    for attribute in query.showing ?? [] { _ = column(attribute) }
    shownCount = columns.count
    for attribute in query.where.node.attributes { _ = column(attribute) }
    self.columns = columns
    showsAll = query.showing == nil
    keys = query.sortedBy
  }

  /// Whether rows of both have the same columns in the same order.
  func isSame(as other: RowLayout) -> Bool {
    columns == other.columns && keys == other.keys && shownCount == other.shownCount && showsAll == other.showsAll
  }

  func column(_ attribute: AttributeName) -> Int? { columns.firstIndex(of: attribute) }

  /// A row that has only a place in the order.
  func row(at position: Query.Position) -> Row {
    var values = [StoredValue](repeating: .null, count: columns.count)
    for (key, value) in zip(keys, position.values) {
      if let column = column(key.attribute) { values[column] = value }
    }
    return Row(position.id, values)
  }

  func position(of row: Row) -> Query.Position {
    Query.Position(values: keys.map { column($0.attribute).map { row.values[$0] } ?? .null }, id: row.id)
  }

  func row(_ user: User) -> Row {
    let values = columns.map { $0 == .id ? .integer(user.id.rawValue) : user[stored: $0] ?? .null }
    return row(user.id, values, all: showsAll ? user.storedValues : [:])
  }

  /// A row with the values of the columns, and those of `all` that are no columns, if it shows them.
  func row(_ id: User.ID, _ values: [StoredValue], all: [AttributeName: StoredValue]) -> Row {
    var others = showsAll ? all : [:]
    if !others.isEmpty { for column in columns { others[column] = nil } }
    return Row(id, values, others: others)
  }

  /// The user with the attributes that are shown or sorted by.
  func user(_ row: Row) -> User {
    let count = showsAll ? columns.count : shownCount
    var user = User(id: row.id, storedValues: row.others)
    for (column, value) in zip(columns.prefix(count), row.values) where !value.isNull && column != .id {
      user[stored: column] = value
    }
    return user
  }

  /// The attributes in which a row differs visibly from an older version of itself.
  func changes(from old: Row, to new: Row) -> [AttributeName] {
    if old === new { return [] }
    var changed: [AttributeName] = []
    for column in 0..<(showsAll ? columns.count : shownCount) where old.values[column] != new.values[column] {
      changed.append(columns[column])
    }
    if showsAll, old.others != new.others {
      changed += Set(old.others.keys).union(new.others.keys).filter { old.others[$0] != new.others[$0] }.sorted()
    }
    return changed
  }
}

/// The order of the rows of a list: by columns, then by the identifier.
struct RowOrder: Sendable {
  let keys: [(column: Int, isDescending: Bool, missingLast: Bool)]

  /// Less than 0 if the left row is before the right one; 0 only for the same place of the same user.
  func compare(_ left: Row, _ right: Row) -> Int {
    for key in keys {
      let (leftValue, rightValue) = (left.values[key.column], right.values[key.column])
      let order =
        if key.isDescending {
          rightValue.order(to: leftValue)
        } else if key.missingLast, leftValue.isNull != rightValue.isNull {
          leftValue.isNull ? 1 : -1
        } else {
          leftValue.order(to: rightValue)
        }
      if order != 0 { return order }
    }
    return left.id == right.id ? 0 : left.id < right.id ? -1 : 1
  }
}
