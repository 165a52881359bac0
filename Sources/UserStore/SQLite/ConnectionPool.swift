/// Connections that are lent to one thread at a time: one for writing, or a few for reading.
///
/// Nothing is locked while one is lent: whoever wants one that is not there sleeps until it comes back.
final class ConnectionPool: Sendable {
  /// A connection on loan, with what is remembered of its last transaction.
  ///
  /// Unchecked: the pool lends it to one thread at a time, and the pool's lock orders what one did before the next.
  final class Lease: @unchecked Sendable {
    let connection: Connection
    /// What `PRAGMA data_version` said last.
    var dataVersion: Int64 = .min
    /// The end of the log when that was read, or after the last own commit.
    var head: Cursor?

    init(_ connection: consuming Connection) {
      self.connection = consume connection
    }
  }

  private struct State {
    var idle: [Lease] = []
    var opened = 0
    var isClosed = false
    var waiters: [Parker] = []
  }

  private let open: @Sendable () throws(StoreError) -> Connection
  private let limit: Int
  private let closing: @Sendable (Lease) -> Void
  private let state: Lock<State>

  /// - Parameters:
  ///   - limit: How many there are at most.
  ///   - closing: Called with each connection that is about to close because the pool was closed, on the thread that
  ///     closed the pool or gives the connection back.
  ///   - open: Opens one; called when all are lent and the limit allows.
  init(
    limit: Int, closing: @escaping @Sendable (Lease) -> Void = { _ in },
    open: @escaping @Sendable () throws(StoreError) -> Connection
  ) {
    self.limit = limit
    self.open = open
    self.closing = closing
    state = Lock(State())
  }

  /// Puts a connection in that is open already.
  func adopt(_ connection: consuming sending Connection) {
    let lease = Lease(connection)
    state.withLock { state in
      state.opened += 1
      state.idle.append(lease)
    }
  }

  private enum Answer: Sendable {
    case lease(Lease)
    case open, wait, closed
  }

  /// Borrows a connection; waits for one when all are lent.
  ///
  /// - Throws: `StoreError.closed`, and what opening one throws.
  func take() throws(StoreError) -> Lease {
    var parker: Parker?
    while true {
      let waiter = parker
      let answer: Answer = state.withLock { state in
        if state.isClosed { return .closed }
        if let lease = state.idle.popLast() { return .lease(lease) }
        if state.opened < limit {
          state.opened += 1
          return .open
        }
        if let waiter { state.waiters.append(waiter) }
        return .wait
      }
      switch answer {
      case .lease(let lease): return lease
      case .closed: throw StoreError(.closed, "the store is closed")
      case .open: return try opened()
      case .wait:
        if let parker { parker.park() } else { parker = Parker() }
      }
    }
  }

  /// Gives a connection back, or, when it is not to be used again, none in its place.
  func give(back lease: Lease?) {
    // Whoever ended his transaction may have failed at that: an open one would keep others from writing, and the -wal
    // file from being cleaned up.
    if let lease { lease.connection.rollBack() }
    let (waiter, isClosed) = state.withLock { state in
      if let lease, !state.isClosed { state.idle.append(lease) } else { state.opened -= 1 }
      return (state.waiters.isEmpty ? nil : state.waiters.removeFirst(), state.isClosed)
    }
    if let lease, isClosed { willClose(lease) }
    waiter?.wake()
  }

  /// Lends no more.
  ///
  /// Those that are idle are closed now, one after another, the others when they come back.
  func close() {
    var (leases, waiters) = state.withLock { state in
      defer {
        state.isClosed = true
        state.opened -= state.idle.count
        state.idle = []
        state.waiters = []
      }
      return (state.idle, state.waiters)
    }
    for waiter in waiters { waiter.wake() }
    while let lease = leases.popLast() { willClose(lease) }
  }

  private func willClose(_ lease: Lease) {
    lease.connection.endInterrupts()
    closing(lease)
  }

  private func opened() throws(StoreError) -> Lease {
    do { return Lease(try open()) } catch {
      give(back: nil)
      throw error
    }
  }
}
