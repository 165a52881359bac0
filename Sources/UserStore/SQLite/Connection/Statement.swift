import CUserStoreSQLite
import Synchronization

/// SQL that each connection prepares once: a static constant next to the code that runs it.
package struct SQL: Sendable {
  /// What the SQL does, for error messages: “cannot PURPOSE: …”.
  let purpose: String
  let text: String
  /// The position in every connection's `StatementCache`; -1 for SQL that runs once.
  let index: Int

  private static let count = Atomic(0)
}

extension SQL {
  package init(_ purpose: String, _ text: String) {
    self.init(purpose: purpose, text: text, index: Self.count.add(1, ordering: .relaxed).oldValue)
  }

  init(once purpose: String, _ text: String) { self.init(purpose: purpose, text: text, index: -1) }
}

/// A prepared statement: the only owner of SQLite's handle, which it finalizes when it is destroyed, unless it is borrowed.
@safe struct Statement: ~Copyable {
  private let handle: OpaquePointer
  private let connection: OpaquePointer
  private let purpose: String
  private let isBorrowed: Bool

  /// Borrows a statement of another library, which keeps it.
  init(borrowing handle: OpaquePointer, on connection: OpaquePointer, purpose: String) {
    unsafe self.handle = handle
    unsafe self.connection = connection
    self.purpose = purpose
    isBorrowed = true
  }

  init(_ sql: SQL, on connection: OpaquePointer) throws(StoreError) {
    var handle: OpaquePointer?
    let flags = sql.index >= 0 ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    let code = unsafe sqlite3_prepare_v3(connection, sql.text, -1, flags, &handle, nil)
    guard code == SQLITE_OK, let handle = unsafe handle else {
      throw StoreError(SQLiteError(code == SQLITE_OK ? SQLITE_MISUSE : code, on: connection), sql.purpose)
    }
    unsafe self.handle = handle
    unsafe self.connection = connection
    purpose = sql.purpose
    isBorrowed = false
  }

  deinit { if !isBorrowed { unsafe sqlite3_finalize(handle) } }

  /// Binds a copy of a value to a parameter, counted from 1.
  func bind(_ value: StoredValue, at index: Int32) throws(StoreError) {
    switch value {
    case .null: try check(unsafe sqlite3_bind_null(handle, index))
    case .integer(let integer): try check(unsafe sqlite3_bind_int64(handle, index, integer))
    case .real(let real): try check(unsafe sqlite3_bind_double(handle, index, real))
    case .text(var text):
      // Bound with its length: a NUL does not end the text.
      try check(text.withUTF8 { unsafe userstore_bind_text(handle, index, $0.baseAddress, UInt64($0.count)) })
    case .blob(let bytes): try check(unsafe userstore_bind_blob(handle, index, bytes, UInt64(bytes.count)))
    case .invalidText(let bytes): try check(unsafe userstore_bind_text(handle, index, bytes, UInt64(bytes.count)))
    }
  }

  /// Binds the columns of another statement's current row to the first parameters, exactly as they are stored.
  func bind(_ row: borrowing Statement, columns: Int32) throws(StoreError) {
    for column in 0..<columns {
      try check(unsafe sqlite3_bind_value(handle, column + 1, sqlite3_column_value(row.handle, column)))
    }
  }

  /// Moves to the next row, and returns whether there is one.
  func step() throws(StoreError) -> Bool {
    let code = unsafe sqlite3_step(handle)
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw failure(code)
    }
  }

  /// Returns the value in a column of the current row, counted from 0.
  borrowing func value(_ column: Int32) -> StoredValue {
    switch unsafe sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: .integer(integer(column))
    case SQLITE_FLOAT: .real(unsafe sqlite3_column_double(handle, column))
    case SQLITE_TEXT: textValue(column)
    case SQLITE_BLOB: .blob(bytes(column))
    default: .null
    }
  }

  borrowing func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

  borrowing func integerOrNil(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

  borrowing func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

  /// Returns a column as text for display, with U+FFFD for invalid UTF-8.
  borrowing func text(_ column: Int32) -> String {
    switch value(column) {
    case .text(let text): text
    case .invalidText(let bytes), .blob(let bytes): String(decoding: bytes, as: UTF8.self)
    case .integer(let integer): String(integer)
    case .real(let real): String(real)
    case .null: ""
    }
  }

  borrowing func textOrNil(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

  /// Resets the statement for its next use and clears its parameters.
  ///
  /// Throws if a column could not be read since the last step because memory ran out: the column looked empty then. The
  /// next step would throw too.
  func reset() throws(StoreError) {
    let code = unsafe sqlite3_reset(handle)
    unsafe sqlite3_clear_bindings(handle)
    try check(code)
  }

  private borrowing func textValue(_ column: Int32) -> StoredValue {
    // nil means that memory ran out: `reset` throws.
    // The order matters: _text may convert the value, and _bytes is the length of the result (sqlite.org/c3ref/column_blob.html).
    guard let start = unsafe sqlite3_column_text(handle, column) else { return .text("") }
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    let bytes = unsafe UnsafeBufferPointer(start: start, count: count)
    // Not `String(validating:as:)`, which takes four times as long: a repaired text no longer has the same bytes.
    let text = unsafe String(decoding: bytes, as: UTF8.self)
    if unsafe text.hasBytes(bytes) { return .text(text) }
    return unsafe .invalidText(Array(bytes))
  }

  private borrowing func bytes(_ column: Int32) -> [UInt8] {
    guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  @inline(__always) private func check(_ code: Int32) throws(StoreError) {
    guard code == SQLITE_OK else { throw failure(code) }
  }

  /// Not inlined: with it, a write of one row takes 1 % more instructions.
  @inline(never) private func failure(_ code: Int32) -> StoreError {
    unsafe StoreError(SQLiteError(code, on: connection), purpose)
  }
}

/// The prepared statements of a connection, by the index of their queries; not `Sendable`: it belongs to its connection.
@safe final class StatementCache {
  /// Prepares a statement that another library keeps, with what holds it; nil if it cannot.
  @unsafe typealias Source = (_ sql: String) -> (handle: OpaquePointer, owner: AnyObject)?

  private var statements: [PreparedStatement?] = []
  private let source: Source?

  init() { unsafe source = nil }

  init(from source: Source?) { unsafe self.source = source }

  /// Returns the statement of some SQL, and prepares it at its first use.
  func prepared(_ sql: SQL, on handle: OpaquePointer) throws(StoreError) -> PreparedStatement {
    // Once: Swift checks each access to a variable of a class.
    let known = statements
    if sql.index < known.count, let statement = known[sql.index] { return statement }
    while statements.count <= sql.index { statements.append(nil) }
    let statement =
      if let statement = unsafe borrowed(sql, on: handle) { statement } else {
        PreparedStatement(unsafe try Statement(sql, on: handle))
      }
    statements[sql.index] = statement
    return statement
  }

  private func borrowed(_ sql: SQL, on handle: OpaquePointer) -> PreparedStatement? {
    guard let source = unsafe source, let found = unsafe source(sql.text) else { return nil }
    return unsafe PreparedStatement(
      Statement(borrowing: found.handle, on: handle, purpose: sql.purpose), of: found.owner)
  }

  // MARK: Queries

  /// The last queries, the latest last: preparing a query takes longer than finding a user by an index.
  private var queries: [(text: String, statement: PreparedStatement)] = []
  private static let queryLimit = 16

  /// Returns the statement of a query, and removes it from the cache until `keep` returns it: a query may run inside another.
  func take(_ sql: SQL, on handle: OpaquePointer) throws(StoreError) -> PreparedStatement {
    // Compared by bytes: two attributes may have names that are equal as strings.
    if let index = queries.lastIndex(where: { $0.text.hasSameBytes(as: sql.text) }) {
      return queries.remove(at: index).statement
    }
    return PreparedStatement(unsafe try Statement(sql, on: handle))
  }

  func keep(_ statement: PreparedStatement, of sql: SQL) {
    if queries.count == Self.queryLimit { queries.removeFirst() }
    queries.append((sql.text, statement))
  }

  /// Finalizes all statements, right before the connection closes.
  func finish() { (statements, queries) = ([], []) }
}

/// A box, because an array cannot hold noncopyable values.
///
/// The box holds a constant, and connections and statements have no mutating methods: Swift checks each access to a variable
/// of a class for exclusivity, which was 5 % of the instructions of a small write.
final class PreparedStatement {
  let statement: Statement
  private let owner: AnyObject?

  init(_ statement: consuming Statement, of owner: AnyObject? = nil) {
    self.statement = statement
    self.owner = owner
  }
}
