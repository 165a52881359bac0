extension Signal {
  /// Shares one subscription among all subscribers, so that the operators before it run once.
  ///
  /// - **Lifetime**: the shared subscription starts with the first subscriber, and ends when the last token is disposed. The
  ///   next subscriber starts a new one.
  /// - **Order**, **failures**: as in this signal. Values are emitted at the end of the round. A subscriber receives the values
  ///   that arrive after it has subscribed.
  /// - **End**: with this signal. A subscriber that is added later, while tokens are held, receives the end immediately.
  /// - **Place**: the operators before it run on the thread that delivers, each subscriber in its own place.
  ///
  /// - Parameter replayingLatest: Whether a late subscriber receives the last value first. After it, no value is missed or
  ///   repeated. The value is held as long as any token is held, even after the end. Failures are not replayed. You cannot
  ///   choose a number of values, as in other libraries' `share(replay:)`: a late subscriber needs the current value, and one
  ///   that needs the history reads the change feed.
  /// - Returns: The shared signal; copies of it share the same subscription.
  public func share(replayingLatest: Bool = false) -> Signal {
    let rank = rank + 1
    let subscribers = SharedSubscribers<Value> { [onError] in
      SharedConnection(rank: rank, replays: replayingLatest, onError: onError)
    }
    return Signal(rank: rank, onError: onError) { subscribers.attach($0, $1, to: self) }
  }
}

/// The subscribers that share a signal.
///
///     token ──▶ SharedConnection ──▶ hub ──▶ subscribers
///                      └──▶ token of the signal ──▶ signal ──▶ source ┄┄▶ hub (weakly)
///
/// It does not hold the signal: otherwise a token would keep the signal, and what its closures hold, alive after the end.
private final class SharedSubscribers<Value: Sendable>: Sendable {
  private struct State {
    var connection: SharedConnection<Value>?
    var subscribers = 0
  }

  private let makeConnection: @Sendable () -> SharedConnection<Value>
  private let state = Lock(State())

  init(_ makeConnection: @escaping @Sendable () -> SharedConnection<Value>) {
    self.makeConnection = makeConnection
  }

  func attach(
    _ terms: ListeningTerms, _ observer: @escaping Signal<Value>.Observer, to signal: Signal<Value>
  ) -> SubscriptionToken {
    let (connection, isFirst) = state.withLock { state in
      state.subscribers += 1
      if let connection = state.connection { return (connection, false) }
      let connection = makeConnection()
      state.connection = connection
      return (connection, true)
    }
    let token = connection.attach(terms, observer)
    // After the subscriber was attached, so that it receives values that are sent immediately.
    if isFirst { connection.connect(to: signal) }
    return SubscriptionToken {
      token.dispose()
      let isLast = self.state.withLock { state in
        state.subscribers -= 1
        if state.subscribers == 0 { state.connection = nil }
        return state.subscribers == 0
      }
      if isLast { connection.upstream.close() }
    }
  }
}

/// The shared subscription, from the first subscriber to the last token.
private final class SharedConnection<Value: Sendable>: Sendable {
  let upstream = TokenSlot()
  private let hub: SignalHub
  private let rank: Int
  private let last: LastValue?
  private let lastUpdate: SubscriptionToken?

  init(rank: Int, replays: Bool, onError: @escaping ListenerErrors.Handler) {
    let hub = SignalHub(rank: rank, onError: onError)
    let last = replays ? LastValue() : nil
    self.hub = hub
    self.rank = rank
    self.last = last
    // Receives each round before the subscribers, which may read the value.
    lastUpdate = last.map { last in
      SubscriptionToken(
        hub.register(nil, to: .all, on: .inline, owner: nil, keepsValue: true, .init { last.keep($0) }))
    }
  }

  func connect(to signal: Signal<Value>) {
    let source = SignalSource<Value>(hub)
    upstream.put(
      signal.attach(ListeningTerms()) { [upstream] event in
        if case .end = event { upstream.close() }
        source.relay(event)
      })
  }

  func attach(_ terms: ListeningTerms, _ observer: @escaping Signal<Value>.Observer) -> SubscriptionToken {
    guard let last else { return Signal(hub, rank: rank).attach(terms, observer) }
    let first = SignalHub.FirstValue(
      read: { last.current },
      deliver: { if !($0 is LastValue.Nothing) { try observer(.value(ValueBox<Value>.unbox($0))) } })
    var terms = terms
    terms.onEnd = { try observer(.end) }
    let action = SignalRound.Action { try observer(Signal<Value>.Event($0.content)) }
    return SubscriptionToken(hub.register(nil, to: .all, terms, first: first, action))
  }
}

/// The last value, for late subscribers.
private final class LastValue: Sendable {
  final class Nothing: Sendable {}

  private let state = Lock<(value: ErasedValue, position: Int128)>((Nothing(), 0))

  /// The value with the position of its round.
  var current: (value: ErasedValue, position: Int128) { state.withLock { $0 } }

  func keep(_ round: SignalRound) {
    guard case .success(let value) = round.content else { return }
    // Swapped, so that the old value is released under no lock.
    var other = (value: value, position: round.position)
    state.withLock { swap(&$0, &other) }
  }
}
