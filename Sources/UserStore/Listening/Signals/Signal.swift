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
///   error handler of the source; the other subscribers are still called.
/// - **End**: a signal ends when no more values can arrive: its source was released, or its store was closed. Each subscriber
///   receives the end once, and is then released.
/// - **Operators** emit failures and the end unchanged, and call their closures for each subscription, in the subscriber's place,
///   unless their documentation says otherwise. An error that a closure throws is emitted as a failure in place of the value.
/// - **Lifetime**: a subscription lives as long as its token, and retains its signal. A `SignalSource` does not keep its signal.
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
  /// The error handler of the source, called with errors that subscribers throw; signals made from this one inherit it.
  @usableFromInline let onError: ListenerErrors.Handler
  /// Delivers events to an observer, one at a time and in order, none after `end`, until the token is disposed.
  @usableFromInline let attach: @Sendable (ListeningTerms, @escaping Observer) -> SubscriptionToken

  @inlinable init(
    rank: Int, onError: @escaping ListenerErrors.Handler = ListenerErrors.print,
    attach: @escaping @Sendable (ListeningTerms, @escaping Observer) -> SubscriptionToken
  ) {
    self.rank = rank
    self.onError = onError
    self.attach = attach
  }

  // MARK: Sources

  /// Creates a signal and the source that sends to it; all subscribers receive the same values.
  ///
  /// - Parameter onError: Called with errors that subscribers throw, on the thread that called the subscriber. The default
  ///   prints a line to standard error. The source holds it too: it should capture an owner of the source weakly.
  /// - Returns: The source and the signal.
  @inlinable public static func make(
    onError: (@Sendable (_ listener: String?, any Error) -> Void)? = nil
  ) -> (source: SignalSource<Value>, signal: Signal) {
    let receiver = SignalReceiver(reportingTo: onError)
    return (SignalSource(receiver), Signal(receiver, rank: 0))
  }

  /// Creates a signal with a separate source for each subscription.
  ///
  /// - Parameter connect: Called for each subscription, on the thread that subscribes. It starts sending to the source, and
  ///   returns a token that stops it. The signal ends when the source ends or is released.
  public init(_ connect: @escaping @Sendable (SignalSource<Value>) -> SubscriptionToken) {
    self.init(rank: 0, connect: connect)
  }

  /// Creates a signal with a separate source for each subscription, for `connect` to attach to signals of lower ranks.
  ///
  /// Values that arrive in one round are emitted at the end of that round, each in its own round, in the order of arrival. The
  /// token that `connect` returns is disposed when the subscription or the source ends.
  init(
    rank: Int, onError: @escaping ListenerErrors.Handler = ListenerErrors.print,
    connect: @escaping @Sendable (SignalSource<Value>) -> SubscriptionToken
  ) {
    self.init(rank: rank, onError: onError) { terms, observer in
      let receiver = SignalReceiver(SignalHub(rank: rank, onError: onError))
      let upstream = TokenSlot()
      let token = Signal(receiver, rank: rank).attach(terms) { event in
        if case .end = event { upstream.close() }
        try observer(event)
      }
      upstream.put(connect(SignalSource(receiver)))
      return SubscriptionToken {
        token.dispose()
        upstream.close()
      }
    }
  }

  @inlinable init(_ receiver: SignalReceiver, rank: Int) {
    self.init(rank: rank, onError: receiver.hub.handleError) { terms, observer in
      var terms = terms
      terms.onEnd = { try observer(.end) }
      return receiver.listen(terms) { try observer(Event($0.content)) }
    }
  }

  // MARK: Subscribing

  /// Calls a closure with each value for as long as the token is held.
  ///
  /// - Parameters:
  ///   - place: Where `action` and the closures of operators such as `map` are called; with `latest`, the latter are called
  ///     where the value is sent.
  ///   - action: Called with the values, in order, but not with failures. It may send, subscribe, and dispose tokens.
  /// - Returns: The token. Releasing it ends the subscription immediately, even in the current round.
  @inlinable public func subscribe(
    on place: DeliveryPlace = .inline, _ action: @escaping @Sendable (Value) throws -> Void
  ) -> SubscriptionToken {
    attach(on: place) { event in
      if case .value(let value) = event { try action(value) }
    }
  }

  /// Calls a closure with values, failures, and the end, in order; otherwise like `subscribe(on:_:)`.
  @inlinable public func subscribeToEvents(
    on place: DeliveryPlace = .inline, _ action: @escaping @Sendable (Event) throws -> Void
  ) -> SubscriptionToken {
    attach(on: place, receivesFailures: true, action)
  }

  /// Calls a closure on the main actor with each value for as long as the token is held.
  ///
  /// The current value of a listenable is delivered before this method returns, even through `map`, `filter`, `scan`, and
  /// the like. Through operators that combine, share, or delay values, and with `.latestOnMain`, it may be delivered later.
  ///
  /// - Parameters:
  ///   - place: `.main`, or `.latestOnMain` to skip values that are no longer current.
  ///   - action: Called on the main actor with the values, in order, but not with failures.
  /// - Returns: The token. Releasing it ends the subscription immediately, even in the current round.
  @MainActor @inlinable public func subscribe(
    on place: MainActorPlace, _ action: @escaping @MainActor @Sendable (Value) throws -> Void
  ) -> SubscriptionToken {
    attach(on: place.delivery, isOnPlace: true) { event in
      if case .value(let value) = event { try MainActor.assumeIsolated { try action(value) } }
    }
  }

  /// Calls a closure on the main actor with values, failures, and the end, in order; otherwise like `subscribe(on:_:)`.
  @MainActor @inlinable public func subscribeToEvents(
    on place: MainActorPlace, _ action: @escaping @MainActor @Sendable (Event) throws -> Void
  ) -> SubscriptionToken {
    attach(on: place.delivery, isOnPlace: true, receivesFailures: true) { event in
      try MainActor.assumeIsolated { try action(event) }
    }
  }

  /// Attaches an observer in a place; a failure that it does not receive replaces no value that waits.
  @usableFromInline func attach(
    on place: DeliveryPlace, isOnPlace: Bool = false, receivesFailures: Bool = false, _ observer: @escaping Observer
  ) -> SubscriptionToken {
    guard let actor = place.actorOfLatest else {
      return attach(ListeningTerms(place: place, isOnPlace: isOnPlace), observer)
    }
    let latest = LatestDelivery(on: actor, handleError: onError, observer)
    return attach(ListeningTerms()) { event in
      switch event {
      case .value: latest.send(event)
      case .failure: if receivesFailures { latest.send(event) }
      case .end: latest.end { try observer(.end) }
      }
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
}
