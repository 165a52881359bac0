import HTTPTypes
import Synchronization

/// The open connections, limited to the number that the process can hold.
///
/// At the limit, a new connection replaces the one that has been idle the longest; if none is idle, it is refused.
final class Connections: Sendable {
  private struct State {
    var count = 0
    var last = 0
    /// Closes each idle connection; the keys are in the order in which they became idle.
    var idle: [Int: @Sendable () -> Void] = [:]
  }

  let limit: Int
  private let state = Mutex(State())

  init(_ limit: Int) { self.limit = limit }

  /// Adds a busy connection; returns false if it must be refused.
  func open() -> Bool {
    let (hasRoom, close) = state.withLock { state in
      state.count += 1
      if state.count <= limit { return (true, nil as (@Sendable () -> Void)?) }
      let close = state.idle.keys.min().flatMap { state.idle.removeValue(forKey: $0) }
      return (close != nil, close)
    }
    close?()
    return hasRoom
  }

  func closed() { state.withLock { $0.count -= 1 } }

  /// Notes that a connection is idle, and returns its place among the idle ones; `close` is called at most once.
  func becameIdle(_ close: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.last += 1
      state.idle[state.last] = close
      return state.last
    }
  }

  func becameBusy(_ place: Int) { state.withLock { _ = $0.idle.removeValue(forKey: place) } }
}

extension Problem {
  static func tooManyConnections(_ limit: Int) -> Problem {
    Problem(
      .serviceUnavailable, "tooManyConnections", "\(limit) connections are in use", hint: "try again later",
      retryAfter: 1)
  }
}
