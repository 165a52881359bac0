/// Values over time, with operators that combine them.
///
///     let (source, signal) = Signal<String>.make()
///     let token = signal.map(\.count).removeDuplicates().subscribe { print($0) }
///     source.send("Zoë")
///
/// A signal is a recipe: each subscription runs its own operators. `share` runs them once for all subscriptions.
///
/// - **Order**: a subscriber is never called twice at the same time, and receives values in the order in which they were sent.
/// - **Errors**: a failure is an event like a value, and does not end a signal. An error that a subscriber throws goes to the
///   error handler of the source; the other subscribers are called.
/// - **End**: a signal ends when no value can come any more: its source was released, or its store was closed. Each subscriber
///   receives the end once, and is released.
/// - **Lifetime**: a subscription lives as long as its token, and holds the signal that it is subscribed to. A `SignalSource`
///   does not hold its signal.
public struct Signal<Value: Sendable>: Sendable {
  /// An event of a signal.
  public enum Event: Sendable {
    /// A value.
    case value(Value)
    /// An error in place of a value; other events may follow.
    case failure(any Error)
    /// The end; nothing follows.
    case end
  }

  @usableFromInline typealias Observer = @Sendable (Event) throws -> Void

  /// Higher than the rank of every signal that this one is made from: a combined signal waits for all its sources.
  @usableFromInline let rank: Int
  /// Called with errors that subscribers throw; the error handler of the source, also for signals made from this one.
  @usableFromInline let onError: ListenerErrors.Handler
  @usableFromInline let attach: @Sendable (ListeningTerms, @escaping Observer) -> SubscriptionToken

  /// - Parameters:
  ///   - rank: See the property.
  ///   - onError: See the property.
  ///   - attach: Delivers events to an observer, one at a time and in order, none after `end`, until the token is disposed.
  @inlinable init(
    rank: Int, onError: @escaping ListenerErrors.Handler = ListenerErrors.print,
    attach: @escaping @Sendable (ListeningTerms, @escaping Observer) -> SubscriptionToken
  ) {
    self.rank = rank
    self.onError = onError
    self.attach = attach
  }

  // MARK: Sources

  /// Makes a signal and the source that sends to it; all subscribers receive the same values.
  ///
  /// - Parameter onError: Called with errors that subscribers throw, on the thread that called the subscriber. The default
  ///   prints a line to standard error.
  /// - Returns: the source and the signal.
  @inlinable public static func make(
    onError: (@Sendable (_ listener: String?, any Error) -> Void)? = nil
  ) -> (source: SignalSource<Value>, signal: Signal) {
    let hub = SignalHub(reportingTo: onError)
    return (SignalSource(hub), Signal(hub, rank: 0))
  }

  /// Makes a signal with a separate source for each subscription.
  ///
  /// - Parameter connect: Called for each subscription, on the thread that subscribes. It begins to send to the source, and
  ///   returns a token that ends that. The signal ends when the source ends or is released.
  public init(_ connect: @escaping @Sendable (SignalSource<Value>) -> SubscriptionToken) {
    self.init(rank: 0, connect: connect)
  }

  /// Makes a signal from other signals.
  ///
  /// Values that arrive in one round are emitted at the end of that round, each in a round of its own, in the order in
  /// which they arrived.
  ///
  /// - Parameters:
  ///   - rank: Higher than the ranks of the signals that `connect` attaches to.
  ///   - onError: Called with errors that subscribers throw.
  ///   - connect: See above. The token that it returns is disposed when the subscription or the source ends.
  init(
    rank: Int, onError: @escaping ListenerErrors.Handler = ListenerErrors.print,
    connect: @escaping @Sendable (SignalSource<Value>) -> SubscriptionToken
  ) {
    self.init(rank: rank, onError: onError) { terms, observer in
      let hub = SignalHub(rank: rank, onError: onError)
      let upstream = TokenSlot()
      let token = Signal(hub, rank: rank).attach(terms) { event in
        if case .end = event { upstream.close() }
        try observer(event)
      }
      upstream.put(connect(SignalSource(hub)))
      return SubscriptionToken {
        token.dispose()
        upstream.close()
      }
    }
  }

  @inlinable init(_ hub: SignalHub, rank: Int) {
    self.init(rank: rank, onError: hub.handleError) { terms, observer in
      var terms = terms
      terms.onEnd = { try observer(.end) }
      return hub.listen(terms) { try observer(Event($0.content)) }
    }
  }

  // MARK: Subscribing

  /// Calls a closure with each value for as long as the token is held.
  ///
  /// - Parameters:
  ///   - place: The place where `action` and the operators before it are called.
  ///   - action: Called with the values, in order; not with failures. It may send, subscribe and dispose.
  /// - Returns: the token; releasing it ends the subscription immediately, also for the round that is being delivered.
  @inlinable public func subscribe(
    on place: DeliveryPlace = .inline, _ action: @escaping @Sendable (Value) throws -> Void
  ) -> SubscriptionToken {
    attach(ListeningTerms(place: place)) { event in
      if case .value(let value) = event { try action(value) }
    }
  }

  /// Calls a closure with values, failures and the end for as long as the token is held.
  ///
  /// - Parameters:
  ///   - place: The place where `action` and the operators before it are called.
  ///   - action: Called with the events, in order.
  /// - Returns: the token; releasing it ends the subscription immediately, also for the round that is being delivered.
  @inlinable public func subscribeToEvents(
    on place: DeliveryPlace = .inline, _ action: @escaping @Sendable (Event) throws -> Void
  ) -> SubscriptionToken {
    attach(ListeningTerms(place: place), action)
  }

  /// Calls a closure on the main actor with each value for as long as the token is held.
  ///
  /// The present value of a listenable is delivered before this method returns, unless the signal combines several.
  ///
  /// - Parameters:
  ///   - place: `.main`.
  ///   - action: Called on the main actor with the values, in order; not with failures.
  /// - Returns: the token; releasing it ends the subscription immediately, also for the round that is being delivered.
  @MainActor @inlinable public func subscribe(
    on place: MainActorPlace, _ action: @escaping @MainActor @Sendable (Value) throws -> Void
  ) -> SubscriptionToken {
    attach(ListeningTerms(place: .mainActor, isOnPlace: true)) { event in
      if case .value(let value) = event { try MainActor.assumeIsolated { try action(value) } }
    }
  }

  /// Calls a closure on the main actor with values, failures and the end for as long as the token is held.
  ///
  /// The present value of a listenable is delivered before this method returns, unless the signal combines several.
  ///
  /// - Parameters:
  ///   - place: `.main`.
  ///   - action: Called on the main actor with the events, in order.
  /// - Returns: the token; releasing it ends the subscription immediately, also for the round that is being delivered.
  @MainActor @inlinable public func subscribeToEvents(
    on place: MainActorPlace, _ action: @escaping @MainActor @Sendable (Event) throws -> Void
  ) -> SubscriptionToken {
    attach(ListeningTerms(place: .mainActor, isOnPlace: true)) { event in
      try MainActor.assumeIsolated { try action(event) }
    }
  }
}

extension Signal.Event {
  @inlinable init(_ content: SignalRound.Content) {
    switch content {
    case .success(let value): self = .value(ValueBox.unbox(value))
    case .failure(let error): self = .failure(error)
    }
  }

  @inlinable init(_ result: Result<Value, any Error>) {
    switch result {
    case .success(let value): self = .value(value)
    case .failure(let error): self = .failure(error)
    }
  }
}
