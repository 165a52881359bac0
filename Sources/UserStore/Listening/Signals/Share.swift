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
  /// - Returns: the shared signal; it is shared by the copies of what this returns.
  public func share() -> Signal { shared(replays: false) }

  /// The same, and a late subscriber is told the last value first: no value is missed after it, none comes twice.
  ///
  /// The value is kept as long as any token is held, also after the end. Failures are not kept.
  ///
  /// - Returns: the shared signal; it is shared by the copies of what this returns.
  public func replay() -> Signal { shared(replays: true) }

  private func shared(replays: Bool) -> Signal {
    let rank = rank + 1
    let seats = SharedSeats<Value> { [onError] in SharedConnection(rank: rank, replays: replays, onError: onError) }
    return Signal(rank: rank, onError: onError) { seats.attach($0, $1, to: self) }
  }
}

/// Who shares a signal.
///
///     token ──▶ SharedConnection ──▶ hub ──▶ subscribers
///                      └──▶ token of the source ──▶ source ──▶ sink ┄┄▶ hub (weakly)
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
  ) -> Disposable {
    let (connection, isFirst) = enter()
    let token = connection.attach(terms, observer)
    // After it listens, so that it misses nothing that comes at once.
    if isFirst { connection.connect(to: signal) }
    return Disposable(endsWithToken: true) {
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
    if isLast { connection.source.close() }
  }
}

/// From the first subscriber to the last token.
private final class SharedConnection<Value: Sendable>: Sendable {
  let source = TokenSlot()
  private let hub: PulseHub
  private let rank: Int
  private let last: LastValue?
  private let keeper: Disposable?

  init(rank: Int, replays: Bool, onError: @escaping ListenerErrors.Handler) {
    let hub = PulseHub(rank: rank, onError: onError)
    let last = replays ? LastValue() : nil
    self.hub = hub
    self.rank = rank
    self.last = last
    // Before all who may ask for it.
    keeper = last.map { last in
      hub.register(nil, to: .all, on: .inline, owner: nil, keepsValue: true) { last.keep($0) }
    }
  }

  func connect(to signal: Signal<Value>) {
    let sink = Sink<Value>(hub)
    source.put(
      signal.attach(ListeningTerms()) { [source] event in
        if case .end = event { source.close() }
        sink.relay(event)
      })
  }

  func attach(_ terms: ListeningTerms, _ observer: @escaping Signal<Value>.Observer) -> Disposable {
    guard let last else { return Signal(hub, rank: rank).attach(terms, observer) }
    let first = PulseHub.FirstValue(
      read: { last.present },
      handOver: { if !($0 is LastValue.Nothing) { try observer(.value(Packed<Value>.unpack($0))) } })
    let onEnd: ListenerConditions.OnEnd = { try observer(.end) }
    let action: Listener<Pulse>.Action = { try observer(Signal<Value>.Event($0.content)) }
    if terms.isOnPlace {
      return hub.registerAtOnce(
        nil, to: .all, on: terms.place.actor, owner: nil, first: first, onEnd: onEnd, action)
    }
    return hub.register(nil, to: .all, on: terms.place, owner: nil, first: first, onEnd: onEnd, action)
  }
}

/// The value that late subscribers are told.
private final class LastValue: Sendable {
  final class Nothing: Sendable {}

  private let state = Lock<(parcel: Parcel, position: Int128)>((Nothing(), 0))

  /// With the round that gave it.
  var present: (parcel: Parcel, position: Int128) { state.withLock { $0 } }

  func keep(_ pulse: Pulse) {
    guard case .success(let parcel) = pulse.content else { return }
    // Swapped, so that the value before it is released under no lock.
    var other = (parcel: parcel, position: pulse.position)
    state.withLock { swap(&$0, &other) }
  }
}
