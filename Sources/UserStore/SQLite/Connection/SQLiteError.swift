import CUserStoreSQLite

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
  ///
  /// Where the system could not read a part of a file (EIO), SQLite says that the database is damaged. It may be read well
  /// the next time, and nobody is to throw his database away for it: that is an error of reading here.
  @safe init(_ code: Int32, on handle: OpaquePointer?) {
    guard let handle = unsafe handle else {
      self.init(code: ResultCode(rawValue: code), message: unsafe String(cString: sqlite3_errstr(code)))
      return
    }
    let message = unsafe String(cString: sqlite3_errmsg(handle))
    if ResultCode(rawValue: code).primary == .corrupt, let error = Self.reading(on: handle) {
      self = error
    } else {
      let number = unsafe sqlite3_system_errno(handle)
      self.init(code: ResultCode(rawValue: code), message: message, systemNumber: number)
    }
  }

  var description: String { "\(message) (SQLite \(code.rawValue))" }

  /// What kept the system from reading or writing the database or its -wal file the last time, if SQLite remembers it.
  @safe static func reading(on handle: OpaquePointer) -> SQLiteError? {
    var number: Int32 = 0
    unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_LAST_ERRNO, &number)
    var log: UnsafeMutablePointer<sqlite3_file>?
    if number == 0 { unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) }
    if let log = unsafe log, let methods = unsafe log.pointee.pMethods {
      _ = unsafe methods.pointee.xFileControl?(log, SQLITE_FCNTL_LAST_ERRNO, &number)
    }
    return number == 0 ? nil : SQLiteError(code: .ioError, message: "disk I/O error", systemNumber: number)
  }
}
