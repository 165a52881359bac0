import CUserStoreSQLite

/// A result code of SQLite, primary or extended: an open set, because newer versions add to it.
///
/// Match with `primary`, so that an extended code that did not exist when this was written still counts as its kind.
/// Numbers and meanings: sqlite.org/rescode.html.
struct ResultCode: RawRepresentable, Hashable, Sendable {
  let rawValue: Int32

  /// The kind of the result: the low eight bits.
  var primary: ResultCode { ResultCode(rawValue: rawValue & 0xFF) }

  static let ok = ResultCode(rawValue: SQLITE_OK)
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
  static let row = ResultCode(rawValue: SQLITE_ROW)
  static let done = ResultCode(rawValue: SQLITE_DONE)

  // SQLite's header makes these of macros that Swift does not import.
  /// A sync of a file failed: whether a commit survives a crash is not known.
  static let ioErrorSync = ResultCode(rawValue: SQLITE_IOERR | (4 << 8))
  /// A sync of a folder failed.
  static let ioErrorFolderSync = ResultCode(rawValue: SQLITE_IOERR | (5 << 8))
  /// Only readers' rights, and the -shm file cannot be made.
  static let readOnlyCannotInit = ResultCode(rawValue: SQLITE_READONLY | (5 << 8))
  /// Only readers' rights in the folder.
  static let readOnlyFolder = ResultCode(rawValue: SQLITE_READONLY | (6 << 8))
  /// The file was moved or deleted since it was opened.
  static let readOnlyMoved = ResultCode(rawValue: SQLITE_READONLY | (4 << 8))
}
