// Operators that handle each event by itself, without memory. All of them pass failures and the end through, keep the
// order, and call their closures once for each subscription, in the subscriber's place. What a closure throws becomes a
// failure in the value's place.
extension Signal {
  /// Each value changed by `transform`.
  ///
  /// Order, failures and the end pass through. Runs once for each subscription, in the subscriber's place.
  ///
  /// - Parameter transform: What it throws becomes a failure in the value's place.
  /// - Returns: the new signal.
  @inlinable public func map<New>(_ transform: @escaping @Sendable (Value) throws -> New) -> Signal<New> {
    compactMap { .some(try transform($0)) }
  }

  /// The values that a condition holds for.
  ///
  /// Order, failures and the end pass through. Runs once for each subscription, in the subscriber's place.
  ///
  /// - Parameter isIncluded: The condition. What it throws becomes a failure in the value's place.
  /// - Returns: the new signal.
  @inlinable public func filter(_ isIncluded: @escaping @Sendable (Value) throws -> Bool) -> Signal {
    compactMap { try isIncluded($0) ? .some($0) : .none }
  }

  /// Each value changed by `transform`, those left out for which it returns nil.
  ///
  /// Order, failures and the end pass through. Runs once for each subscription, in the subscriber's place.
  ///
  /// - Parameter transform: What it throws becomes a failure in the value's place.
  /// - Returns: the new signal.
  @inlinable public func compactMap<New>(_ transform: @escaping @Sendable (Value) throws -> New?) -> Signal<New> {
    derived { event, observer in
      switch event {
      case .value(let value):
        // The closure's errors are failures; the observer's are not, and go on to the error handler.
        switch Result(catching: { try transform(value) }) {
        case .success(let new?): try observer(.value(new))
        case .success(nil): break
        case .failure(let error): try observer(.failure(error))
        }
      case .failure(let error): try observer(.failure(error))
      case .end: try observer(.end)
      }
    }
  }

  /// Each failure changed by `transform`, into one that says what was being tried, for instance.
  ///
  /// Values, order and the end pass through. Runs once for each subscription, in the subscriber's place.
  ///
  /// - Parameter transform: Returns the failure to tell instead; one that it throws is told too.
  /// - Returns: the new signal.
  public func mapFailure(_ transform: @escaping @Sendable (any Error) throws -> any Error) -> Signal {
    let told: @Sendable (any Error) throws -> Value = { throw try transform($0) }
    return `catch`(told)
  }

  /// A value in the place of each failure.
  ///
  /// Values, order and the end pass through. Runs once for each subscription, in the subscriber's place.
  ///
  /// - Parameter transform: Makes the value. What it throws is told as the failure instead: for failures that it has no
  ///   value for.
  /// - Returns: the new signal.
  public func `catch`(_ transform: @escaping @Sendable (any Error) throws -> Value) -> Signal {
    derived { event, observer in
      guard case .failure(let error) = event else { return try observer(event) }
      try observer(Event(Result { try transform(error) }))
    }
  }

  /// A signal that handles each event by itself, without memory.
  @inlinable func derived<New>(
    _ handle: @escaping @Sendable (Event, Signal<New>.Observer) throws -> Void
  ) -> Signal<New> {
    Signal<New>(rank: rank, onError: onError) { [attach] terms, observer in
      attach(terms) { try handle($0, observer) }
    }
  }
}
