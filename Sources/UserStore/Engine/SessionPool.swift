/// Sessions that are lent to one thread at a time: one for writing, or a few for reading.
///
/// Nothing is locked while one is lent: whoever wants one that is not there sleeps until it comes back.
final class SessionPool: Sendable {
  private struct State {
    var idle: [any Session] = []
    var opened = 0
    var isClosed = false
    var waiters: [Parker] = []
  }

  private let open: @Sendable () throws(StoreError) -> any Session
  private let limit: Int
  private let state: Lock<State>

  /// - Parameters:
  ///   - limit: How many there are at most.
  ///   - session: One that is open already.
  ///   - open: Opens one; called when all are lent and the limit allows.
  init(
    limit: Int, adopting session: (any Session)? = nil,
    open: @escaping @Sendable () throws(StoreError) -> any Session = { () throws(StoreError) in throw SessionPool.closed
    }
  ) {
    self.limit = limit
    self.open = open
    var initial = State()
    if let session { (initial.idle, initial.opened) = ([session], 1) }
    state = Lock(initial)
  }

  private static var closed: StoreError { StoreError(.closed, "the store is closed") }

  private enum Answer: Sendable {
    case session(any Session)
    case open, wait, closed
  }

  /// Borrows a connection; waits for one when all are lent.
  ///
  /// - Throws: `StoreError.Code.closed`, and what opening one throws.
  func take() throws(StoreError) -> any Session {
    var parker: Parker?
    while true {
      let waiter = parker
      let answer: Answer = state.withLock { state in
        if state.isClosed { return .closed }
        if let session = state.idle.popLast() { return .session(session) }
        if state.opened < limit {
          state.opened += 1
          return .open
        }
        if let waiter { state.waiters.append(waiter) }
        return .wait
      }
      switch answer {
      case .session(let session): return session
      case .closed: throw Self.closed
      case .open: return try opened()
      case .wait:
        if let parker { parker.park() } else { parker = Parker() }
      }
    }
  }

  /// Gives a session back, or, when it is not to be used again, none in its place.
  func give(back session: (any Session)?) {
    // The transaction may have failed to end: an open one would keep others from writing, and the -wal file from being
    // cleaned up.
    session?.rollBack()
    let (waiter, isClosed) = state.withLock { state in
      if let session, !state.isClosed { state.idle.append(session) } else { state.opened -= 1 }
      return (state.waiters.isEmpty ? nil : state.waiters.removeFirst(), state.isClosed)
    }
    if isClosed { session?.prepareToClose() }
    waiter?.wake()
  }

  /// Lends no more.
  ///
  /// Idle sessions are closed now, one after another, the others when they come back.
  func close() {
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

  private func opened() throws(StoreError) -> any Session {
    do { return try open() } catch {
      give(back: nil)
      throw error
    }
  }
}
