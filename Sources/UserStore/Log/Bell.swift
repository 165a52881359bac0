/// Wakes those who read the log by themselves: there may be more of it.
///
/// A ring is remembered until it is heard, one at most: who hears it reads everything that there is.
final class Bell: Sendable {
  private let state = Lock(State())

  private struct State {
    var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
    var nextKey = 0
    var isClosed = false
  }

  /// Rings until the stream is dropped; ends when the store is closed.
  func rings() -> AsyncStream<Void> {
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
    return stream
  }

  /// Rings.
  ///
  /// No lock is held while anybody is woken: their cancellation may need it.
  func ring() {
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield() }
  }

  /// Ends all streams.
  func close() {
    let listeners = state.withLock { state in
      defer { state.listeners = [:] }
      state.isClosed = true
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.finish() }
  }

  private func remove(_ key: Int) {
    let removed = state.withLock { $0.listeners.removeValue(forKey: key) }
    _ = removed
  }
}
