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
///                      └──▶ token of the signal ──▶ signal ──▶ source ──▶ hub
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
  private let receiver: SignalReceiver
  private let rank: Int
  private let replays: Bool

  init(rank: Int, replays: Bool, onError: @escaping ListenerErrors.Handler) {
    receiver = SignalReceiver(SignalHub(rank: rank, onError: onError))
    self.rank = rank
    self.replays = replays
    if replays { receiver.hub.keep(NoValue()) }
  }

  func connect(to signal: Signal<Value>) {
    let source = SignalSource<Value>(receiver)
    upstream.put(
      signal.attach(ListeningTerms()) { [upstream] event in
        if case .end = event { upstream.close() }
        source.relay(event)
      })
  }

  func attach(_ terms: ListeningTerms, _ observer: @escaping Signal<Value>.Observer) -> SubscriptionToken {
    guard replays else { return Signal(receiver, rank: rank).attach(terms, observer) }
    let first = SignalHub.FirstValue(
      read: { [receiver] in receiver.hub.kept },
      action: { round in
        if case .success(let value) = round.content, value is NoValue { return }
        try observer(Signal<Value>.Event(round.content))
      })
    var terms = terms
    terms.onEnd = { try observer(.end) }
    let action = SignalRound.Action { try observer(Signal<Value>.Event($0.content)) }
    return SubscriptionToken(receiver.hub.register(nil, to: .all, terms, first: first, action))
  }
}

/// Kept until the first value.
private final class NoValue: Sendable {}
