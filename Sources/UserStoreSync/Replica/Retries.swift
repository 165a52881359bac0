/// How long a replica waits before it tries again: the clock and the randomness of its pauses.
package struct Retries: Sendable {
  /// The time since some moment.
  package let now: @Sendable () -> Duration
  package let sleep: @Sendable (Duration) async throws -> Void
  /// A number from 0 up to 1.
  package let random: @Sendable () -> Double

  package init(
    now: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void,
    random: @escaping @Sendable () -> Double
  ) {
    (self.now, self.sleep, self.random) = (now, sleep, random)
  }

  init() {
    let start = ContinuousClock.now
    self.init(
      now: { ContinuousClock.now - start }, sleep: { try await Task.sleep(for: $0) }, random: { .random(in: 0..<1) })
  }

  private static let shortest = Duration.milliseconds(500)
  private static let longest = Duration.seconds(60)
  /// A server may ask for more than `longest`, but not for days.
  static let longestAsked = Duration.seconds(3_600)

  /// The pause after so many failures in a row: twice as long each time, and at random from its half on, so that a thousand replicas
  /// do not return at once.
  func delay(after failures: Int) -> Duration {
    min(Self.longest, Self.shortest * (1 << min(failures - 1, 10))) * (0.5 + random() / 2)
  }

  /// Waits if an answer without news came sooner than a second after its request: a proxy may not let the server wait.
  func pauseIfSoon(after asked: Duration) async throws {
    let taken = now() - asked
    if taken < .seconds(1) { try await sleep(.seconds(1) - taken) }
  }
}
