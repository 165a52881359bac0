import CUserStoreSQLite

/// A connection to a database without the library, as any other program has one.
package protocol PlainSQL {
  /// Runs several statements.
  func script(_ sql: String) throws

  /// Runs one statement to completion and returns its rows.
  @discardableResult func run(_ sql: String, _ values: [PlainValue]) throws -> [[PlainValue]]
}

/// A connection of SQLite without the library.
@safe package final class PlainConnection: PlainSQL {
  private let handle: OpaquePointer

  /// Opens a file, and creates it unless `isReadOnly`.
  package init(
    _ path: String = ":memory:", busyTimeout: Int32 = 0, isReadOnly: Bool = false
  ) throws(PlainError) {
    var handle: OpaquePointer?
    let flags = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
    let code = unsafe sqlite3_open_v2(path, &handle, flags, nil)
    guard code == SQLITE_OK, let handle = unsafe handle else {
      unsafe sqlite3_close(handle)
      throw PlainError(code: code, message: "cannot open \(path)")
    }
    unsafe self.handle = handle
    unsafe sqlite3_extended_result_codes(handle, 1)
    unsafe sqlite3_busy_timeout(handle, busyTimeout)
  }

  deinit {
    unsafe sqlite3_close_v2(handle)
  }

  /// Runs several statements.
  package func script(_ sql: String) throws(PlainError) {
    try check(unsafe sqlite3_exec(handle, sql, nil, nil, nil))
  }

  /// Runs one statement to completion and returns its rows.
  @discardableResult
  package func run(_ sql: String, _ values: [PlainValue] = []) throws(PlainError) -> [[PlainValue]] {
    var statement: OpaquePointer?
    defer { unsafe sqlite3_finalize(statement) }
    try check(unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil))
    for (index, value) in values.enumerated() { try check(unsafe bind(value, at: Int32(index + 1), of: statement)) }
    return try unsafe rows(of: statement)
  }

  /// The first column of the first row.
  package func value(_ sql: String, _ values: [PlainValue] = []) throws(PlainError) -> PlainValue? {
    try run(sql, values).first?.first
  }

  /// Calls `body` with SQLite's handle.
  package func withHandle<Result>(_ body: (OpaquePointer) throws -> Result) rethrows -> Result {
    try unsafe body(handle)
  }

  private func rows(of statement: OpaquePointer?) throws(PlainError) -> [[PlainValue]] {
    var rows: [[PlainValue]] = []
    while true {
      let code = unsafe sqlite3_step(statement)
      guard code == SQLITE_ROW else {
        try check(code == SQLITE_DONE ? SQLITE_OK : code)
        return rows
      }
      let columns = unsafe 0..<sqlite3_column_count(statement)
      rows.append(columns.map { unsafe value($0, of: statement) })
    }
  }

  private func value(_ column: Int32, of statement: OpaquePointer?) -> PlainValue {
    switch unsafe sqlite3_column_type(statement, column) {
    case SQLITE_INTEGER: .integer(unsafe sqlite3_column_int64(statement, column))
    case SQLITE_FLOAT: .real(unsafe sqlite3_column_double(statement, column))
    case SQLITE_TEXT: .text(unsafe bytes(sqlite3_column_text(statement, column), column, of: statement))
    case SQLITE_BLOB: .blob(unsafe bytes(sqlite3_column_blob(statement, column), column, of: statement))
    default: .null
    }
  }

  private func bytes(_ start: UnsafeRawPointer?, _ column: Int32, of statement: OpaquePointer?) -> [UInt8] {
    unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
  }

  private func bind(_ value: PlainValue, at index: Int32, of statement: OpaquePointer?) -> Int32 {
    switch value {
    case .null: unsafe sqlite3_bind_null(statement, index)
    case .integer(let integer): unsafe sqlite3_bind_int64(statement, index, integer)
    case .real(let real): unsafe sqlite3_bind_double(statement, index, real)
    case .text(let bytes):
      unsafe bytes.withUnsafeBytes { raw in
        let characters = unsafe raw.assumingMemoryBound(to: CChar.self).baseAddress
        return unsafe userstore_bind_text(statement, index, characters, UInt64(raw.count))
      }
    case .blob(let bytes):
      unsafe bytes.withUnsafeBytes { unsafe userstore_bind_blob(statement, index, $0.baseAddress, UInt64($0.count)) }
    }
  }

  private func check(_ code: Int32) throws(PlainError) {
    guard code != SQLITE_OK else { return }
    throw PlainError(code: code, message: unsafe String(cString: sqlite3_errmsg(handle)))
  }
}

/// An error of a call to SQLite.
package struct PlainError: Error, CustomStringConvertible {
  package let code: Int32
  package let message: String

  package var description: String { "\(message) (SQLite \(code))" }
}
