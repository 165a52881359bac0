// Operators with state, a separate one for each subscription.
extension Signal {
  /// Combines each value with the result so far, and emits every result.
  ///
  ///     words.scan(0) { $0 + $1.count }     // "a", "bc" → 1, 3
  ///
  /// Each subscription starts with `initial`, which is not emitted.
  ///
  /// - Parameters:
  ///   - initial: The value that the first value is combined with.
  ///   - combine: Returns the new result from the result so far and a value. An error that it throws leaves the result unchanged.
  /// - Returns: A signal of the results.
  public func scan<Total: Sendable>(
    _ initial: Total, _ combine: @escaping @Sendable (Total, Value) throws -> Total
  ) -> Signal<Total> {
    compactMap(from: initial) { total, value in
      total = try combine(total, value)
      return total
    }
  }

  /// Combines all values, and emits the result when the signal ends.
  ///
  ///     words.reduce(0) { $0 + $1.count }     // "a", "bc", the end → 3, the end
  ///
  /// Failures are emitted immediately. The result is emitted before the end; if there was no value, it is `initial`.
  ///
  /// - Parameters:
  ///   - initial: The value that the first value is combined with.
  ///   - combine: Returns the new result from the result so far and a value; called on the thread that delivers the value. An
  ///     error that it throws is emitted as a failure, and leaves the result unchanged.
  /// - Returns: A signal of one value.
  public func reduce<Total: Sendable>(
    _ initial: Total, _ combine: @escaping @Sendable (Total, Value) throws -> Total
  ) -> Signal<Total> {
    // With its own source, so that a subscriber that disposes its token when it receives the result does not receive the end.
    Signal<Total>(rank: rank + 1, onError: onError) { source in
      let total = Lock(initial)
      return scan(initial, combine).attach(ListeningTerms()) { event in
        switch event {
        case .value(var other): total.withLock { swap(&$0, &other) }
        case .failure: source.relay(event)
        case .end:
          source.relay(.value(total.withLock { $0 }))
          source.relay(.end)
        }
      }
    }
  }

  /// Emits each value with the value before it.
  ///
  /// For the first value of each subscription, `old` is nil.
  ///
  /// - Returns: A signal of the pairs.
  public func withPrevious() -> Signal<(old: Value?, new: Value)> {
    compactMap(from: Value?.none) { previous, value in
      defer { previous = .some(value) }
      return (old: previous, new: value)
    }
  }

  /// Emits only the values whose key differs from the key of the value before.
  ///
  ///     users.removeDuplicates(by: \.id)
  ///
  /// Text is compared by its UTF-8 bytes.
  ///
  /// - Parameter key: Returns the key of a value; called once for each value. If it throws an error, the next value is compared
  ///   with the last one whose key is known.
  /// - Returns: A signal without repeated values.
  public func removeDuplicates<Key: Equatable & Sendable>(by key: @escaping @Sendable (Value) throws -> Key) -> Signal {
    let isSame = ValueEquality.equality(of: Key.self)
    return compactMap(from: Key?.none) { last, value in
      let key = try key(value)
      if let last, isSame(last, key) { return .none }
      last = .some(key)
      return .some(value)
    }
  }

  /// Creates a signal from a closure with state that returns the value to emit, if any.
  ///
  /// The closure is called under no lock, because a subscription receives one event at a time. An error that it throws is
  /// emitted as a failure.
  private func compactMap<State: Sendable, New>(
    from initial: State, _ transform: @escaping @Sendable (inout State, Value) throws -> New?
  ) -> Signal<New> {
    Signal<New>(rank: rank, onError: onError) { [self] terms, observer in
      let memory = Lock<State?>(initial)
      let stateless = compactMap { value in
        guard var state = memory.withLock({ $0.take() }) else {
          preconditionFailure("one subscription receives two events at the same time")
        }
        defer { memory.withLock { $0 = state } }
        return try transform(&state, value)
      }
      return stateless.attach(terms, observer)
    }
  }
}

extension Signal where Value: Equatable {
  /// Emits only the values that differ from the value before.
  ///
  /// Text is compared by its UTF-8 bytes, as in SQLite. Swift's `==` considers "é" and "e" with a combining accent equal. Text
  /// inside of other types is compared as those types do. A failure between two equal values does not make them differ.
  ///
  /// - Returns: A signal without repeated values.
  public func removeDuplicates() -> Signal { removeDuplicates(by: { $0 }) }
}
