import CUserStoreSQLite

/// A failed call of SQLite: its result code, SQLite's message, and the system's error number.
struct SQLiteError: Error, CustomStringConvertible {
  let code: ResultCode
  let message: String
  /// `errno` of the file operation that failed; 0 if there was none.
  var systemNumber: Int32 = 0

  var description: String { "\(message) (SQLite \(code.rawValue))" }
}

extension SQLiteError {
  /// The message for a violated foreign key, whichever its code is: that of the key, or that of the trigger that SQLite makes
  /// for RESTRICT.
  static let violatedKey = "FOREIGN KEY constraint failed"

  /// Creates an error from what the connection reports about its last call.
  ///
  /// If the system could not read a part of a file (EIO), SQLite reports a damaged database. This becomes a read error: the next
  /// read may succeed, and the database must not be discarded because of it.
  @safe init(_ code: Int32, on handle: OpaquePointer?) {
    // The connection of another library may report only primary codes.
    let extended = unsafe handle.map { unsafe sqlite3_extended_errcode($0) } ?? code
    let code = ResultCode(rawValue: extended & 0xFF == code ? extended : code)
    guard let handle = unsafe handle else {
      self.init(code: code, message: unsafe String(cString: sqlite3_errstr(code.rawValue)))
      return
    }
    let message = unsafe String(cString: sqlite3_errmsg(handle))
    if code.primary == .corrupt, let error = Self.lastFileError(on: handle) {
      self = error
    } else {
      self.init(code: code, message: message, systemNumber: unsafe sqlite3_system_errno(handle))
    }
  }

  /// Returns the last error of the system in reading or writing the database or its -wal file, if SQLite recorded one.
  @safe static func lastFileError(on handle: OpaquePointer) -> SQLiteError? {
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

/// A result code of SQLite, primary or extended (sqlite.org/rescode.html).
///
/// Newer versions add codes: compare `primary`, so that an extended code that is not listed here still counts as its kind.
struct ResultCode: RawRepresentable, Hashable, Sendable {
  let rawValue: Int32

  var primary: ResultCode { ResultCode(rawValue: rawValue & 0xFF) }

  static let error = ResultCode(rawValue: SQLITE_ERROR)
  static let permission = ResultCode(rawValue: SQLITE_PERM)
  static let busy = ResultCode(rawValue: SQLITE_BUSY)
  static let locked = ResultCode(rawValue: SQLITE_LOCKED)
  static let outOfMemory = ResultCode(rawValue: SQLITE_NOMEM)
  static let readOnly = ResultCode(rawValue: SQLITE_READONLY)
  static let interrupted = ResultCode(rawValue: SQLITE_INTERRUPT)
  static let ioError = ResultCode(rawValue: SQLITE_IOERR)
  static let corrupt = ResultCode(rawValue: SQLITE_CORRUPT)
  static let full = ResultCode(rawValue: SQLITE_FULL)
  static let cannotOpen = ResultCode(rawValue: SQLITE_CANTOPEN)
  static let lockingProtocol = ResultCode(rawValue: SQLITE_PROTOCOL)
  static let tooBig = ResultCode(rawValue: SQLITE_TOOBIG)
  static let constraint = ResultCode(rawValue: SQLITE_CONSTRAINT)
  static let mismatch = ResultCode(rawValue: SQLITE_MISMATCH)
  static let authorization = ResultCode(rawValue: SQLITE_AUTH)
  static let range = ResultCode(rawValue: SQLITE_RANGE)
  static let notADatabase = ResultCode(rawValue: SQLITE_NOTADB)

  /// A transaction that has read an older state cannot write.
  static let busySnapshot = ResultCode(rawValue: SQLITE_BUSY | (2 << 8))

  // SQLite's header defines the extended codes as macros that Swift does not import.
  static let ioErrorSync = ResultCode(rawValue: SQLITE_IOERR | (4 << 8))
  static let ioErrorFolderSync = ResultCode(rawValue: SQLITE_IOERR | (5 << 8))
  /// The -shm file must be initialized first, and the process may not write it.
  static let readOnlyCannotInit = ResultCode(rawValue: SQLITE_READONLY | (5 << 8))
  /// The process may not write to the folder.
  static let readOnlyFolder = ResultCode(rawValue: SQLITE_READONLY | (6 << 8))
  /// The file was moved or deleted while it was open.
  static let readOnlyMoved = ResultCode(rawValue: SQLITE_READONLY | (4 << 8))
}

extension StoreError {
  /// Creates the store's error for an error of SQLite: “cannot PURPOSE: …”.
  init(_ error: SQLiteError, _ purpose: String) {
    self.init(Code(error), "cannot \(purpose): \(Self.reason(error))", cause: error)
  }

  private static func reason(_ error: SQLiteError) -> String {
    switch Code(error) {
    case .busy: "the database is locked by another process"
    case .diskFull: "no space left on the device"
    case .notADatabase: "the file is not a database"
    case .corrupt: "the database is damaged (\(error.message))"
    case .readOnly: "the database is read-only (\(error.message))"
    case .closed: "the store was closed"
    case .ioError, .noPermission, .cannotOpen:
      error.systemNumber == 0 ? error.message : "\(error.message): \(SystemError.text(error.systemNumber))"
    default: error.description
    }
  }

  /// Whether another attempt may be worthwhile: a lock was busy, and SQLite did not try for ten seconds by its own rules
  /// (SQLITE_PROTOCOL).
  var isWorthRetrying: Bool { (cause as? SQLiteError)?.code.primary == .busy }

  /// Whether the process could not open more files; `cannotOpen` covers this, because a code of its own would be new public API.
  package var meansNoDescriptors: Bool {
    switch cause {
    case let cause as SQLiteError: SystemError.meansNoDescriptors(cause.systemNumber)
    case let cause as SystemError: SystemError.meansNoDescriptors(cause.number)
    case let cause as StoreError: cause.meansNoDescriptors
    default: false
    }
  }
}

extension StoreError.Code {
  init(_ error: SQLiteError) {
    let hasNoSpace = SystemError.meansNoSpace(error.systemNumber)
    let hasNoPermission = SystemError.meansNoPermission(error.systemNumber)
    self =
      switch error.code.primary {
      case .ioError where hasNoSpace, .cannotOpen where hasNoSpace: .diskFull
      case .ioError where hasNoPermission, .cannotOpen where hasNoPermission: .noPermission
      case .ioError: .ioError
      case .cannotOpen: .cannotOpen
      // SQLITE_PROTOCOL: SQLite tried for ten seconds, whatever the busy timeout is, to get a lock on the -shm file.
      case .busy, .locked, .lockingProtocol: .busy
      case .readOnly where error.code == .readOnlyCannotInit || error.code == .readOnlyFolder: .noPermission
      case .readOnly where error.code == .readOnlyMoved: .moved
      case .readOnly: .readOnly
      case .full: .diskFull
      // The library's statements violate a constraint only if a table has rows that its own constraints forbid.
      case .corrupt, .constraint, .mismatch: .corrupt
      case .notADatabase: .notADatabase
      case .permission, .authorization: .noPermission
      case .outOfMemory: .outOfMemory
      case .tooBig: .badValue
      // Statements are interrupted only when the store is closed.
      case .interrupted: .closed
      default: .unexpected
      }
  }
}
