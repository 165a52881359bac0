import CUserStoreSQLite

/// The reports of SQLite's hooks about the current transaction.
///
/// The hooks are hints: they also report rows that a savepoint rolls back and rows of statements that fail, they do not report
/// rows that REPLACE deletes, and the commit hook runs before a COMMIT that may still fail. So false means that something did
/// not happen, and true only says where to look.
///
/// Not `Sendable`: it belongs to its connection, and SQLite calls the hooks on the thread that uses the connection.
@safe final class HookRecord {
  /// Whether a row was appended to the log, even if it was rolled back since.
  fileprivate(set) var hasLogged = false
  /// Whether a COMMIT got as far as writing to the file.
  fileprivate(set) var hasBegunCommit = false
  /// The number of pages in the -wal file after the last commit.
  fileprivate(set) var walPages = 0

  func reset() { (hasLogged, hasBegunCommit) = (false, false) }

  /// Without hooks, rows may have been logged.
  func assumeLogged() { hasLogged = true }

  func takeLogged() -> Bool {
    defer { hasLogged = false }
    return hasLogged
  }

  /// Registers the hooks on a connection, which must keep this object until it is closed.
  func install(on connection: OpaquePointer) {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    _ = unsafe sqlite3_update_hook(
      connection,
      { context, _, _, table, _ in
        // Runs for every row, so it compares only two letters: no other table's name starts with “ch”.
        guard let table = unsafe table, unsafe table[0] == 0x63, unsafe table[1] == 0x68 else { return }
        unsafe HookRecord.from(context)?.hasLogged = true
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
