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
