extension Signal {
  /// Emits the latest values of two signals whenever one of them has a new value, once both have one.
  ///
  /// - **Rounds**: if both receive values in one round (one write changes two attributes, or one value reaches both on different
  ///   paths), one pair is emitted, at the end of that round. If sources send on several threads at the same time, the pairs
  ///   are emitted on one of the threads.
  /// - **Failures** are emitted immediately.
  /// - **End**: when both signals have ended, or when one has ended without ever having a value.
  ///
  /// - Parameter other: The other signal.
  /// - Returns: A signal of pairs.
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

  /// Emits a value computed from the latest values of two signals; otherwise like `combineLatest(_:)`.
  ///
  /// - Parameters:
  ///   - other: The other signal.
  ///   - transform: Returns the value for the latest values. An error that it throws is emitted as a failure.
  /// - Returns: A signal of the computed values.
  public func combineLatest<Other, New>(
    _ other: Signal<Other>, _ transform: @escaping @Sendable (Value, Other) throws -> New
  ) -> Signal<New> {
    combineLatest(other).map { try transform($0.0, $0.1) }
  }

  /// Emits the latest values of three signals, once all have one; otherwise like `combineLatest(_:)`.
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
    /// Whether a value has arrived since the last pair.
    var hasUnsentValue = false
    var active = 2
  }

  private let source: SignalSource<(First, Second)>
  private let rank: Int
  private let state = Lock(State())

  init(_ source: SignalSource<(First, Second)>, rank: Int) {
    self.source = source
    self.rank = rank
  }

  func receive<Value>(_ event: Signal<Value>.Event, _ side: WritableKeyPath<State, Value?>) {
    switch event {
    case .value(let value):
      // Swapped, so that the old value is released under no lock.
      var other: Value? = value
      state.withLock { state in
        swap(&state[keyPath: side], &other)
        state.hasUnsentValue = true
      }
      let thread = DeliveryThread.current
      let cascade = thread.calling?.cascade
      // At the end of the round, when the other signal has received its value too.
      thread.defer(rank: rank) { self.emit(in: cascade) }
      thread.runDeferred()
    case .failure(let error): source.relay(.failure(error))
    case .end:
      let isOver = state.withLock { state in
        state.active -= 1
        return state.active == 0 || state[keyPath: side] == nil
      }
      if isOver { source.relayEnd(rank: rank) }
    }
  }

  private func emit(in cascade: Cascade?) {
    state.withLock { state in
      guard state.hasUnsentValue, let first = state.first, let second = state.second else { return }
      state.hasUnsentValue = false
      source.hub.append(.success(ValueBox((first, second))), in: cascade)
    }
    source.hub.deliver(through: nil)
  }
}
