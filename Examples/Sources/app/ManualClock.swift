import UserStore

/// A clock that stands still until the program moves it, so that tests do not wait.
final class ManualClock: Clock, Sendable {
  struct Instant: InstantProtocol {
    var offset: Duration

    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private let (source, time) = Listenable.make(Instant(offset: .zero))

  var now: Instant { time.value }
  var minimumResolution: Duration { .zero }

  func advance(by duration: Duration) { source.send(now.advanced(by: duration)) }

  func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    for await now in time.values where now >= deadline { return }
    throw CancellationError()
  }
}
