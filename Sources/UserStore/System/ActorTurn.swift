/// The time for which a series of calls may hold an actor, until the actor's other work gets a turn.
struct ActorTurn {
  /// A quarter of a frame at 60 Hz.
  private static let length = Duration.milliseconds(4)

  private var start = ContinuousClock.now

  /// Lets the actor's other work run if the turn is over, and begins the next turn.
  mutating func yieldIfOver() async {
    guard ContinuousClock.now - start >= Self.length else { return }
    await Task.yield()
    start = .now
  }
}
