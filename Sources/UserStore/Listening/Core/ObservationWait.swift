import Observation

/// A wait for the next change of the observed properties that a closure reads.
///
///     object's registrar ──▶ tracking closure ──▶ ObservationWait ──▶ action
///
/// `withObservationTracking` calls its closure once, before the change is made, when the properties still have their old values.
/// So the action is called on the next turn of the main actor, where it reads the new values and starts another wait.
final class ObservationWait: Sendable {
  enum Outcome: Sendable {
    /// A property changed, by the call of a listener if there is a cause.
    case changed(RoundCause?)
    /// Nothing holds the wait, so no change can follow: the registrar was released with its object, or tracks no such property.
    case released
  }

  /// Reads the properties that changed, and returns the delivery that follows when all properties were read.
  typealias Action = @MainActor @Sendable (Outcome) -> ObservationTurn.Delivery?

  private let action: Lock<Action?>

  private init(_ action: @escaping Action) {
    self.action = Lock(action)
  }

  deinit { fire(.released) }

  /// Reads properties now, and calls an action once, on the main actor, after the next change of one of them.
  ///
  /// - Returns: The value that was read, and the wait. As long as the caller holds the wait, the outcome is never `released`.
  @MainActor static func begin<Value>(
    _ read: () -> Value, _ action: @escaping Action
  ) -> (value: Value, wait: ObservationWait) {
    let wait = ObservationWait(action)
    // The cause is taken here and not on the next turn: a change by a custom block belongs to the block's round.
    let value = withObservationTracking(read) { wait.fire(.changed(.current)) }
    return (value, wait)
  }

  var hasFired: Bool { action.withLock { $0 == nil } }

  private func fire(_ outcome: Outcome) {
    guard let action = action.withLock({ $0.take() }) else { return }
    ObservationTurn.add { action(outcome) }
  }
}

/// The properties that changed since the last turn of the main actor: all of them are read, then delivered in one round.
///
/// In separate rounds, two combined properties would first show one new value with one old value.
enum ObservationTurn {
  typealias Delivery = @MainActor () -> Void
  typealias Reading = @MainActor @Sendable () -> Delivery?

  private static let waiting = Lock<[Reading]>([])

  static func add(_ reading: @escaping Reading) {
    let isFirst = waiting.withLock { waiting in
      waiting.append(reading)
      return waiting.count == 1
    }
    if isFirst { Task { @MainActor in deliver() } }
  }

  @MainActor private static func deliver() {
    let deliveries = waiting.withLock { exchange(&$0, with: []) }.compactMap { $0() }
    let thread = DeliveryThread.current
    // So that the rounds of the deliveries are deferred to the end.
    thread.enter(MainActor.shared, isTransaction: true)
    for deliver in deliveries { deliver() }
    thread.leave(MainActor.shared, isTransaction: true)
    thread.runDeferred()
  }
}
