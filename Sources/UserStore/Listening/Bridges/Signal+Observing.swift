public import Observation

extension Signal {
  /// Makes a signal of a property of an `@Observable` object on the main actor: its present value, then each new value.
  ///
  ///     let title = Signal(observing: model, \.title)
  ///
  /// `withObservationTracking` reports a change once, before it is made, when the property still has its old value. So the
  /// property is read on the next turn of the main actor, and observed again there.
  ///
  /// - **Order and coalescing**: values come in order, on the main actor. Of several changes in one turn only the last value
  ///   comes. A value that is set again comes again if Observation reports it; `removeDuplicates` leaves out equal values.
  /// - **Consistency**: properties that change in one turn, of one object or of several, are delivered in one round. So a
  ///   signal that combines them (`combineLatest`) emits one value with all changes.
  /// - **Lifetime**: the object is held weakly. It is observed as long as the signal, a signal made from it, or a subscription
  ///   is held; all of them share one observation. The key path may lead through other observable objects.
  /// - **End**: on the main actor, soon after the object was released. If the key path leads through objects that live on, the
  ///   end may come only when the value changes there the next time.
  /// - A property that Observation does not track (`@ObservationIgnored`, a constant) has only its first value.
  ///
  /// This works only on the main actor. An object that changes on several threads has no “next turn” in which the new value is
  /// set for certain, and a key path cannot read a property of another actor from outside.
  ///
  /// - Parameters:
  ///   - object: The object; it must change only on the main actor.
  ///   - keyPath: The property: stored, computed, or of another object.
  @MainActor public init<Object: AnyObject & Observable>(observing object: Object, _ keyPath: KeyPath<Object, Value>) {
    let property = ObservedProperty { [weak object] in object.map { $0[keyPath: keyPath] } }
    guard let present = property.read() else { preconditionFailure("the caller holds the object") }
    let (source, value) = Listenable.make(present)
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

  /// - Parameter value: Reads the property; nil when the object is gone.
  init(_ value: @escaping () -> Value?) {
    self.value = value
  }

  /// Reads the property, and waits for its next change.
  func read() -> Value? {
    // Only the registrar of the object holds the wait, so that it goes with the object.
    ObservationWait.begin(value) { [weak self] outcome in self?.receive(outcome) }.value
  }

  private func receive(_ outcome: ObservationWait.Outcome) -> ObservationTurn.Delivery? {
    switch outcome {
    case .changed:
      // The next wait begins before the value is sent, so that a change that a subscriber makes is noticed too.
      guard let value = read() else { return end }
      return { [source] in source?.send(value) }
    case .released:
      // Either the object is gone, or Observation does not track the property, and it keeps its first value.
      return value() == nil ? end : nil
    }
  }

  private func end() { source = nil }
}
