/// A database that holds a store: what the library needs of SQLite, and nothing of how SQLite does it.
///
/// The seam is at operations, not at SQL, so that an engine on a server can make one round trip of each operation.
protocol Engine: AnyObject, Sendable {
  /// The sessions that read.
  var readers: SessionPool { get }
  /// The one session that writes; nil for a read-only store.
  ///
  /// In memory it is the same pool as `readers`: reads and writes take turns.
  var writers: SessionPool? { get }

  // MARK: Other processes

  /// Opens what a `Watcher` needs to see the commits of other processes.
  ///
  /// - Returns: nil when no other process can reach the database.
  func openWatch() throws(StoreError) -> (session: any Session, events: any CommitEvents)?

  /// Wakes the watchers of other processes. Call it after the commit is visible.
  func signalCommit()

  // MARK: Upkeep

  /// Whether a checkpoint is due.
  var needsCheckpoint: Bool { get }

  /// Runs a checkpoint; the caller has the writing session to itself.
  ///
  /// A checkpoint that fails does no harm: the next write tries again.
  ///
  /// - Parameters:
  ///   - session: The writing session, outside of a transaction.
  ///   - mayWait: Whether it may wait for readers when the -wal file has become far too long.
  func checkpoint(holding session: any Session, mayWait: Bool)

  /// Rewrites the whole database, so that no deleted value is left in unused parts of pages.
  func vacuum() throws(StoreError)

  /// Tries once to remove the overwritten versions of pages that are kept for readers.
  ///
  /// - Parameter session: The writing session, outside of a transaction.
  /// - Returns: false when another program's transaction still needs them.
  /// - Throws: what writing can throw.
  func eraseOldPages(holding session: any Session) throws(StoreError) -> Bool

  // MARK: Copies and checks

  /// Creates the empty file of a backup.
  func makeBackup(to path: String, replacing: Bool) throws(StoreError) -> any EngineBackup

  /// Opens and checks a file whose records are to replace those of the store.
  func makeRestore(from path: String, ignoringProblems: Bool) throws(StoreError) -> any EngineRestore

  /// Checks the database on a connection of its own.
  ///
  /// - Returns: nil when there is no other connection than those of the pools: use `Session.check` then.
  func check() throws(StoreError) -> [Finding]?

  // MARK: Closing

  /// Interrupts all running statements.
  ///
  /// - Returns: whether a session is still open.
  func interrupt() -> Bool

  /// The store needs no more sessions. The last one that closes leaves the database in one file.
  func close()

  /// The store was closed and released: a temporary database is deleted.
  func release()
}

/// Reports that something may have been committed.
///
/// An event is a hint: the log is the truth.
protocol CommitEvents: Sendable {
  /// Whether the system reports writes; if not, the watcher polls.
  var hasEvents: Bool { get }

  /// Waits for events.
  ///
  /// - Parameter microseconds: For how long at most; 0 only collects what has come.
  /// - Returns: what happened since the last call.
  func wait(microseconds: Int) -> DirectoryEvents.Event

  /// Asks the system to report writes, or not to: under a lasting load of our own writes they only cost.
  func setReportsWrites(_ reportsWrites: Bool)

  /// Ends a `wait`, the current one or the next. May be called on any thread.
  func wake()

  /// Closes the system's resources, after the last `wait`.
  func closeEvents()
}

/// A backup while it is being made.
protocol EngineBackup: Sendable {
  /// Copies the state that the session's open transaction sees.
  ///
  /// - Parameters:
  ///   - session: It has read in its transaction.
  ///   - progress: Gets the part that was copied, from 0 to 1. What it throws ends the copy.
  /// - Throws: `StoreError`, and what `progress` throws.
  func copy(_ session: any Session, progress: (Double) throws -> Void) throws

  /// Checks the copy.
  ///
  /// - Parameters:
  ///   - end: Where its log must end.
  ///   - ignoringProblems: Whether a log that contradicts the records, and values that cannot be decoded, are accepted.
  /// - Throws: `StoreError.Code.corrupt`, `.problemsFound`, and what reading can throw.
  func verify(endingAt end: Cursor, ignoringProblems: Bool) throws(StoreError)

  /// Syncs the copy and gives it its name.
  func publish() throws(StoreError)

  /// Deletes what was made.
  func discard()
}

/// The content of a file that is to replace the content of a store, held in one state.
protocol EngineRestore {
  /// Replaces the records and the log, in the session's open write transaction. The new log has a new epoch.
  func replace(on session: any Session, progress: (Double) -> Void) throws(StoreError)
}
