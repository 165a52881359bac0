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
    return Signal<(Value, Other)>(rank: rank, onError: onError) { sink in
      let pair = LatestPair<Value, Other>(sink, rank: rank)
      let tokens = [
        self.attach(ListeningTerms()) { pair.hear($0, \.first) },
        other.attach(ListeningTerms()) { pair.hear($0, \.second) },
      ]
      return Disposable { for token in tokens { token.dispose() } }
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
    var isNew = false
    var living = 2

    var pair: (First, Second)? {
      if let first, let second { (first, second) } else { nil }
    }
  }

  private let sink: Sink<(First, Second)>
  private let rank: Int
  private let state = Lock(State())

  init(_ sink: Sink<(First, Second)>, rank: Int) {
    self.sink = sink
    self.rank = rank
  }

  func hear<Value>(_ event: Signal<Value>.Event, _ place: WritableKeyPath<State, Value?>) {
    switch event {
    case .value(let value):
      // Swapped, so that the value before it is released under no lock.
      var other: Value? = value
      state.withLock { state in
        swap(&state[keyPath: place], &other)
        state.isNew = true
      }
      let thread = DeliveryThread.current
      let cascade = thread.calling?.cascade
      // At the end of the round, when the other one has heard of it too.
      thread.defer(rank: rank) { self.tell(in: cascade) }
      thread.runDeferred()
    case .failure(let error): sink.relay(.failure(error))
    case .end: hearEnd(of: place)
    }
  }

  private func hearEnd<Value>(of place: WritableKeyPath<State, Value?>) {
    let isOver = state.withLock { state in
      state.living -= 1
      return state.living == 0 || state[keyPath: place] == nil
    }
    if isOver {
      DeliveryThread.current.defer(rank: rank) { self.sink.relay(.end) }
      DeliveryThread.current.runDeferred()
    }
  }

  private func tell(in cascade: Cascade?) {
    // Held, so that its last reference does not go under the lock.
    let hub = sink.hub
    defer { withExtendedLifetime(hub) {} }
    state.withLock { state in
      guard state.isNew, let pair = state.pair else { return }
      state.isNew = false
      sink.append(.success(Packed(pair)), in: cascade)
    }
    sink.deliver()
  }
}
