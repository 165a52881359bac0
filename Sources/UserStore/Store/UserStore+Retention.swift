extension UserStore {
  /// Deletes from the log all change sets that the policy does not keep, on the calling thread.
  ///
  /// The store does so automatically after writes (`Configuration.retention`), in small portions; this deletes all of them now.
  /// It works in steps that hold the write lock for at most 1,000 rows each, so that other writers can continue between them.
  /// Only complete change sets are deleted, and never the newest row, so that revisions continue. The file does not shrink; its
  /// free pages are reused.
  ///
  /// - Parameter policy: The changes to keep; if nil, `Configuration.retention` decides.
  /// - Returns: What was deleted.
  /// - Throws: The codes that every write can throw (see ``StoreError/Code``), and `.diverged` if rows of the log are missing.
  ///   What was deleted before the error stays deleted.
  @discardableResult
  public func compact(keeping policy: RetentionPolicy? = nil) throws -> Compaction {
    try writable(writer).compact(keeping: policy) { false }
  }

  /// Returns what `compact` would delete now, without deleting it.
  ///
  /// - Parameter policy: The changes to keep; if nil, `Configuration.retention` decides.
  /// - Returns: What would be deleted.
  /// - Throws: The codes that every read can throw (see ``StoreError/Code``), and `.diverged` if rows of the log are missing.
  public func compactionPreview(keeping policy: RetentionPolicy? = nil) throws(StoreError) -> Compaction {
    try compactionPreview(keeping: policy) { true }
  }

  func compactionPreview(
    keeping policy: RetentionPolicy?, while shouldContinue: () -> Bool
  ) throws(StoreError) -> Compaction {
    try reader.compactionPreview(keeping: policy ?? compactor.policy, at: compactor.clock(), while: shouldContinue)
  }

  /// Erases the values of a removed user from the log, on the calling thread.
  ///
  /// The changes stay in the log with revision, kind and attribute, but without values (`Change.isPurged`), so that cursors
  /// stay valid. The bytes are overwritten in the database file and cut off from the -wal file. It works in steps, as `compact`
  /// does, and can be repeated.
  ///
  /// If there are values to erase, it is a write, and the first step notes in the log that the user was purged. This note takes a
  /// revision, but no listener, feed or list receives it, and `undo` ignores it.
  ///
  /// It does not erase backups and other copies of the file, what listeners and feeds have received, what the open transaction
  /// of another program can still read (`Purge.isErased`), and what a file system or a disk keeps of overwritten blocks. If
  /// SQLite has split a page, a copy of a value may remain in an unused part of it. A value can also remain if it was deleted by
  /// a program whose SQLite does not overwrite deleted data (`secure_delete`). Only `vacuums` erases these.
  ///
  /// - Parameters:
  ///   - user: The removed user's identifier.
  ///   - vacuums: Whether to rewrite the whole file too. Other writers wait while it is copied, and two copies need disk space.
  /// - Returns: What was found and erased.
  /// - Throws: `StoreError.Code.userExists`, and the codes that every write can throw.
  @discardableResult
  public func purge(_ user: User.ID, vacuums: Bool = false) throws -> Purge {
    try writable(writer).purge(user, vacuums: vacuums) { false }
  }
}
