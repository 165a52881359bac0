/// Sessions that are lent to one thread at a time: one for writing, or a few for reading.
///
/// No lock is held while a session is lent. A thread that finds none sleeps until one is returned.
package final class SessionPool: Sendable {
  private struct State {
    var idle: [any Session] = []
    var opened = 0
    var isClosed = false
    var waiters: [Parker] = []
  }

  private let open: @Sendable () throws(StoreError) -> any Session
  let limit: Int
  /// The number of sessions beyond the limit for deliveries, which must not wait for readers: a reader may wait for a delivery.
  private let reserve: Int
  private let state: Lock<State>

  /// Creates a pool of up to `limit` sessions: `session`, if it is given, and those that `open` opens when all are lent.
  package init(
    limit: Int, reserve: Int = 0, adopting session: (any Session)? = nil,
    open: @escaping @Sendable () throws(StoreError) -> any Session = { () throws(StoreError) in throw SessionPool.closed
    }
  ) {
    self.limit = limit
    self.reserve = reserve
    self.open = open
    state = Lock(State(idle: session.map { [$0] } ?? [], opened: session == nil ? 0 : 1))
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  package static var closed: StoreError { StoreError(.closed, "the store is closed") }

  private enum Answer: Sendable {
    case session(any Session)
    case open, wait, closed
  }

  /// Borrows a session; when all are lent, waits for one, or throws `StoreError.Code.busy`.
  ///
  /// With `isDelivering`, the reserve is lent too.
  ///
  /// - Throws: `StoreError.Code.closed`, and the errors of opening a session.
  package func take(isWaiting: Bool = true, isDelivering: Bool = false) throws(StoreError) -> any Session {
    var parker: Parker?
    while true {
      let waiter = parker
      let answer: Answer = state.withLock { state in
        if state.isClosed { return .closed }
        if let session = state.idle.popLast() { return .session(session) }
        if state.opened < (isDelivering ? limit + reserve : limit) {
          state.opened += 1
          return .open
        }
        if let waiter { state.waiters.append(waiter) }
        return .wait
      }
      switch answer {
      case .session(let session): return session
      case .closed: throw Self.closed
      case .open:
        do { return try open() } catch {
          give(back: nil)
          throw error
        }
      case .wait:
        guard isWaiting else { throw StoreError(.busy, "all connections are in use") }
        if let parker { parker.park() } else { parker = Parker() }
      }
    }
  }

  /// Returns a session, or nil in place of one that must not be used again.
  package func give(back session: (any Session)?) {
    // If the transaction failed to end, it would block writers, and prevent the -wal file from being cleaned up.
    session?.rollBack()
    let (waiter, isClosed) = state.withLock { state in
      if let session, !state.isClosed { state.idle.append(session) } else { state.opened -= 1 }
      return (state.waiters.isEmpty ? nil : state.waiters.removeFirst(), state.isClosed)
    }
    if isClosed { session?.prepareToClose() }
    waiter?.wake()
  }

  /// Borrows a session that is open and not lent; nil if there is none.
  func takeIdle() -> (any Session)? { state.withLock { $0.idle.popLast() } }

  /// Lends no more sessions; closes idle sessions now, one after another, and the others when they are returned.
  package func close() {
    var (sessions, waiters) = state.withLock { state in
      defer {
        state.isClosed = true
        state.opened -= state.idle.count
        state.idle = []
        state.waiters = []
      }
      return (state.idle, state.waiters)
    }
    for waiter in waiters { waiter.wake() }
    while let session = sessions.popLast() { session.prepareToClose() }
  }
}
