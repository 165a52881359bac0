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
    let shared = SharedSubscription<Value>(rank: rank + 1, replays: replayingLatest, onError: onError)
    return Signal(rank: rank + 1, onError: onError) { shared.attach($0, $1, to: self) }
  }
}

/// The subscription that the subscribers of a shared signal have in common, from the first one to the last token.
///
///     token ──▶ Connection ──▶ hub ──▶ subscribers
///                    └──▶ token of the signal ──▶ signal ──▶ source ──▶ hub
///
/// It does not hold the signal: otherwise a token would keep the signal, and what its closures hold, alive after the end.
private final class SharedSubscription<Value: Sendable>: Sendable {
  private struct Connection {
    let receiver: SignalReceiver
    let upstream = TokenSlot()
  }

  /// Kept until the first value.
  private final class NoValue: Sendable {}

  private let rank: Int
  private let replays: Bool
  private let onError: ListenerErrors.Handler
  private let state = Lock<(connection: Connection?, subscribers: Int)>((nil, 0))

  init(rank: Int, replays: Bool, onError: @escaping ListenerErrors.Handler) {
    self.rank = rank
    self.replays = replays
    self.onError = onError
  }

  func attach(
    _ terms: ListeningTerms, _ observer: @escaping Signal<Value>.Observer, to signal: Signal<Value>
  ) -> SubscriptionToken {
    let (connection, isFirst) = state.withLock { state in
      state.subscribers += 1
      if let connection = state.connection { return (connection, false) }
      let connection = Connection(receiver: SignalReceiver(SignalHub(rank: rank, onError: onError)))
      if replays { connection.receiver.hub.keep(NoValue()) }
      state.connection = connection
      return (connection, true)
    }
    let token = attach(terms, observer, to: connection.receiver)
    // After the subscriber was attached, so that it receives values that are sent immediately.
    if isFirst { connect(connection, to: signal) }
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

  private func attach(
    _ terms: ListeningTerms, _ observer: @escaping Signal<Value>.Observer, to receiver: SignalReceiver
  ) -> SubscriptionToken {
    guard replays else { return Signal(receiver, rank: rank).attach(terms, observer) }
    let first = SignalHub.FirstValue(
      read: { receiver.hub.kept },
      action: { round in
        if case .success(let value) = round.content, value is NoValue { return }
        try observer(Signal<Value>.Event(round.content))
      })
    let action = SignalRound.Action { try observer(Signal<Value>.Event($0.content)) }
    return SubscriptionToken(
      receiver.hub.register(
        nil, to: .all, on: terms.place, owner: nil, first: first, isOnPlace: terms.isOnPlace,
        onEnd: { try observer(.end) }, action))
  }

  private func connect(_ connection: Connection, to signal: Signal<Value>) {
    let source = SignalSource<Value>(connection.receiver)
    let upstream = connection.upstream
    upstream.put(
      signal.attach(ListeningTerms()) { event in
        if case .end = event { upstream.close() }
        source.relay(event)
      })
  }
}
