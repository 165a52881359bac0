/// The library's own checkpoints, in place of SQLite's automatic ones.
///
/// SQLite 3.7.0 to 3.51.2 damages the database when a commit happens during a second passive checkpoint (the WAL-reset bug),
/// and its automatic checkpoints are passive. These checkpoints run on a connection of their own while the writer's connection
/// holds the write lock, which keeps commits out.
///
/// SQLite restarts the -wal file with the first commit that finds all of it copied and no reader using it. If reads always
/// overlap, that never happens, and the file grows without limit. But a reader that starts while all is copied and nothing is
/// written reads only the database. So a checkpoint of a long file waits, with the write lock held, first for the readers that
/// keep pages from being copied, and then for those that started before all was copied.
///
/// Only a commit shows whether the latter have ended; the next write, by any process, finds out. (A restarting checkpoint
/// would wait for them, but falls back to a passive one without the write lock if the lock is busy.)
final class Checkpoints: Sendable {
  /// The length of the -wal file in pages from which it is copied, the same as for SQLite's automatic checkpoints.
  static let pageLimit = 1_000
  /// The length in pages from which a checkpoint waits for readers.
  static let waitingLimit = 4 * pageLimit
  static let firstRest = Duration.milliseconds(1)

  private let patience: Duration
  private let pool: SessionPool
  /// nil if every commit syncs the -wal file.
  private let unsynced: WALFile?
  let state = Lock(State())

  struct State {
    var walPages = 0
    var dueAt = Checkpoints.pageLimit
    var waitsAt = Checkpoints.waitingLimit
    /// How long to wait for readers that started before all was copied.
    var rest = Checkpoints.firstRest
    /// Whether there was a commit since the -wal file was last known to be on disk.
    var hasCommitted = false
  }

  init(pool: SessionPool, unsynced: WALFile?, patience: Duration) {
    self.pool = pool
    self.patience = patience
    self.unsynced = unsynced
  }

  /// Records the length of the -wal file after a commit.
  func note(walPages: Int) {
    state.withLock { state in
      // The file restarted, so the last checkpoint copied everything.
      let isNew = walPages < max(state.walPages, Self.pageLimit)
      state.walPages = walPages
      state.hasCommitted = true
      if isNew { (state.dueAt, state.waitsAt, state.rest) = (Self.pageLimit, Self.waitingLimit, Self.firstRest) }
    }
  }

  var isDue: Bool { state.withLock { $0.walPages >= $0.dueAt } }

  /// Runs a checkpoint, while the caller's connection holds BEGIN IMMEDIATE.
  ///
  /// Pages that a reader still needs stay; the next checkpoint is due when the file is one limit longer. With `mayWait`, it
  /// waits for readers if the file is far too long.
  ///
  /// - Returns: false if the -wal file is not on disk, so that nothing may be copied.
  @discardableResult
  func run(mayWait: Bool = false) -> Bool {
    let waits = state.withLock { state in
      state.dueAt = state.walPages + Self.pageLimit
      return mayWait && state.walPages >= state.waitsAt
    }
    do { try syncWAL(isLocked: true) } catch { return false }
    guard let session = try? pool.take() else { return true }
    defer { pool.give(back: session) }
    let own = SQLiteSession.own(session)
    let result = waits ? copyAll(own) : try? own.connection.checkpoint()
    if let result { unsynced?.didSync(frames: result.pages) }
    return true
  }

  /// Runs a last checkpoint before the writer's connection closes, and closes the connection for checkpoints.
  ///
  /// The last connection to close, in any process, would copy the -wal file too, but may not have permission to write. The
  /// checkpoint does not wait for a writer of another process, which closes later. The session has no open transaction.
  ///
  /// - Returns: false if SQLite must not copy the -wal file on closing, because it is not on disk.
  func finish(on session: SQLiteSession, walPath: String) -> Bool {
    defer { pool.close() }
    let isLocked = (try? session.lock(isWaiting: false)) != nil
    defer { session.rollBack() }
    if isLocked, let size = try? Files.size(of: walPath), size > 0 { return run() }
    guard state.withLock({ $0.hasCommitted }) else { return true }
    // Without the lock the file cannot be rewritten. The process that holds the lock syncs it at its own checkpoint.
    return (try? syncWAL(isLocked: isLocked)) != nil
  }

  /// Syncs a -wal file that a commit has truncated.
  func syncCut(_ path: String) throws(SystemError) {
    if let unsynced { try unsynced.sync() } else { try Files.sync(path) }
  }

  /// Syncs the -wal file; if that fails, writes it again if the write lock is held, so that nothing else writes to it.
  private func syncWAL(isLocked: Bool) throws(SystemError) {
    guard let unsynced else { return }
    state.withLock { $0.hasCommitted = false }
    do throws(SystemError) {
      do throws(SystemError) { try unsynced.sync() } catch {
        guard isLocked else { throw error }
        try unsynced.writeAgain()
      }
    } catch {
      // Closing the store tries once more.
      state.withLock { $0.hasCommitted = true }
      throw error
    }
  }

  // MARK: Waiting for readers

  /// Runs checkpoints until all is copied, and then rests.
  private func copyAll(_ session: SQLiteSession) -> (pages: Int, copied: Int)? {
    let start = ContinuousClock.now
    var result = try? session.connection.checkpoint()
    let before = result?.copied
    var isComplete: Bool { result.map { $0.copied == $0.pages } ?? false }
    while !isComplete, ContinuousClock.now < start + patience {
      // Nothing reports the end of a read: only the next attempt shows it.
      SystemThread.sleep(milliseconds: 1)
      result = try? session.connection.checkpoint()
    }
    if isComplete {
      rest(after: ContinuousClock.now - start)
    } else {
      // If nothing more was copied, some read takes long: writers do not wait for it again and again.
      giveUp(isHeld: result?.copied == before)
    }
    return result
  }

  /// Waits for the readers that started before all was copied: as long as for the others, and each time twice as long.
  private func rest(after waited: Duration) {
    let rest = state.withLock { state in
      // If the next write does not restart the file, another attempt follows it.
      state.dueAt = state.walPages + 1
      defer { state.rest *= 2 }
      return min(max(state.rest, waited), patience - waited)
    }
    // Nothing reports the end of these reads either, and no attempt shows it.
    SystemThread.sleep(microseconds: max(0, Int(rest / .microseconds(1))))
    if state.withLock({ $0.rest > patience }) { giveUp(isHeld: false) }
  }

  /// Does not wait again until the file is twice as long, or until it has grown by one limit.
  func giveUp(isHeld: Bool) {
    state.withLock { state in
      // A later attempt has only the last commit's pages to copy: it says nothing if none was copied.
      let isHeld = isHeld && state.rest == Self.firstRest
      state.waitsAt = isHeld ? state.walPages * 2 : state.walPages + Self.pageLimit
      state.rest = Self.firstRest
    }
  }
}
