public import Observation

extension Signal {
  /// Creates a signal of a property of an `@Observable` object on the main actor: its current value, then each new value.
  ///
  ///     let title = Signal(observing: model, \.title)
  ///
  /// `withObservationTracking` reports a change once, before it is made, when the property still has its old value. So the
  /// property is read on the next turn of the main actor, and observed again there.
  ///
  /// - **Order and coalescing**: values are emitted in order, on the main actor; of several changes in one turn, only the last
  ///   value. Setting an equal value emits it again if Observation reports it; `removeDuplicates` drops it.
  /// - **Consistency**: properties that change in one turn, of one object or of several, are delivered in one round, so
  ///   `combineLatest` emits one value with all changes.
  /// - **Lifetime**: the object is held weakly. It is observed as long as the signal, a signal made from it, or a subscription
  ///   is held; all of them share one observation. The key path may lead through other observable objects.
  /// - **End**: on the main actor, soon after the object was released. If the key path leads through objects that stay alive,
  ///   the signal may end only at the next change there.
  /// - A property that Observation does not track (`@ObservationIgnored`, a constant) emits only its first value.
  ///
  /// This works only on the main actor. If an object changes on several threads, there is no “next turn” in which the new value
  /// is certain to be set, and a key path cannot read a property of another actor from outside.
  ///
  /// - Parameters:
  ///   - object: The object; it must change only on the main actor.
  ///   - keyPath: The property: stored, computed, or of another object.
  @MainActor public init<Object: AnyObject & Observable>(observing object: Object, _ keyPath: KeyPath<Object, Value>) {
    let property = ObservedProperty { [weak object] in object.map { $0[keyPath: keyPath] } }
    guard let current = property.read() else { preconditionFailure("the caller holds the object") }
    let (source, value) = Listenable.make(current)
    property.source = source
    self.init(rank: 0) { [attach = value.signal.attach] terms, observer in
      let token = attach(terms, observer)
      return SubscriptionToken {
        token.dispose()
        withExtendedLifetime(property) {}
      }
    }
  }
}

/// Observes a property, and sends its values.
///
///     signal, subscriptions ──▶ ObservedProperty ──▶ source
///                                      ▲
///       object's registrar ──▶ wait ──weak
@MainActor private final class ObservedProperty<Value: Sendable> {
  private let value: () -> Value?
  var source: SignalSource<Value>?

  init(_ value: @escaping () -> Value?) {
    self.value = value
  }

  /// Reads the property, and waits for its next change.
  func read() -> Value? {
    // Only the registrar of the object holds the wait, so that both are released together.
    ObservationWait.begin(value) { [weak self] outcome in self?.receive(outcome) }.value
  }

  private func receive(_ outcome: ObservationWait.Outcome) -> ObservationTurn.Delivery? {
    switch outcome {
    case .changed:
      // The next wait starts before the value is sent, so that a change that a subscriber makes is noticed too.
      guard let value = read() else { return end }
      return { [source] in source?.send(value) }
    case .released:
      // Either the object was released, or Observation does not track the property, and the signal keeps its first value.
      return value() == nil ? end : nil
    }
  }

  private func end() { source = nil }
}
