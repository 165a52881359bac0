/// Fills a draft with a copy of a store, and looks at it once more before anybody finds it.
///
/// By SQLite's backup API, and not by VACUUM INTO: it copies pages as they are, runs nothing of the file's SQL, and is
/// three times as fast, so that the state that is being read keeps the -wal file from being cleaned up for less long.
struct Backup: Sendable {
  let draft: Draft

  /// Copies the state that a connection's open transaction sees.
  ///
  /// The copy is no WAL database: it is one file, which can be read from a folder that nothing may be written into. A
  /// store that is opened on it for writing switches it back.
  ///
  /// - Parameters:
  ///   - source: It has a transaction open and has read in it.
  ///   - progress: What it throws ends the copying.
  /// - Throws: `StoreError`, and what `progress` throws.
  func copy(_ source: borrowing Connection, progress: (Double) throws -> Void) throws {
    var interruption: (any Error)?
    do throws(SQLiteError) {
      let target = try Connection(path: draft.path, access: .readWrite, busyTimeout: 0)
      // It is synced once, when it is whole; until then nobody wants it.
      try target.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY")
      try source.copyPages(to: target) { remaining, total in
        do { try progress(Double(total - remaining) / Double(max(1, total))) } catch { interruption = error }
        return interruption == nil
      }
      try target.execute("PRAGMA journal_mode = DELETE")
    } catch {
      throw interruption ?? StoreError(error, "write the backup \(draft.target)")
    }
  }

  /// Sees whether the copy is a store, undamaged, with the log up to where it was to be.
  ///
  /// The copy and not the store: nothing keeps the -wal file from being cleaned up for so long.
  ///
  /// - Parameters:
  ///   - head: Where the log is to end.
  ///   - ignoringProblems: Whether the log and the records may have problems.
  /// - Throws: `StoreError.corrupt`, `.problemsFound`, and what reading can throw.
  func verify(_ head: Cursor, ignoringProblems: Bool) throws(StoreError) {
    let copy = try storing("read the backup") { () throws(SQLiteError) in
      // Counted like a store's, so that it can be interrupted.
      let file = (try? Files.identity(of: draft.path)).map {
        FileConnections(path: draft.path, identity: $0, temporaryFolder: nil)
      }
      let copy = try Connection(path: draft.path, access: .queryOnly, busyTimeout: 0, of: file)
      // Sorting a log of millions must not take memory of its size.
      try copy.execute("PRAGMA temp_store = FILE")
      return copy
    }
    try Self.verify(copy, head, ignoringProblems)
  }

  private static func verify(
    _ copy: consuming Connection, _ head: Cursor, _ ignoringProblems: Bool
  ) throws(StoreError) {
    try Schema.check(copy)
    try StoreCheck.requireIntegrity(copy)
    if !ignoringProblems { try StoreCheck.requireNoProblems(copy) }
    guard try ChangeLog.head(copy) == head else {
      throw StoreError(.corrupt, "the backup is not what was copied: the disk, or somebody, changed it")
    }
  }
}
