import UserStore

// A value has five columns, one of which is not null: integer, real, text, bytes, and raw for text that PostgreSQL cannot store
// as text.

extension StoredValue {
  static let types: [PostgresType] = [.int8, .float8, .text, .bytea, .bytea]

  var columns: [PostgresValue] {
    var columns: [PostgresValue] = [.null, .null, .null, .null, .null]
    switch self {
    case .null: break
    case .integer(let integer): columns[0] = .int8(integer)
    case .real(let real): columns[1] = .float8(real)
    case .text(let text) where text.utf8.contains(0): columns[4] = .bytea(Array(text.utf8))
    case .text(let text): columns[2] = .text(text)
    case .blob(let bytes): columns[3] = .bytea(bytes)
    case .invalidText(let bytes): columns[4] = .bytea(bytes)
    }
    return columns
  }

  /// The value for a column of type `text`; throws `badValue` for text that PostgreSQL cannot store.
  func textColumn(of attribute: AttributeName) throws(StoreError) -> PostgresValue {
    switch self {
    case .text(let text) where !text.utf8.contains(0): return .text(text)
    case .text, .invalidText:
      let what = isText ? "a NUL in it" : "text that is not valid UTF-8"
      throw StoreError(.badValue, "PostgreSQL cannot store the \(attribute): it has \(what)")
    default: return .null
    }
  }

  private var isText: Bool {
    if case .text = self { true } else { false }
  }
}

extension AttributeName {
  /// The name for a column; throws `badValue` for a name that PostgreSQL cannot store.
  var writtenName: PostgresValue {
    get throws(StoreError) {
      guard !text.utf8.contains(0) else {
        throw StoreError(.badValue, "PostgreSQL cannot store an attribute whose name has a NUL in it")
      }
      return .text(text)
    }
  }
}

extension PostgresRow {
  /// The value in the five columns that start with this one.
  func value(_ first: Int) -> StoredValue {
    if let text = textOrNil(first + 2) { return .text(text) }
    if let integer = int8OrNil(first) { return .integer(integer) }
    if let real = float8OrNil(first + 1) { return .real(real) }
    if let bytes = byteaOrNil(first + 3) { return .blob(bytes) }
    guard let raw = byteaOrNil(first + 4) else { return .null }
    return String(validating: raw, as: UTF8.self).map { .text($0) } ?? .invalidText(raw)
  }

  func textValue(_ column: Int) -> StoredValue {
    textOrNil(column).map { .text($0) } ?? .null
  }
}

extension UserStore.Cursor {
  /// Creates a cursor from the columns epoch, revision, and nonce of a row.
  init(_ row: PostgresRow, from column: Int = 0) {
    self.init(
      epoch: row.int8(column), revision: row.int8(column + 1), nonce: row.int8(column + 2))
  }
}
