extension UserStore {
  /// Forgets the part of the log that a policy does not keep, on the calling thread.
  ///
  /// The store does so by itself, a little after each write (`Configuration.retention`); this does all of it now. It works
  /// in steps, each of which holds the write lock for 1,000 rows at most, and lets other writers in between. Whole change
  /// sets are forgotten, and never the newest row: numbers go on. The file does not shrink; its free pages are used again.
  ///
  /// - Parameter policy: What is kept; nil for `Configuration.retention`.
  /// - Returns: what was forgotten.
  /// - Throws: `StoreError`, the codes under “Reading and writing”, and `.diverged` when rows of the log are missing. What
  ///   was forgotten by then stays forgotten.
  @discardableResult
  public func compact(keeping policy: RetentionPolicy? = nil) throws -> Compaction {
    try writable(writer).compact(keeping: policy) { false }
  }

  /// Forgets the part of the log that a policy does not keep, on a thread of the store's.
  ///
  /// As the other one, except that cancelling the task ends it between two steps.
  ///
  /// - Parameter policy: What is kept; nil for `Configuration.retention`.
  /// - Returns: what was forgotten.
  /// - Throws: as the other one, and `CancellationError`.
  @discardableResult
  public func compact(keeping policy: RetentionPolicy? = nil) async throws -> Compaction {
    try await awaiting { writer, isCancelled in try writer.compact(keeping: policy, isCancelled: isCancelled) }
  }

  /// What `compact` would forget now, without forgetting it.
  ///
  /// - Parameter policy: What would be kept; nil for `Configuration.retention`.
  /// - Returns: what would be forgotten.
  /// - Throws: what reading can throw, and `StoreError.Code.diverged` when rows of the log are missing.
  public func compactionPreview(keeping policy: RetentionPolicy? = nil) throws(StoreError) -> Compaction {
    try reader.compactionPreview(keeping: policy ?? compactor.policy, at: compactor.clock())
  }

  /// Takes the values of a removed user out of the log, on the calling thread.
  ///
  /// Their changes stay, with number, kind and attribute's name, but have no values any more (`Change.isPurged`): no
  /// cursor breaks. The bytes are overwritten in the database file and cut off from the -wal file. It works in steps, as
  /// `compact`.
  ///
  /// Not reached: backups and other copies of the file, what listeners and feeds were given, what another program's open
  /// transaction still sees (`Purge.isErased`), and what a file system or a disk keeps of overwritten blocks. Where SQLite
  /// divided a page, a copy of a value may be left in an unused part of it, which only rewriting the whole file clears; so
  /// may what a program deleted whose SQLite does not overwrite.
  ///
  /// - Parameters:
  ///   - user: Who was removed.
  ///   - vacuums: Whether the whole file is written anew too. Other writers wait as long as copying it takes, and there
  ///     must be space for two copies.
  /// - Returns: what was found and taken out; doing it again does no harm.
  /// - Throws: `StoreError.Code.userExists`, and the codes under “Reading and writing”.
  @discardableResult
  public func purge(_ user: User.ID, vacuums: Bool = false) throws -> Purge {
    try writable(writer).purge(user, vacuums: vacuums) { false }
  }

  /// Takes the values of a removed user out of the log, on a thread of the store's.
  ///
  /// As the other one, except that cancelling the task ends it between two steps.
  ///
  /// - Parameters:
  ///   - user: Who was removed.
  ///   - vacuums: Whether the whole file is written anew too.
  /// - Returns: what was found and taken out; doing it again does no harm.
  /// - Throws: as the other one, and `CancellationError`.
  @discardableResult
  public func purge(_ user: User.ID, vacuums: Bool = false) async throws -> Purge {
    try await awaiting { writer, isCancelled in
      try writer.purge(user, vacuums: vacuums, isCancelled: isCancelled)
    }
  }

  /// Runs what may take long on a thread of the store's.
  private func awaiting<Result: Sendable>(
    _ body: @escaping @Sendable (Writer, _ isCancelled: () -> Bool) throws -> Result
  ) async throws -> Result {
    let writer = try writable(writer)
    let isCancelled = Lock(false)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        do {
          let isAccepted = try compactor.thread.run {
            continuation.resume(with: Swift.Result { try body(writer) { isCancelled.withLock { $0 } } })
          }
          if !isAccepted { continuation.resume(throwing: StoreError(.closed, "the store is closed")) }
        } catch {
          continuation.resume(throwing: StoreError(.unexpected, "\(error)", cause: error))
        }
      }
    } onCancel: {
      isCancelled.withLock { $0 = true }
    }
  }
}
