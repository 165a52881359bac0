/// Sends values to a listenable, a signal, or observers.
///
///     let (source, signal) = Signal<Int>.make()
///     let token = signal.subscribe { print($0) }
///     source.send(1)
///
/// A source does not keep its listenable, its signal, or its observers alive. When the source is released, its signal or listenable ends.
public final class SignalSource<Value: Sendable>: Sendable {
  let hub: SignalHub

  @usableFromInline init(_ receiver: SignalReceiver) { hub = receiver.hub }

  deinit { end() }

  /// Sends a value to all listeners.
  ///
  /// Can be called on any thread. When it returns, every inline listener has been called. Inside of a listener, of this source
  /// or another, the listeners are called at the end of the current round, so that no listener is left with a stale value.
  ///
  /// When listeners that send have caused 1,000 rounds, the next value is not sent, and the error handler is called with
  /// `TooManyRounds`.
  ///
  /// - Parameter value: The value.
  @inlinable public func send(_ value: Value) { post(ValueBox(value)) }

  /// Sends a failure, which does not end a signal.
  ///
  /// A listenable keeps its value, and its named listeners are not called. Subscribers of its `signal` receive the failure,
  /// and its error handler is called with it.
  ///
  /// - Parameter error: The error.
  public func fail(_ error: any Error) { hub.send(.failure(error)) }

  /// Ends the signal or listenable after the values that were sent before; later values are dropped.
  public func end() { hub.end() }

  @usableFromInline func post(_ value: ErasedValue) { hub.send(.success(value)) }
}

/// The error when listeners that send or write, or the members of a chain, caused too many rounds; the last one was not made.
public struct TooManyRounds: Error, CustomStringConvertible {
  /// The names of those that caused rounds, in the order of their first round.
  public let listeners: [String]

  /// A description of the error.
  public var description: String {
    "too many rounds: these keep triggering each other: \(listeners.joined(separator: ", "))"
  }
}

/// Holds a hub for its receivers, and ends it when the last one is released.
///
///     Listenable, Signal, Observers, tokens ──▶ SignalReceiver ──▶ hub ◀── SignalSource
///
/// A source must not keep what its listeners hold alive. It could hold the hub weakly instead, but a weak reference took a third
/// of the time of a call of one listener.
@usableFromInline final class SignalReceiver: Sendable {
  @usableFromInline let hub: SignalHub

  @usableFromInline init(_ hub: SignalHub) { self.hub = hub }

  @usableFromInline convenience init(reportingTo onError: ListenerErrors.Handler?) {
    self.init(SignalHub(onError: onError ?? ListenerErrors.print))
  }

  deinit {
    // No one can read the value any more. It is released under no lock.
    let kept = hub.state.withLock { $0.kept.take() }
    withExtendedLifetime(kept) {}
    // Named listeners receive what was sent before.
    hub.end(waits: false)
  }

  /// Registers a listener without a name, whose token holds the receiver.
  @usableFromInline func listen(_ terms: ListeningTerms, _ action: @escaping SignalAction) -> SubscriptionToken {
    let removal = hub.register(
      nil, to: .all, on: terms.place, owner: nil, onEnd: terms.onEnd, SignalRound.Action(action))
    return SubscriptionToken { [registration = removal.registration] in self.hub.remove(registration) }
  }
}
