import CUserStoreSQLite

/// A prepared statement: the one owner of SQLite's handle, finalized with it.
@safe struct Statement: ~Copyable {
  private let handle: OpaquePointer
  private let connection: OpaquePointer
  private let purpose: String

  /// - Throws: `StoreError` when the SQL does not compile.
  init(_ query: Query, on connection: OpaquePointer, isKept: Bool) throws(StoreError) {
    var sql = query.sql
    var handle: OpaquePointer?
    let flags = isKept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    let code = sql.withUTF8 { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
        unsafe sqlite3_prepare_v3(connection, characters.baseAddress, Int32(characters.count), flags, &handle, nil)
      }
    }
    guard code == SQLITE_OK, let handle = unsafe handle else {
      throw StoreError(SQLiteError(code == SQLITE_OK ? SQLITE_MISUSE : code, on: connection), query.purpose)
    }
    unsafe self.handle = handle
    unsafe self.connection = connection
    purpose = query.purpose
  }

  deinit {
    unsafe sqlite3_finalize(handle)
  }

  /// Sets the parameter `index`, counted from 1.
  ///
  /// SQLite keeps a copy.
  func bind(_ value: StoredValue, at index: Int32) throws(StoreError) {
    switch value {
    case .null: try check(unsafe sqlite3_bind_null(handle, index))
    case .integer(let integer): try bind(integer, at: index)
    case .real(let real): try check(unsafe sqlite3_bind_double(handle, index, real))
    case .text(let text): try bind(text, at: index)
    case .blob(let bytes):
      try check(
        unsafe bytes.withUnsafeBytes { unsafe userstore_bind_blob(handle, index, $0.baseAddress, UInt64($0.count)) })
    case .invalidText(let bytes):
      try check(
        unsafe bytes.withUnsafeBytes { raw in
          let characters = unsafe raw.assumingMemoryBound(to: CChar.self)
          return unsafe userstore_bind_text(handle, index, characters.baseAddress, UInt64(characters.count))
        })
    }
  }

  func bind(_ integer: Int64, at index: Int32) throws(StoreError) {
    try check(unsafe sqlite3_bind_int64(handle, index, integer))
  }

  /// Binds the whole text: with its length, so that a NUL in it ends nothing.
  func bind(_ text: String, at index: Int32) throws(StoreError) {
    var text = text
    try check(
      text.withUTF8 { bytes in
        unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
          unsafe userstore_bind_text(handle, index, characters.baseAddress, UInt64(characters.count))
        }
      })
  }

  /// Sets the first parameters to the present row's columns of another statement, as they are stored.
  func bind(_ row: borrowing Statement, columns: Int32) throws(StoreError) {
    for column in 0..<columns {
      try check(unsafe sqlite3_bind_value(handle, column + 1, sqlite3_column_value(row.handle, column)))
    }
  }

  /// Goes to the next row.
  ///
  /// - Returns: whether there is one.
  func step() throws(StoreError) -> Bool {
    let code = unsafe sqlite3_step(handle)
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw unsafe StoreError(SQLiteError(code, on: connection), purpose)
    }
  }

  /// The value in a column of the present row, columns counted from 0.
  borrowing func value(_ column: Int32) -> StoredValue {
    switch unsafe sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: .integer(integer(column))
    case SQLITE_FLOAT: .real(unsafe sqlite3_column_double(handle, column))
    case SQLITE_TEXT: textValue(column)
    case SQLITE_BLOB: .blob(bytes(column))
    default: .null
    }
  }

  borrowing func integer(_ column: Int32) -> Int64 {
    unsafe sqlite3_column_int64(handle, column)
  }

  borrowing func isNull(_ column: Int32) -> Bool {
    unsafe sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  /// Text for display: what is no UTF-8 is shown as U+FFFD.
  borrowing func text(_ column: Int32) -> String {
    switch value(column) {
    case .text(let text): text
    case .invalidText(let bytes), .blob(let bytes): String(decoding: bytes, as: UTF8.self)
    case .integer(let integer): String(integer)
    case .real(let real): String(real)
    case .null: ""
    }
  }

  /// Makes it ready for the next use, and forgets what was bound.
  ///
  /// - Throws: `StoreError` when a column could not be read since the last step, for want of memory: it looked empty then.
  ///   A further step tells of it too.
  func reset() throws(StoreError) {
    let code = unsafe sqlite3_reset(handle)
    unsafe sqlite3_clear_bindings(handle)
    try check(code)
  }

  private borrowing func textValue(_ column: Int32) -> StoredValue {
    // Nothing here is no memory: `reset` throws.
    // The order matters: _text may convert, and _bytes counts what it made (sqlite.org/c3ref/column_blob.html).
    guard let start = unsafe sqlite3_column_text(handle, column) else { return .text("") }
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    let bytes = unsafe UnsafeBufferPointer(start: start, count: count)
    // Not `String(validating:as:)`, which takes four times as long: what was repaired is not the same bytes any more.
    let text = unsafe String(decoding: bytes, as: UTF8.self)
    if unsafe text.hasBytes(bytes) { return .text(text) }
    return unsafe .invalidText(Array(bytes))
  }

  private borrowing func bytes(_ column: Int32) -> [UInt8] {
    guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  private func check(_ code: Int32) throws(StoreError) {
    guard code == SQLITE_OK else { throw unsafe StoreError(SQLiteError(code, on: connection), purpose) }
  }
}
