import Synchronization

/// Wakes the streams after a commit.
final class Bell: Sendable {
  private typealias Ringing = (last: Int, streams: [Int: AsyncStream<Void>.Continuation])
  private let ringing = Mutex<Ringing>((0, [:]))

  func ring() {
    for stream in ringing.withLock({ Array($0.streams.values) }) { stream.yield() }
  }

  /// Yields an element now, and after each `ring`; several that nobody has awaited become one.
  func rings() -> AsyncStream<Void> {
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let number = ringing.withLock { ringing in
      ringing.last += 1
      ringing.streams[ringing.last] = continuation
      return ringing.last
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.ringing.withLock { $0.streams.removeValue(forKey: number) }
    }
    continuation.yield()
    return stream
  }
}
