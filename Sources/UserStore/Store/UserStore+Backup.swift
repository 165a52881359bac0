extension UserStore {
  /// Copies the store as it is now into a file, while others go on reading and writing.
  ///
  /// The backup is one file, and a store itself: it can be opened, checked, and restored; it has the same log, so that a
  /// consumer's cursor goes on in it as far as it reaches. It is made beside its place under another name
  /// (`FILE.….partial`), only for its owner, checked, synced, and only then gets its name: whatever happens, what lies under
  /// the name is whole. It runs on the calling thread; a store that was opened only for reading makes one too. In memory it
  /// keeps readers and writers waiting.
  ///
  /// All that `check` looks at in a file is looked at in the copy, while writers go on: twelve seconds of processor time for
  /// a million users with a log of three million rows, where copying takes one. A store with problems makes no backup,
  /// unless that is asked for; one whose pages are damaged makes none in any case.
  ///
  /// - Parameters:
  ///   - path: The file; its folder must be there.
  ///   - isReplacing: Whether a file that lies there is replaced.
  ///   - ignoringProblems: Whether to back up a store whose log does not tell its records, or with values that no reader can
  ///     decode. The log is not sorted then, and copying takes most of the time.
  ///   - progress: Gets the part that was copied, from 0 to 1, every few megabytes; what it throws ends the backup.
  /// - Returns: the end of the log in the backup.
  /// - Throws: `StoreError.Code.alreadyExists`; `.cannotCreate`, also for the store itself and where a -wal or -journal file lies
  ///   beside, which SQLite would play into the backup; `.noPermission`, `.diskFull`, `.corrupt` when what was copied is
  ///   damaged, `.problemsFound` when `check` would find problems in it, `.nested` inside a transaction of this store; what
  ///   reading can throw, and what `progress` throws.
  @discardableResult
  public func backup(
    to path: String, replacing isReplacing: Bool = false, ignoringProblems: Bool = false,
    progress: (Double) throws -> Void = { _ in }
  ) throws -> Cursor {
    let backup = try engine.makeBackup(to: path, replacing: isReplacing)
    do {
      let end = try reader.read { transaction in
        let end = try transaction.cursor
        try backup.copy(transaction.session, progress: progress)
        return end
      }
      try backup.verify(endingAt: end, ignoringProblems: ignoringProblems)
      try backup.publish()
      return end
    } catch {
      backup.discard()
      throw error
    }
  }

  /// Puts the records and the log of a backup into the place of the store's own, in one step.
  ///
  /// Others may have the store open: readers and writers find the old state or the new one, after a crash too. Every
  /// listener and feed, here and in other processes, is told that the log does not go on (`diverged`), and so is every
  /// cursor of either log: numbers of the restored log are those of the backup, under a new epoch. Listenables read their
  /// value again. When this returns, every inline listener of this store was called, except inside a listener.
  ///
  /// All that `check` looks at in a file is looked at first; then other writers wait, for six seconds when a million users are
  /// copied, or get `busy`. The file is left as it is. One that an older version wrote, or that misses triggers, is mended in
  /// a copy first: its log begins anew, and it is the copy that is checked. Ids
  /// that either of the two has given are not given again. What is not the library's stays in the store and is not taken
  /// from the backup: further tables, further indexes. Consumers that keep their position in the store keep their name,
  /// and find that it is `diverged`.
  ///
  /// - Parameters:
  ///   - path: A backup, or any other store, which may be in use.
  ///   - ignoringProblems: Whether to restore a file whose log does not tell its records, or with values that no reader can
  ///     decode. One with damaged pages, a log that cannot be, or attributes without users is refused in any case.
  /// - Throws: `StoreError`: the codes under “Opening”, `.corrupt` and `.problemsFound` for what is wrong with the file, before
  ///   anything is changed; what writing can throw.
  public func restore(from path: String, ignoringProblems: Bool = false) throws(StoreError) {
    try restore(from: path, ignoringProblems: ignoringProblems) { _ in }
  }

  /// The same with a look at how far it is.
  ///
  /// - Parameters:
  ///   - path: A backup.
  ///   - ignoringProblems: Whether to restore a file that has problems.
  ///   - progress: Gets the part of the rows that was copied, from 0 to 1, every thousand rows.
  /// - Throws: the same.
  package func restore(
    from path: String, ignoringProblems: Bool = false, progress: (Double) -> Void
  ) throws(StoreError) {
    let writer = try writable(writer)
    let restore = try engine.makeRestore(from: path, ignoringProblems: ignoringProblems)
    try writer.replace { session throws(StoreError) in try restore.replace(on: session, progress: progress) }
  }

  /// Looks for damage, for a log that does not tell the records, and for what could be safer.
  ///
  /// The check writes nothing, and readers and writers go on; as after any read, what a crash left in the -wal file is
  /// copied into the database when the last connection closes. Memory does not grow with the store. Every page is read and
  /// the log is sorted: count on twelve seconds for a million users. What is wrong with the SQLite library is not a matter
  /// of the file: see `checkLibrary`.
  ///
  /// - Returns: what was found; empty when all is well.
  /// - Throws: what reading can throw.
  public func check() throws(StoreError) -> [Finding] {
    if let findings = try engine.check() { return findings }
    return try reader.reading { transaction throws(StoreError) in try transaction.session.check() }
  }

  /// The same for a file that may be too damaged, or too much changed, to be opened as a store.
  ///
  /// - Parameters:
  ///   - path: The file; it may be in use.
  ///   - busyTimeout: How long to wait for a lock of another process.
  /// - Returns: what was found; empty when all is well.
  /// - Throws: `StoreError.Code.notFound`, `.cannotOpen`, `.noPermission`, `.notADatabase`, `.notAUserStore`, `.schemaTooNew`, and
  ///   what reading can throw.
  public static func check(path: String, busyTimeout: Duration = .seconds(5)) throws(StoreError) -> [Finding] {
    try check(path: path, busyTimeout: busyTimeout) { _ in }
  }

  /// Looks at the SQLite library that this process uses, which no file can help.
  ///
  /// - Returns: warnings of known bugs that can damage files; empty when there are none.
  public static func checkLibrary() -> [Finding] {
    var check = StoreCheck()
    check.checkLibrary()
    return check.findings
  }

  /// The same with a look at how far it is.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - busyTimeout: How long to wait for a lock of another process.
  ///   - progress: Gets the part of the work that was done, from 0 to 1, after each of its few parts.
  /// - Returns: the same.
  /// - Throws: the same.
  package static func check(
    path: String, busyTimeout: Duration, progress: (Double) -> Void
  ) throws(StoreError) -> [Finding] {
    var configuration = Configuration()
    (configuration.access, configuration.busyTimeout) = (.readOnly, busyTimeout)
    return try SQLiteEngine.check(DatabaseFile(path, configuration), progress: progress)
  }
}
