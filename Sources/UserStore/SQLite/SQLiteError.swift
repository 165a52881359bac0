import CSQLite

/// A call of SQLite that failed: its code, SQLite's words for it, and the system's error number.
struct SQLiteError: Error, CustomStringConvertible {
  let code: ResultCode
  let message: String
  /// `errno` of the file operation behind it; 0 when there was none.
  let systemNumber: Int32

  init(code: ResultCode, message: String, systemNumber: Int32 = 0) {
    self.code = code
    self.message = message
    self.systemNumber = systemNumber
  }

  /// What the connection says of its last call.
  @safe init(_ code: Int32, on handle: OpaquePointer?) {
    self.code = ResultCode(rawValue: code)
    if let handle = unsafe handle {
      message = unsafe String(cString: sqlite3_errmsg(handle))
      systemNumber = unsafe sqlite3_system_errno(handle)
    } else {
      message = unsafe String(cString: sqlite3_errstr(code))
      systemNumber = 0
    }
  }

  var description: String { "\(message) (SQLite \(code.rawValue))" }
}
