// Operators without state. All of them emit failures and the end, keep the order, and call their closures once for each
// subscription, in the subscriber's place. An error that a closure throws is emitted as a failure in place of the value.
extension Signal {
  /// Transforms each value.
  ///
  /// Failures and the end are emitted; the order is kept. The closure runs once for each subscription, in the subscriber's
  /// place.
  ///
  /// - Parameter transform: Makes the new value. An error that it throws is emitted as a failure in place of the value.
  /// - Returns: a signal of the new values.
  @inlinable public func map<New>(_ transform: @escaping @Sendable (Value) throws -> New) -> Signal<New> {
    compactMap { .some(try transform($0)) }
  }

  /// Emits only the values that satisfy a condition.
  ///
  /// Failures and the end are emitted; the order is kept. The closure runs once for each subscription, in the subscriber's
  /// place.
  ///
  /// - Parameter isIncluded: The condition. An error that it throws is emitted as a failure in place of the value.
  /// - Returns: a signal of the values that satisfy the condition.
  @inlinable public func filter(_ isIncluded: @escaping @Sendable (Value) throws -> Bool) -> Signal {
    compactMap { try isIncluded($0) ? .some($0) : .none }
  }

  /// Transforms each value, and leaves out the values for which the closure returns nil.
  ///
  /// Failures and the end are emitted; the order is kept. The closure runs once for each subscription, in the subscriber's
  /// place.
  ///
  /// - Parameter transform: Makes the new value, or nil. An error that it throws is emitted as a failure in place of the value.
  /// - Returns: a signal of the new values.
  @inlinable public func compactMap<New>(_ transform: @escaping @Sendable (Value) throws -> New?) -> Signal<New> {
    derived { event, observer in
      switch event {
      case .value(let value):
        // Errors of the closure are failures. Errors of the observer are not; they go to the error handler.
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

  /// Transforms each failure, for instance into one that names the operation that failed.
  ///
  /// Values and the end are emitted; the order is kept. The closure runs once for each subscription, in the subscriber's place.
  ///
  /// - Parameter transform: Makes the new failure. An error that it throws is emitted in place of the failure too.
  /// - Returns: a signal with the new failures.
  public func mapFailure(_ transform: @escaping @Sendable (any Error) throws -> any Error) -> Signal {
    let replacement: @Sendable (any Error) throws -> Value = { throw try transform($0) }
    return `catch`(replacement)
  }

  /// Replaces each failure with a value.
  ///
  /// Values and the end are emitted; the order is kept. The closure runs once for each subscription, in the subscriber's place.
  ///
  /// - Parameter transform: Makes the value. An error that it throws is emitted in place of the failure.
  /// - Returns: a signal with values in place of failures.
  public func `catch`(_ transform: @escaping @Sendable (any Error) throws -> Value) -> Signal {
    derived { event, observer in
      guard case .failure(let error) = event else { return try observer(event) }
      try observer(Event(Result { try transform(error) }))
    }
  }

  /// Makes a signal that handles each event without state.
  @inlinable func derived<New>(
    _ handle: @escaping @Sendable (Event, Signal<New>.Observer) throws -> Void
  ) -> Signal<New> {
    Signal<New>(rank: rank, onError: onError) { [attach] terms, observer in
      attach(terms) { try handle($0, observer) }
    }
  }
}
