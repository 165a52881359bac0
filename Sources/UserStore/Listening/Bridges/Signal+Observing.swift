public import Observation

extension Signal {
  /// A property of an `@Observable` object on the main actor: the present value first, then each change.
  ///
  ///     let title = Signal(observing: model, \.title)
  ///
  /// `withObservationTracking` tells of a change once, before it is made, when the property still has its old value. So the
  /// property is read on the next turn of the main actor, and watched again there.
  ///
  /// - **Order and coalescing**: values come in order, from the main actor. Of several changes in one turn only the last
  ///   value comes. A value that is set again, equal or not, comes as Observation tells it; `removeDuplicates` passes over equals.
  /// - **Consistency**: properties that changed in one turn, of one object or several, are told in one round: what is
  ///   combined of them (`combineLatest`) has one new value, of all of them.
  /// - **Lifetime**: the object is held weakly. It is watched as long as the signal, one made from it, or a subscription is
  ///   held; all of them share one watch. The key path may lead through other observable objects.
  /// - **End**: on the main actor, soon after the object was released. Where the key path leads through objects that live
  ///   on, perhaps only when the value next changes there.
  /// - A property that Observation does not know (`@ObservationIgnored`, a constant) has its first value only.
  ///
  /// Only the main actor: an object that is changed on several threads has no “next turn” after which the new value is
  /// surely there, and another actor's property cannot be read by a key path from outside.
  ///
  /// - Parameters:
  ///   - object: Changed on the main actor only.
  ///   - keyPath: Which value; stored, computed, or through other objects.
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

/// Watches a property, and sends what it becomes.
///
///     signal, subscriptions ──▶ ObservedProperty ──▶ source
///                                      ▲
///       object's registrar ──▶ watch ─weak
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
      // The next wait begins before the value is sent: a change that a subscriber makes is noticed too.
      guard let value = read() else { return end }
      return { [source] in source?.send(value) }
    case .released:
      // The object is gone, or Observation does not know the property, and it keeps its first value.
      return value() == nil ? end : nil
    }
  }

  private func end() { source = nil }
}
