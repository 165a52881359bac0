/// Our own checkpoints, in place of SQLite's automatic ones.
///
/// SQLite 3.7.0 to 3.51.2 damages the database when a commit lands inside a second passive checkpoint (the WAL-reset
/// bug), and its automatic checkpoints are passive. Ours run on a connection of their own, while the writer's holds
/// the write lock, which keeps every commit out.
final class Checkpoints: Sendable {
  /// Pages in the -wal file from which on it is copied: what SQLite's automatic checkpoint takes too.
  static let pageLimit = 1_000

  let patience: Duration
  private let pool: SessionPool
  /// Nil when every commit syncs it.
  private let unsynced: WALFile?
  let state = Lock(State())

  struct State {
    var walPages = 0
    var dueAt = Checkpoints.pageLimit
    /// From how many pages on readers are waited for.
    var waitsAt = Checkpoints.waitingLimit
    /// How long for those who began before all was copied.
    var rest = Checkpoints.firstRest
    /// Whether something was committed since the -wal file was seen to be on disk.
    var hasCommitted = false
  }

  init(pool: SessionPool, unsynced: WALFile?, patience: Duration) {
    self.pool = pool
    self.patience = patience
    self.unsynced = unsynced
  }

  /// How long the -wal file was after a commit.
  func note(walPages: Int) {
    state.withLock { state in
      // The file restarted: the last checkpoint copied everything.
      let isNew = walPages < max(state.walPages, Self.pageLimit)
      state.walPages = walPages
      state.hasCommitted = true
      if isNew {
        (state.dueAt, state.waitsAt, state.rest) = (Self.pageLimit, Self.waitingLimit, Self.firstRest)
      }
    }
  }

  var isDue: Bool { state.withLock { $0.walPages >= $0.dueAt } }

  /// Copies what can be copied.
  ///
  /// The caller's connection holds BEGIN IMMEDIATE.
  ///
  /// What a reader still needs stays; then it is tried again after as many pages more.
  ///
  /// - Parameter mayWait: Whether readers may be waited for, when the file has become far too long.
  /// - Returns: false when the -wal file is not on disk, and nothing may be copied.
  @discardableResult
  func run(mayWait: Bool = false) -> Bool {
    let waits = state.withLock { state in
      state.dueAt = state.walPages + Self.pageLimit
      return mayWait && state.walPages >= state.waitsAt
    }
    do { try syncWAL { true } } catch { return false }
    guard let session = try? pool.take() else { return true }
    defer { pool.give(back: session) }
    let own = SQLiteSession.own(session)
    let result = waits ? outwaitReaders(own) : try? own.connection.checkpoint()
    if let result { unsynced?.isSecured(frames: result.pages) }
    return true
  }

  /// Copies what can be copied once more, before the writer's connection closes, and closes the connection for that.
  ///
  /// The last connection to close, in whichever process, would copy it too. But that one may have no right to write. Only
  /// what another process's writer is in the middle of is not waited for: that writer closes later.
  ///
  /// - Parameters:
  ///   - session: The writer's, without a transaction.
  ///   - walPath: Where the -wal file is.
  /// - Returns: false when SQLite must not copy the -wal file on closing, because it is not on disk.
  func finish(on session: SQLiteSession, walPath: String) -> Bool {
    defer { pool.close() }
    let isLocked = (try? session.lock(isWaiting: false)) != nil
    defer { session.rollBack() }
    if isLocked, let size = try? Files.size(of: walPath), size > 0 { return run() }
    guard state.withLock({ $0.hasCommitted }) else { return true }
    // Without the lock nothing is written again: whoever has it syncs, at a checkpoint of its own.
    do { try syncWAL { isLocked } } catch { return false }
    return true
  }

  /// Syncs the -wal file that a commit has cut.
  func syncCut(_ path: String) throws(SystemError) {
    if let unsynced { try unsynced.sync() } else { try Files.sync(path) }
  }

  /// - Parameter lock: Sees to it that nobody else writes; only called when a sync has failed.
  /// - Throws: when it is not on disk.
  private func syncWAL(_ lock: () -> Bool) throws(SystemError) {
    guard let unsynced else { return }
    state.withLock { $0.hasCommitted = false }
    do throws(SystemError) {
      do throws(SystemError) { try unsynced.sync() } catch {
        guard lock() else { throw error }
        try unsynced.writeAgain()
      }
    } catch {
      // Whoever closes the store is to try once more.
      state.withLock { $0.hasCommitted = true }
      throw error
    }
  }
}
