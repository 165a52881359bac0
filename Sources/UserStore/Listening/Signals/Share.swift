extension Signal {
  /// One subscription for all subscribers: the operators before it run once.
  ///
  /// - **Lifetime**: connected with the first subscriber, disconnected when the last token has gone; the next subscriber
  ///   connects anew.
  /// - **Order**, **failures**: as of this signal. Values leave at the end of the round. A subscriber hears what comes after
  ///   it has subscribed.
  /// - **End**: with this signal. Who subscribes after that, while tokens are held, is told the end at once.
  /// - **Place**: what is before it runs on the thread that delivers, each subscriber in a place of its own.
  ///
  /// - Parameter replayingLatest: Whether a late subscriber gets the last value first. No value is missed after it, and none
  ///   comes twice. The value is kept as long as any token is held, also after the end; failures are not kept. A number
  ///   of values, as `share(replay:)` has it elsewhere, would have only the meanings 0 and 1: a late subscriber needs the
  ///   present value, and one that needs the history reads the change feed.
  /// - Returns: the shared signal; copies of it share the same subscription.
  public func share(replayingLatest: Bool = false) -> Signal { shared(replays: replayingLatest) }

  private func shared(replays: Bool) -> Signal {
    let rank = rank + 1
    let seats = SharedSeats<Value> { [onError] in SharedConnection(rank: rank, replays: replays, onError: onError) }
    return Signal(rank: rank, onError: onError) { seats.attach($0, $1, to: self) }
  }
}

/// Who shares a signal.
///
///     token ──▶ SharedConnection ──▶ hub ──▶ subscribers
///                      └──▶ token of the source ──▶ source ──▶ source ┄┄▶ hub (weakly)
///
/// It does not know the signal: a token would keep that, and what its closures hold, alive after the end.
private final class SharedSeats<Value: Sendable>: Sendable {
  private struct State {
    var connection: SharedConnection<Value>?
    var subscribers = 0
  }

  private let make: @Sendable () -> SharedConnection<Value>
  private let state = Lock(State())

  init(_ make: @escaping @Sendable () -> SharedConnection<Value>) {
    self.make = make
  }

  func attach(
    _ terms: ListeningTerms, _ observer: @escaping Signal<Value>.Observer, to signal: Signal<Value>
  ) -> SubscriptionToken {
    let (connection, isFirst) = enter()
    let token = connection.attach(terms, observer)
    // After it listens, so that it misses nothing that comes at once.
    if isFirst { connection.connect(to: signal) }
    return SubscriptionToken {
      token.dispose()
      self.leave(connection)
    }
  }

  private func enter() -> (SharedConnection<Value>, isFirst: Bool) {
    state.withLock { state in
      state.subscribers += 1
      if let connection = state.connection { return (connection, false) }
      let connection = make()
      state.connection = connection
      return (connection, true)
    }
  }

  private func leave(_ connection: SharedConnection<Value>) {
    let isLast = state.withLock { state in
      state.subscribers -= 1
      if state.subscribers == 0 { state.connection = nil }
      return state.subscribers == 0
    }
    if isLast { connection.upstream.close() }
  }
}

/// From the first subscriber to the last token.
private final class SharedConnection<Value: Sendable>: Sendable {
  let upstream = TokenSlot()
  private let hub: SignalHub
  private let rank: Int
  private let last: LastValue?
  private let keeper: SubscriptionToken?

  init(rank: Int, replays: Bool, onError: @escaping ListenerErrors.Handler) {
    let hub = SignalHub(rank: rank, onError: onError)
    let last = replays ? LastValue() : nil
    self.hub = hub
    self.rank = rank
    self.last = last
    // Before all who may ask for it.
    keeper = last.map { last in
      SubscriptionToken(
        hub.register(nil, to: .all, on: .inline, owner: nil, keepsValue: true) { last.keep($0) })
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
      read: { last.present },
      deliver: { if !($0 is LastValue.Nothing) { try observer(.value(ValueBox<Value>.unbox($0))) } })
    let onEnd: ListenerConditions.OnEnd = { try observer(.end) }
    let action: Listener<SignalRound>.Action = { try observer(Signal<Value>.Event($0.content)) }
    if terms.isOnPlace {
      return SubscriptionToken(
        hub.registerAtOnce(nil, to: .all, on: terms.place.actor, owner: nil, first: first, onEnd: onEnd, action))
    }
    return SubscriptionToken(
      hub.register(nil, to: .all, on: terms.place, owner: nil, first: first, onEnd: onEnd, action))
  }
}

/// The value that late subscribers are told.
private final class LastValue: Sendable {
  final class Nothing: Sendable {}

  private let state = Lock<(value: ErasedValue, position: Int128)>((Nothing(), 0))

  /// With the round that gave it.
  var present: (value: ErasedValue, position: Int128) { state.withLock { $0 } }

  func keep(_ round: SignalRound) {
    guard case .success(let value) = round.content else { return }
    // Swapped, so that the value before it is released under no lock.
    var other = (value: value, position: round.position)
    state.withLock { swap(&$0, &other) }
  }
}
