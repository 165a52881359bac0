extension UserStore {
  /// Copies a snapshot of the store to a file, while others continue to read and write.
  ///
  /// The backup is a single file and a store itself: you can open, check and restore it. It has the same log, so that cursors
  /// are valid in it up to its end. It is written next to its destination as `FILE.….partial`, readable only by its owner, then
  /// checked and synced, and finally renamed, so that an incomplete file never has the destination's name. `backup` runs on the
  /// calling thread, even if the store was opened only for reading. A store in memory blocks readers and writers meanwhile.
  ///
  /// The copy is checked for everything that `check` looks for in a file, while writers continue: for a million users with a
  /// log of three million rows, this takes twelve seconds of processor time, and copying takes one. A store with problems is
  /// not backed up unless you ask for it; a store with damaged pages never is.
  ///
  /// - Parameters:
  ///   - path: The file; its folder must exist. A link is followed.
  ///   - isReplacing: Whether an existing file is replaced.
  ///   - ignoringProblems: Whether to back up a store whose log contradicts its records, or that has values that cannot be
  ///     decoded. The copy is then only checked for damage, not for these problems, which is faster.
  ///   - progress: Called with the copied fraction, from 0 to 1, every few megabytes; an error that it throws ends the backup.
  /// - Returns: The end of the log in the backup.
  /// - Throws: `StoreError.Code.alreadyExists`; `.cannotCreate`, for example if `path` is a file of an open store, by whatever
  ///   name, or has a name that SQLite gives to its own files, or has a -wal or -journal file, which SQLite would apply to the
  ///   backup, or is too long for a database; `.noPermission`, `.diskFull`; `.corrupt` if the copy is damaged;
  ///   `.problemsFound` if `check` would find problems in it; the codes that every read can throw (see ``StoreError/Code``),
  ///   such as `.nested` inside a transaction of this store; and what `progress` throws.
  @discardableResult
  public func backup(
    to path: String, replacing isReplacing: Bool = false, ignoringProblems: Bool = false,
    progress: (Double) throws -> Void = { _ in }
  ) throws -> Cursor {
    try backup(
      to: path, replacing: isReplacing, ignoringProblems: ignoringProblems, isCancelled: { false }, progress: progress)
  }

  /// Copies as the public `backup`; if `isCancelled` returns true between its steps, throws and leaves no file.
  func backup(
    to path: String, replacing isReplacing: Bool, ignoringProblems: Bool, isCancelled: () -> Bool,
    progress: (Double) throws -> Void
  ) throws -> Cursor {
    let backup = try engine.files().makeBackup(to: path, replacing: isReplacing)
    do {
      let end = try reader.read { transaction in
        let end = try transaction.cursor
        try backup.copy(transaction.session) { fraction in
          if isCancelled() { throw CancellationError() }
          try progress(fraction)
        }
        return end
      }
      try backup.verify(endingAt: end, ignoringProblems: ignoringProblems) { !isCancelled() }
      if isCancelled() { throw CancellationError() }
      try backup.publish()
      return end
    } catch {
      backup.discard()
      throw error
    }
  }

  /// Replaces the records and the log of the store with those of a backup, atomically.
  ///
  /// Others can have the store open: they read the old state or the new one, even after a crash. Every listener and feed, here
  /// and in other processes, receives a discontinuity (`diverged`), and every cursor of either log becomes invalid: the
  /// restored log keeps its revisions under a new epoch. Listenables read their value again. When `restore` returns, every
  /// inline listener of this store has been called, except inside a listener.
  ///
  /// The backup is first checked for everything that `check` looks for. Its file is never changed: if it comes from an older
  /// version or has broken triggers, a migrated and repaired copy, which starts a new log, is checked and restored instead.
  /// During the replacement (about six seconds for a million users), other writers wait or get `busy`. Ids that were assigned in
  /// the store or in the backup are not assigned again. Your own tables and indexes stay in the store, and are not taken from the
  /// backup; if rows of them would refer to users that the backup does not have, the restore is refused. Named consumers keep their names, and find that their position is `diverged`.
  ///
  /// - Parameters:
  ///   - path: A backup or any other store, which may be in use.
  ///   - ignoringProblems: Whether to restore a file whose log contradicts its records, or that has values that cannot be
  ///     decoded. A file with damaged pages, an invalid log, or attributes without users is always refused.
  /// - Throws: The codes under “Opening” in ``StoreError/Code``, `.corrupt` and `.problemsFound` for the backup, before anything
  ///   is changed; `.stillReferenced` with the number of rows of another table that refer to users that the backup does not have;
  ///   and the codes that every write can throw.
  public func restore(from path: String, ignoringProblems: Bool = false) throws(StoreError) {
    try restore(from: path, ignoringProblems: ignoringProblems) { _ in }
  }

  /// Restores as `restore(from:ignoringProblems:)`; calls `progress` with the copied fraction every thousand rows.
  ///
  /// Ends and throws `StoreError.Code.closed` if `shouldContinue` returns false; then nothing has changed.
  package func restore(
    from path: String, ignoringProblems: Bool = false, while shouldContinue: () -> Bool = { true },
    progress: (Double) -> Void
  ) throws(StoreError) {
    let writer = try writable(writer)
    let restore = try engine.files().makeRestore(from: path, ignoringProblems: ignoringProblems, while: shouldContinue)
    try writer.replace { session throws(StoreError) in
      try restore.replace(on: session, while: shouldContinue, progress: progress)
      // The last moment to stop: the caller rolls back.
      guard shouldContinue() else { throw SessionPool.closed }
    }
  }

  /// Checks the store for damage, for a log that contradicts the records, and for risks such as file permissions.
  ///
  /// Nothing is written, and readers and writers continue; as after any read, what a crash has left in the -wal file is copied
  /// into the database when the last connection closes. Memory does not grow with the store. Every page is read and the log is
  /// sorted, which takes about twelve seconds for a million users. For bugs of the SQLite library itself, use `checkLibrary`.
  ///
  /// - Returns: What was found; empty if all is well.
  /// - Throws: The codes that every read can throw (see ``StoreError/Code``).
  public func check() throws(StoreError) -> [Finding] { try check { true } }

  func check(while shouldContinue: () -> Bool) throws(StoreError) -> [Finding] {
    if let findings = try engine.check(while: shouldContinue) { return findings }
    return try reader.reading { transaction throws(StoreError) in try engine.check(in: transaction.session) }
  }

  /// Checks a file, which may be too damaged or changed to be opened as a store.
  ///
  /// - Parameters:
  ///   - path: The file, which may be in use.
  ///   - busyTimeout: How long to wait for a lock of another process.
  /// - Returns: What was found; empty if all is well.
  /// - Throws: `StoreError.Code.notFound`, `.cannotOpen`, `.noPermission`, `.notADatabase`, `.notAUserStore`, `.schemaTooNew`,
  ///   and the codes that every read can throw (see ``StoreError/Code``).
  public static func check(path: String, busyTimeout: Duration = .seconds(5)) throws(StoreError) -> [Finding] {
    try check(path: path, busyTimeout: busyTimeout) { _ in }
  }

  /// Checks a file; calls `progress` with the fraction that is done after each of its few parts.
  package static func check(
    path: String, busyTimeout: Duration, while shouldContinue: () -> Bool = { true }, progress: (Double) -> Void
  ) throws(StoreError) -> [Finding] {
    var configuration = Configuration()
    (configuration.access, configuration.busyTimeout) = (.readOnly, busyTimeout)
    return try SQLiteEngine.check(DatabaseFile(path, configuration), while: shouldContinue, progress: progress)
  }

  /// Takes over a copy of a store that lacks its mark (`needsAdoption`), if its tables and triggers are this library's.
  ///
  /// The copy gets a new log that starts at its end, so that no cursor is valid in it. Without `isKept`, nothing is changed.
  ///
  /// - Returns: Whether the file was such a copy; false for a store.
  package static func adopt(path: String, busyTimeout: Duration, isKept: Bool) throws(StoreError) -> Bool {
    var configuration = Configuration()
    (configuration.access, configuration.busyTimeout) = (.readWrite, busyTimeout)
    return try DatabaseFile(path, configuration).adopt(isKept: isKept)
  }

  /// Checks the SQLite library that this process uses.
  ///
  /// - Returns: Warnings of known bugs that can damage files; empty if there are none.
  public static func checkLibrary() -> [Finding] {
    var check = StoreCheck()
    check.checkLibrary()
    return check.findings
  }
}
