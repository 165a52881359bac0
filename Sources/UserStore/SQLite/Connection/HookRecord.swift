import CUserStoreSQLite

/// What SQLite's three hooks saw of the present transaction: one bit each.
///
/// They are hints and never the truth. They tell of rows that a savepoint then took back and of statements that failed
/// half-way, are silent for rows that REPLACE displaced, and the commit hook runs before a COMMIT that may still fail.
/// So a bit that is not set says that something did not happen; one that is set only says where to look.
///
/// Not `Sendable`: it belongs to its connection, and SQLite calls the hooks on the thread that uses that.
@safe final class HookRecord {
  /// A row was appended to the log, or was and is gone again.
  fileprivate(set) var hasLogged = false
  /// A COMMIT got as far as writing to the file.
  fileprivate(set) var hasBegunCommit = false
  /// The transaction was rolled back, by us or by SQLite.
  fileprivate(set) var hasRolledBack = false
  /// How many pages the -wal file held after the last commit.
  fileprivate(set) var walPages = 0

  /// Forgets the last transaction.
  func reset() {
    hasLogged = false
    hasBegunCommit = false
    hasRolledBack = false
  }

  /// Returns `hasLogged`, and begins to look for the next row.
  func takeLogged() -> Bool {
    defer { hasLogged = false }
    return hasLogged
  }

  /// Registers the hooks.
  ///
  /// The connection must keep this object until it is closed.
  func install(on connection: OpaquePointer) {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    _ = unsafe sqlite3_update_hook(
      connection,
      { context, _, _, table, _ in
        // Runs for every row: the name is told apart by its second letter (users, attributes, displaced_…, meta).
        guard let context = unsafe context, let table = unsafe table, unsafe table[0] == 0x63, unsafe table[1] == 0x68
        else { return }
        unsafe Unmanaged<HookRecord>.fromOpaque(context).takeUnretainedValue().hasLogged = true
      }, context)
    _ = unsafe sqlite3_commit_hook(
      connection,
      { context in
        if let context = unsafe context {
          unsafe Unmanaged<HookRecord>.fromOpaque(context).takeUnretainedValue().hasBegunCommit = true
        }
        return 0
      }, context)
    _ = unsafe sqlite3_rollback_hook(
      connection,
      { context in
        if let context = unsafe context {
          unsafe Unmanaged<HookRecord>.fromOpaque(context).takeUnretainedValue().hasRolledBack = true
        }
      }, context)
    // Also the place where SQLite's own automatic checkpoint would hang: setting it turns that off.
    _ = unsafe sqlite3_wal_hook(
      connection,
      { context, _, _, pages in
        if let context = unsafe context {
          unsafe Unmanaged<HookRecord>.fromOpaque(context).takeUnretainedValue().walPages = Int(pages)
        }
        return SQLITE_OK
      }, context)
  }
}
