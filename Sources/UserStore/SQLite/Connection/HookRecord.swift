import CUserStoreSQLite

/// The reports of SQLite's hooks about the current transaction.
///
/// The hooks are hints: they also report rows that a savepoint rolls back, and rows of statements that fail; the session and the
/// connection note both. They do not report rows that REPLACE deletes, and the commit hook runs before a COMMIT that may still fail.
///
/// Not `Sendable`: it belongs to its connection, and SQLite calls the hooks on the thread that uses the connection.
@safe final class HookRecord {
  enum Logged: Equatable {
    case nothing
    /// Rows were appended to the log, the last one with this number, and all of them are there.
    case through(Int64)
    /// Rows were appended or changed, and may have been rolled back since.
    case unknown
  }

  /// The rows of the log since the write began, or since `takeLogged`.
  fileprivate(set) var logged = Logged.nothing
  /// Whether a COMMIT got as far as writing to the file.
  fileprivate(set) var hasBegunCommit = false
  /// The number of pages in the -wal file after the last commit.
  fileprivate(set) var walPages = 0

  func reset() { (logged, hasBegunCommit) = (.nothing, false) }

  /// Notes that rows may have been logged: without hooks, and after a part of the transaction was rolled back.
  func assumeLogged() { logged = .unknown }

  /// Notes that a statement has failed, whose rows were rolled back.
  func noteFailure() { if logged != .nothing { logged = .unknown } }

  func takeLogged() -> Logged {
    defer { logged = .nothing }
    return logged
  }

  fileprivate func note(_ operation: Int32, row: Int64) {
    logged =
      switch (operation, logged) {
      case (SQLITE_INSERT, .nothing): .through(row)
      case (SQLITE_INSERT, .through(let last)): .through(max(last, row))
      default: .unknown
      }
  }

  /// Registers the hooks on a connection, which must keep this object until it is closed.
  func install(on connection: OpaquePointer) {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    _ = unsafe sqlite3_update_hook(
      connection,
      { context, operation, _, table, row in
        guard let table = unsafe table, unsafe sqlite3_stricmp(table, "changes") == 0 else { return }
        unsafe HookRecord.from(context)?.note(operation, row: row)
      }, context)
    _ = unsafe sqlite3_commit_hook(
      connection,
      { context in
        unsafe HookRecord.from(context)?.hasBegunCommit = true
        return 0
      }, context)
    // This also turns SQLite's automatic checkpoints off, which are a WAL hook themselves.
    _ = unsafe sqlite3_wal_hook(
      connection,
      { context, _, _, pages in
        unsafe HookRecord.from(context)?.walPages = Int(pages)
        return SQLITE_OK
      }, context)
  }

  @inline(__always) private static func from(_ context: UnsafeMutableRawPointer?) -> HookRecord? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<HookRecord>.fromOpaque(context).takeUnretainedValue()
  }
}
