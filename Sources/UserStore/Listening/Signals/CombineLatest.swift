extension Signal {
  /// The latest values of two signals together, whenever one of them has a new one, once both have one.
  ///
  /// - **Order and rounds**: values that both get in one round (one write that changes two attributes, or a value that
  ///   reaches both over different ways) give one pair, at the end of that round. Sources that send on several threads
  ///   at once give their pairs on one of them.
  /// - **Failures** pass through at once.
  /// - **End**: when both have ended, or one did that never had a value.
  ///
  /// - Parameter other: The other signal.
  /// - Returns: the pairs.
  public func combineLatest<Other>(_ other: Signal<Other>) -> Signal<(Value, Other)> {
    let rank = max(rank, other.rank) + 1
    return Signal<(Value, Other)>(rank: rank, onError: onError) { source in
      let pair = LatestPair<Value, Other>(source, rank: rank)
      let tokens = [
        self.attach(ListeningTerms()) { pair.receive($0, \.first) },
        other.attach(ListeningTerms()) { pair.receive($0, \.second) },
      ]
      return SubscriptionToken { for token in tokens { token.dispose() } }
    }
  }

  /// The latest values of two signals, put together by `transform`.
  ///
  /// - Parameters:
  ///   - other: The other signal.
  ///   - transform: What it throws becomes a failure.
  /// - Returns: the combined values; as `combineLatest` of pairs.
  public func combineLatest<Other, New>(
    _ other: Signal<Other>, _ transform: @escaping @Sendable (Value, Other) throws -> New
  ) -> Signal<New> {
    combineLatest(other).map { try transform($0.0, $0.1) }
  }

  /// The latest values of three signals together, once all have one; as `combineLatest` of two.
  ///
  /// - Parameters:
  ///   - second: Another signal.
  ///   - third: Another signal.
  /// - Returns: the values of the three.
  public func combineLatest<Second, Third>(
    _ second: Signal<Second>, _ third: Signal<Third>
  ) -> Signal<(Value, Second, Third)> {
    combineLatest(second).combineLatest(third) { ($0.0, $0.1, $1) }
  }
}

/// What was heard last of two signals.
private final class LatestPair<First: Sendable, Second: Sendable>: Sendable {
  struct State {
    var first: First?
    var second: Second?
    /// Whether there is something that was not told yet.
    var hasUnsentValue = false
    var active = 2

    var pair: (First, Second)? {
      if let first, let second { (first, second) } else { nil }
    }
  }

  private let source: SignalSource<(First, Second)>
  private let rank: Int
  private let state = Lock(State())

  init(_ source: SignalSource<(First, Second)>, rank: Int) {
    self.source = source
    self.rank = rank
  }

  func receive<Value>(_ event: Signal<Value>.Event, _ place: WritableKeyPath<State, Value?>) {
    switch event {
    case .value(let value):
      // Swapped, so that the value before it is released under no lock.
      var other: Value? = value
      state.withLock { state in
        swap(&state[keyPath: place], &other)
        state.hasUnsentValue = true
      }
      let thread = DeliveryThread.current
      let cascade = thread.calling?.cascade
      // At the end of the round, when the other one has heard of it too.
      thread.defer(rank: rank) { self.emit(in: cascade) }
      thread.runDeferred()
    case .failure(let error): source.relay(.failure(error))
    case .end: receiveEnd(of: place)
    }
  }

  private func receiveEnd<Value>(of place: WritableKeyPath<State, Value?>) {
    let isOver = state.withLock { state in
      state.active -= 1
      return state.active == 0 || state[keyPath: place] == nil
    }
    if isOver {
      DeliveryThread.current.defer(rank: rank) { self.source.relay(.end) }
      DeliveryThread.current.runDeferred()
    }
  }

  private func emit(in cascade: Cascade?) {
    // Held, so that its last reference does not go under the lock.
    let hub = source.hub
    defer { withExtendedLifetime(hub) {} }
    state.withLock { state in
      guard state.hasUnsentValue, let pair = state.pair else { return }
      state.hasUnsentValue = false
      source.append(.success(ValueBox(pair)), in: cascade)
    }
    source.deliver()
  }
}
