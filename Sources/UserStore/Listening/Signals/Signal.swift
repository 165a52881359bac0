/// Values over time, to be subscribed to and put together with operators.
///
///     let (source, signal) = Signal<String>.make()
///     let token = signal.map(\.count).removeDuplicates().subscribe { print($0) }
///     source.send("Zoë")
///
/// A signal is a recipe: each subscription runs its operators by itself (`share` runs them once for all).
///
/// - **Order**: one subscription is never called twice at the same time, and hears values in the order in which they
///   were sent.
/// - **Errors**: a failure is a value of another kind and does not end a signal. What a subscriber throws goes to the
///   error handler of the source, and stops nobody.
/// - **End**: a signal ends when nothing can come any more: the source was released, the store closed. Subscribers are told
///   once, and let go.
/// - **Lifetime**: a subscription lives as long as its token, and keeps the source of the signal alive; a source does not.
public struct Signal<Value: Sendable>: Sendable {
  /// What a signal tells its subscribers.
  public enum Event: Sendable {
    /// A value.
    case value(Value)
    /// A value that could not be had; others may follow.
    case failure(any Error)
    /// Nothing follows.
    case end
  }

  @usableFromInline typealias Observer = @Sendable (Event) throws -> Void

  /// Greater than the rank of every signal that this one is made from: what is made of several waits for all of them.
  @usableFromInline let rank: Int
  /// Gets what subscribers throw: that of the source, for what is made from this signal too.
  @usableFromInline let onError: ListenerErrors.Handler
  @usableFromInline let attach: @Sendable (ListeningTerms, @escaping Observer) -> SubscriptionToken

  /// - Parameters:
  ///   - rank: As of the property.
  ///   - onError: As of the property.
  ///   - attach: Lets an observer hear events, one at a time and in order, none after `end`; the token ends that.
  @inlinable init(
    rank: Int, onError: @escaping ListenerErrors.Handler = ListenerErrors.print,
    attach: @escaping @Sendable (ListeningTerms, @escaping Observer) -> SubscriptionToken
  ) {
    self.rank = rank
    self.onError = onError
    self.attach = attach
  }

  // MARK: Sources

  /// Makes a signal that its source sends to; all subscribers hear the same values.
  ///
  /// - Parameter onError: Gets what subscribers throw, on the thread that called them. A line on standard error unless
  ///   said otherwise.
  /// - Returns: the right to send, and the right to listen.
  @inlinable public static func make(
    onError: (@Sendable (_ listener: String?, any Error) -> Void)? = nil
  ) -> (source: SignalSource<Value>, signal: Signal) {
    let hub = SignalHub(reportingTo: onError)
    return (SignalSource(hub), Signal(hub, rank: 0))
  }

  /// A signal with a source of its own for each subscription.
  ///
  /// - Parameter connect: Called with each subscription, on its thread: begins to send, and returns what ends that. The
  ///   signal ends when the source does, or is released.
  public init(_ connect: @escaping @Sendable (SignalSource<Value>) -> SubscriptionToken) {
    self.init(rank: 0, connect: connect)
  }

  /// The same for what is made from other signals: values that arrive in one round leave at the end of that round, each
  /// in a round of its own, in the order in which they arrived.
  ///
  /// - Parameters:
  ///   - rank: Greater than those of the signals that `connect` attaches to.
  ///   - onError: Gets what subscribers throw.
  ///   - connect: As above. What it returns is disposed of with the subscription, or when the source ends.
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

  /// Calls `action` with each value until the token goes.
  ///
  /// - Parameters:
  ///   - place: Where `action` and the operators before it are called.
  ///   - action: Gets the values, in order. It may send, subscribe and dispose. Failures are passed over.
  /// - Returns: the token: releasing it ends the subscription, at once, also for the round in flight.
  @inlinable public func subscribe(
    on place: DeliveryPlace = .inline, _ action: @escaping @Sendable (Value) throws -> Void
  ) -> SubscriptionToken {
    attach(ListeningTerms(place: place)) { event in
      if case .value(let value) = event { try action(value) }
    }
  }

  /// Calls `action` with values, failures and the end.
  ///
  /// - Parameters:
  ///   - place: Where `action` and the operators before it are called.
  ///   - action: Gets the events, in order.
  /// - Returns: the token: releasing it ends the subscription.
  @inlinable public func subscribeToEvents(
    on place: DeliveryPlace = .inline, _ action: @escaping @Sendable (Event) throws -> Void
  ) -> SubscriptionToken {
    attach(ListeningTerms(place: place), action)
  }

  /// Calls `action` on the main actor with each value until the token goes.
  ///
  /// The present value of a listenable comes before this returns, unless the signal is made from several.
  ///
  /// - Parameters:
  ///   - place: `.main`.
  ///   - action: Called on the main actor.
  /// - Returns: the token: releasing it ends the subscription.
  @MainActor @inlinable public func subscribe(
    on place: MainActorPlace, _ action: @escaping @MainActor @Sendable (Value) throws -> Void
  ) -> SubscriptionToken {
    attach(ListeningTerms(place: .mainActor, isOnPlace: true)) { event in
      if case .value(let value) = event { try MainActor.assumeIsolated { try action(value) } }
    }
  }

  /// Calls `action` on the main actor with values, failures and the end.
  ///
  /// The present value of a listenable comes before this returns, unless the signal is made from several.
  ///
  /// - Parameters:
  ///   - place: `.main`.
  ///   - action: Called on the main actor with the events, in order.
  /// - Returns: the token: releasing it ends the subscription.
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
