/// Our own checkpoints, in place of SQLite's automatic ones.
///
/// SQLite 3.7.0 to 3.51.2 damages the database when a commit lands inside a second passive checkpoint (the WAL-reset
/// bug), and its automatic checkpoints are passive. Ours run on a connection of their own, while the writer's holds
/// the write lock, which keeps every commit out.
final class Checkpoints: Sendable {
  /// Pages in the -wal file from which on it is copied: what SQLite's automatic checkpoint takes too.
  static let pageLimit = 1_000

  private let pool: ConnectionPool
  /// Writes the whole file anew.
  let vacuum: @Sendable () throws(StoreError) -> Void
  private let state = Lock(State())

  private struct State {
    var walPages = 0
    var dueAt = Checkpoints.pageLimit
  }

  init(pool: ConnectionPool, vacuum: @escaping @Sendable () throws(StoreError) -> Void) {
    self.pool = pool
    self.vacuum = vacuum
  }

  /// How long the -wal file was after a commit.
  func note(walPages: Int) {
    state.withLock { state in
      state.walPages = walPages
      // It was begun anew: the last checkpoint got everything.
      if walPages < Self.pageLimit { state.dueAt = Self.pageLimit }
    }
  }

  var isDue: Bool { state.withLock { $0.walPages >= $0.dueAt } }

  /// Copies what can be copied.
  ///
  /// The caller's connection holds BEGIN IMMEDIATE.
  ///
  /// What a reader still needs stays; then it is tried again after as many pages more.
  func run() {
    state.withLock { $0.dueAt = $0.walPages + Self.pageLimit }
    guard let lease = try? pool.take() else { return }
    try? lease.connection.checkpoint()
    pool.give(back: lease)
  }

  func close() {
    pool.close()
  }
}
