/// Fills a draft with a copy of a store, and looks at it once more before anybody finds it.
///
/// By SQLite's backup API, and not by VACUUM INTO: it copies pages as they are, runs nothing of the file's SQL, and is
/// three times as fast, so that the state that is being read keeps the -wal file from being cleaned up for less long.
struct Backup: EngineBackup {
  let draft: Draft

  /// Copies the state that a connection's open transaction sees.
  ///
  /// The copy is no WAL database: it is one file, which can be read from a folder that nothing may be written into. A
  /// store that is opened on it for writing switches it back.
  ///
  /// - Parameters:
  ///   - session: It has a transaction open and has read in it.
  ///   - progress: What it throws ends the copying.
  /// - Throws: `StoreError`, and what `progress` throws.
  func copy(_ session: any Session, progress: (Double) throws -> Void) throws {
    let purpose = "write the backup \(draft.target)"
    var interruption: (any Error)?
    do {
      let target = try Connection(path: draft.path, access: .readWrite, busyTimeout: 0)
      // It is synced once, when it is whole; until then nobody wants it.
      try target.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY", to: purpose)
      try SQLiteSession.own(session).connection.copyPages(to: target, for: purpose) { remaining, total in
        do { try progress(Double(total - remaining) / Double(max(1, total))) } catch { interruption = error }
        return interruption == nil
      }
      try target.execute("PRAGMA journal_mode = DELETE", to: purpose)
    } catch {
      throw interruption ?? error
    }
  }

  /// Sees whether the copy is a store, undamaged, with the log up to where it was to be.
  ///
  /// The copy and not the store: nothing keeps the -wal file from being cleaned up for so long.
  ///
  /// - Parameters:
  ///   - end: Where the log is to end.
  ///   - ignoringProblems: Whether the log and the records may have problems.
  /// - Throws: `StoreError.Code.corrupt`, `.problemsFound`, and what reading can throw.
  func verify(endingAt end: Cursor, ignoringProblems: Bool) throws(StoreError) {
    // Counted like a store's, so that it can be interrupted.
    let file = (try? Files.identity(of: draft.path)).map {
      FileConnections(path: draft.path, identity: $0, temporaryFolder: nil)
    }
    let copy = try Connection(path: draft.path, access: .queryOnly, busyTimeout: 0, of: file)
    // Sorting a log of millions must not take memory of its size.
    try copy.execute("PRAGMA temp_store = FILE", to: "read the backup")
    try Schema.check(copy)
    try StoreCheck.requireIntegrity(copy)
    if !ignoringProblems { try StoreCheck.requireNoProblems(copy) }
    guard try SQLiteSession(copy).logEnd() == end else {
      throw StoreError(.corrupt, "the backup is not what was copied: the disk, or somebody, changed it")
    }
  }

  func publish() throws(StoreError) { try draft.publish() }

  func discard() { draft.remove() }
}
