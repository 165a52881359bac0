/// A database that can hold a store: the operations that the library needs.
///
/// The protocol has operations and no SQL, so that an engine on a server could do each in one round trip.
package protocol Engine: AnyObject, Sendable {
  /// The sessions that read.
  var readers: SessionPool { get }
  /// The one session that writes; nil for a read-only store.
  ///
  /// In memory, it is the same pool as `readers`: reads and writes take turns.
  var writers: SessionPool? { get }
  /// The session that writes, if what it has cached makes it the one that reads fastest what it has written; nil if any is as fast.
  var warm: SessionPool? { get }

  /// Returns the end of the log, read in a session that is then free for reading or writing.
  func logEnd() throws(StoreError) -> Cursor

  // MARK: Other processes

  /// Starts the events that show a `Watcher` the commits of other processes, and returns them with a closure that opens the
  /// session in which the watcher reads; nil if no other process can reach the database.
  func openWatch() throws(StoreError) -> (
    open: @Sendable () throws(StoreError) -> any Session, events: any CommitEvents
  )?

  /// Wakes the watchers of other processes. Call it after the commit is visible.
  func signalCommit()

  // MARK: Maintenance

  var needsCheckpoint: Bool { get }

  /// Runs a checkpoint on the writing session, outside of a transaction. If it fails, the next write tries again.
  ///
  /// With `mayWait`, it may wait for readers when the -wal file has become far too long.
  func checkpoint(holding session: any Session, mayWait: Bool)

  /// Tries once, on the writing session outside of a transaction, to remove old versions of pages that are kept for readers;
  /// returns false if another program's transaction still needs them.
  func eraseOldPages(holding session: any Session) throws(StoreError) -> Bool

  /// Returns the operations on whole files; throws `StoreError.Code.unsupported` for an engine that has none.
  func files() throws(StoreError) -> any FileOperations

  /// Checks the database on a connection of its own; nil if there can be none.
  ///
  /// Ends and throws `StoreError.Code.closed` if `shouldContinue` returns false, as all methods with this parameter do.
  func check(while shouldContinue: () -> Bool) throws(StoreError) -> [Finding]?

  /// Checks the database in the session's open transaction.
  func check(in session: any Session) throws(StoreError) -> [Finding]

  // MARK: Closing

  /// Interrupts all running statements, and returns whether a session is still open.
  func interrupt() -> Bool

  /// Closes the sessions. The last one that closes leaves the database in one file.
  func close()

  /// Called when the store was closed and released: a temporary database is deleted.
  func release()
}

extension Engine {
  package func readLogEnd() throws(StoreError) -> Cursor {
    let session = try readers.take()
    defer { readers.give(back: session) }
    return try session.logEnd()
  }
}

/// Events that report possible commits: hints, because only the log shows what was committed.
package protocol CommitEvents: Sendable {
  /// Whether the system reports writes; if not, the watcher polls.
  var hasEvents: Bool { get }

  /// How long the watcher waits, in microseconds, before it looks at the log without an event.
  var idleLook: Int { get }

  /// Waits up to `microseconds` for events, and returns those since the last call; with 0, it does not wait.
  func wait(microseconds: Int) -> CommitEvent

  /// Called on the waiting thread after it found a commit that no event announced: events may have been lost.
  func missedEvent()

  /// Turns the system's reports of writes on or off: while this store writes all the time, they cost and are of no use.
  func setReportsWrites(_ reportsWrites: Bool)

  /// Ends a `wait`, the current one or the next. May be called on any thread.
  func wake()

  /// Closes the system's resources, after the last `wait`.
  func closeEvents()
}

extension CommitEvents {
  /// The operating system reports lost events.
  package func missedEvent() {}
}

/// The operations on a database that is a file.
package protocol FileOperations {
  /// Creates the empty file of a backup.
  func makeBackup(to path: String, replacing: Bool) throws(StoreError) -> any EngineBackup

  /// Opens and checks a file whose records are to replace those of the store.
  func makeRestore(
    from path: String, ignoringProblems: Bool, while shouldContinue: () -> Bool
  ) throws(StoreError) -> any EngineRestore

  /// Rewrites the whole database, so that no deleted value is left in unused parts of pages.
  func vacuum() throws(StoreError)
}

package protocol EngineBackup: Sendable {
  /// Copies the state that the session's open transaction sees; the transaction must have read already.
  ///
  /// `progress` receives the part that was copied, from 0 to 1. If it throws, the copy ends with its error.
  func copy(_ session: any Session, progress: (Double) throws -> Void) throws

  /// Checks the copy, whose log must end at `end`.
  ///
  /// With `ignoringProblems`, a log that contradicts the records and values that cannot be decoded are accepted.
  ///
  /// - Throws: `StoreError.Code.corrupt`, `.problemsFound`, and the errors of reading.
  func verify(
    endingAt end: Cursor, ignoringProblems: Bool, while shouldContinue: () -> Bool
  ) throws(StoreError)

  /// Syncs the copy and gives it its name.
  func publish() throws(StoreError)

  func discard()
}

/// One state of a file whose content is to replace that of a store.
package protocol EngineRestore {
  /// Replaces the records and the log, in the session's open write transaction. The new log has a new epoch.
  func replace(
    on session: any Session, while shouldContinue: () -> Bool, progress: (Double) -> Void
  ) throws(StoreError)
}
