extension Signal {
  /// Emits the latest values of two signals whenever one of them has a new value, once both have one.
  ///
  /// - **Order and rounds**: values that both receive in one round (one write that changes two attributes, or one value that
  ///   reaches both in different ways) give one pair, at the end of that round. If sources send on several threads at the
  ///   same time, the pairs come on one of the threads.
  /// - **Failures** are emitted immediately.
  /// - **End**: when both signals have ended, or when one ended that never had a value.
  ///
  /// - Parameter other: The other signal.
  /// - Returns: a signal of pairs.
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

  /// Emits a value made from the latest values of two signals; otherwise like `combineLatest(_:)`.
  ///
  /// - Parameters:
  ///   - other: The other signal.
  ///   - transform: Makes a value of the latest values. An error that it throws is emitted as a failure.
  /// - Returns: a signal of the combined values.
  public func combineLatest<Other, New>(
    _ other: Signal<Other>, _ transform: @escaping @Sendable (Value, Other) throws -> New
  ) -> Signal<New> {
    combineLatest(other).map { try transform($0.0, $0.1) }
  }

  /// Emits the latest values of three signals, once all have one; otherwise like `combineLatest(_:)`.
  ///
  /// - Parameters:
  ///   - second: The second signal.
  ///   - third: The third signal.
  /// - Returns: a signal of the three values.
  public func combineLatest<Second, Third>(
    _ second: Signal<Second>, _ third: Signal<Third>
  ) -> Signal<(Value, Second, Third)> {
    combineLatest(second).combineLatest(third) { ($0.0, $0.1, $1) }
  }
}

/// The latest values of two signals, in one subscription.
private final class LatestPair<First: Sendable, Second: Sendable>: Sendable {
  struct State {
    var first: First?
    var second: Second?
    /// Whether a value has come since the last pair.
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
      // Swapped, so that the old value is released under no lock.
      var other: Value? = value
      state.withLock { state in
        swap(&state[keyPath: place], &other)
        state.hasUnsentValue = true
      }
      let thread = DeliveryThread.current
      let cascade = thread.calling?.cascade
      // At the end of the round, when the other signal has received its value too.
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
    // Held, so that the last reference is not released under the lock.
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
