// Operators that handle each value with a memory of their own for each subscription. All of them pass failures and the
// end through, keep the order, and call their closures in the subscriber's place. What a closure throws becomes a failure
// in the value's place, and leaves the memory as it was.
extension Signal {
  /// What has come together so far, after each value.
  ///
  ///     words.scan(0) { $0 + $1.count }     // "a", "bc" → 1, 3
  ///
  /// Order, failures and the end pass through. Each subscription begins with `initial`, which is not told itself.
  ///
  /// - Parameters:
  ///   - initial: What the first value is put together with.
  ///   - combine: Gets what came together so far and the value, in the subscriber's place. What it throws becomes a
  ///     failure in the value's place, and changes nothing.
  /// - Returns: the new signal.
  public func scan<Total: Sendable>(
    _ initial: Total, _ combine: @escaping @Sendable (Total, Value) throws -> Total
  ) -> Signal<Total> {
    compactMap(from: initial) { total, value in
      total = try combine(total, value)
      return total
    }
  }

  /// What came together of all values, told once, when the signal ends.
  ///
  ///     words.reduce(0) { $0 + $1.count }     // "a", "bc", the end → 3, the end
  ///
  /// - **Failures** pass through at once.
  /// - **End**: the total, `initial` if no value came, then the end.
  ///
  /// - Parameters:
  ///   - initial: What the first value is put together with.
  ///   - combine: Gets what came together so far and the value, on the thread that delivers it. What it throws becomes a
  ///     failure, and changes nothing.
  /// - Returns: the new signal.
  public func reduce<Total: Sendable>(
    _ initial: Total, _ combine: @escaping @Sendable (Total, Value) throws -> Total
  ) -> Signal<Total> {
    // A relay, so that who is disposed of by the total hears no end.
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

  /// Each value with the one before it.
  ///
  /// Order, failures and the end pass through. Each subscription has its own first value, for which `old` is nil.
  ///
  /// - Returns: the new signal.
  public func withPrevious() -> Signal<(old: Value?, new: Value)> {
    compactMap(from: Value?.none) { previous, value in
      defer { previous = .some(value) }
      return (old: previous, new: value)
    }
  }

  /// A signal that handles each value with a memory of its own for each subscription.
  ///
  /// - Parameters:
  ///   - initial: The memory at first.
  ///   - transform: Changes the memory, and says what to tell. It is called under no lock: one subscription hears one
  ///     event at a time. What it throws becomes a failure in the value's place.
  /// - Returns: the new signal.
  func compactMap<State: Sendable, New>(
    from initial: State, _ transform: @escaping @Sendable (inout State, Value) throws -> New?
  ) -> Signal<New> {
    Signal<New>(rank: rank, onError: onError) { [self] terms, observer in
      let memory = Lock<State?>(initial)
      let stateless = compactMap { value in
        guard var state = memory.withLock({ $0.take() }) else {
          preconditionFailure("one subscription hears two events at the same time")
        }
        defer { memory.withLock { $0 = state } }
        return try transform(&state, value)
      }
      return stateless.attach(terms, observer)
    }
  }
}

extension Signal where Value: Equatable {
  /// The values that differ from the one before.
  ///
  /// Text differs when its bytes of UTF-8 do, as in SQLite: Swift's `==` holds "é" and "e" with an accent after it for
  /// equal. Text inside other types compares as those types do.
  ///
  /// Order, failures and the end pass through; a failure between two equal values makes them no different.
  ///
  /// - Returns: the new signal.
  public func removeDuplicates() -> Signal { removeDuplicates(by: { $0 }) }
}

extension Signal {
  /// The values of which a part differs from that of the value before.
  ///
  ///     users.removeDuplicates(by: \.id)
  ///
  /// Order, failures and the end pass through. Text differs when its bytes of UTF-8 do.
  ///
  /// - Parameter key: The part, asked for once for each value, in the subscriber's place. What it throws becomes a failure
  ///   in the value's place, and the next value is compared with the one before that.
  /// - Returns: the new signal.
  public func removeDuplicates<Key: Equatable & Sendable>(by key: @escaping @Sendable (Value) throws -> Key) -> Signal {
    let isSame = ValueEquality.equality(of: Key.self)
    return compactMap(from: Key?.none) { last, value in
      let key = try key(value)
      if let last, isSame(last, key) { return .none }
      last = .some(key)
      return .some(value)
    }
  }
}
