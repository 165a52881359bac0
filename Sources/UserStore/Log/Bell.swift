/// Wakes the feeds when there may be more of the log.
///
/// A stream keeps at most one ring until it is read: a feed that wakes reads the log to its end.
package final class Bell: Sendable {
  private let state = Lock(State())

  private struct State {
    var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
    var nextKey = 0
    var isClosed = false
  }

  package struct Rings: Sendable {
    package let stream: AsyncStream<Void>
    /// Wakes only this feed.
    package let ring: @Sendable () -> Void
  }

  /// The rings from now on, until the stream is released or the store is closed.
  func rings() -> Rings {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let key = state.withLock { state -> Int? in
      if state.isClosed { return nil }
      state.nextKey += 1
      state.listeners[state.nextKey] = continuation
      return state.nextKey
    }
    if let key {
      continuation.onTermination = { [weak self] _ in self?.remove(key) }
    } else {
      continuation.finish()
    }
    return Rings(stream: stream) { continuation.yield() }
  }

  /// Wakes all feeds, without the lock: the cancellation of a feed may need it.
  func ring() {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield() }
  }

  var isClosed: Bool { state.withLock { $0.isClosed } }

  func close() {
    let listeners = state.withLock { state in
      defer { state.listeners = [:] }
      state.isClosed = true
      return state.listeners.values
    }
    for listener in listeners { listener.finish() }
  }

  /// The continuation is returned from the lock, so that it is released outside of it.
  private func remove(_ key: Int) { _ = state.withLock { $0.listeners.removeValue(forKey: key) } }
}
