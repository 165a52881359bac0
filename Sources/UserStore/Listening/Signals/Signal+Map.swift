// Operators without state.
extension Signal {
  /// Transforms each value.
  ///
  /// - Parameter transform: Returns the new value.
  /// - Returns: A signal of the new values.
  @inlinable public func map<New>(_ transform: @escaping @Sendable (Value) throws -> New) -> Signal<New> {
    compactMap { .some(try transform($0)) }
  }

  /// Emits only the values that satisfy a condition.
  ///
  /// - Parameter isIncluded: The condition.
  /// - Returns: A signal of the values that satisfy the condition.
  @inlinable public func filter(_ isIncluded: @escaping @Sendable (Value) throws -> Bool) -> Signal {
    compactMap { try isIncluded($0) ? .some($0) : .none }
  }

  /// Transforms each value, and drops the values for which the closure returns nil.
  ///
  /// - Parameter transform: Returns the new value, or nil.
  /// - Returns: A signal of the new values.
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
  /// - Parameter transform: Returns the new failure. An error that it throws is emitted in place of the failure.
  /// - Returns: A signal with the new failures.
  public func mapFailure(_ transform: @escaping @Sendable (any Error) throws -> any Error) -> Signal {
    let replacement: @Sendable (any Error) throws -> Value = { throw try transform($0) }
    return `catch`(replacement)
  }

  /// Replaces each failure with a value.
  ///
  /// - Parameter transform: Returns the value. An error that it throws is emitted in place of the failure.
  /// - Returns: A signal with values in place of failures.
  public func `catch`(_ transform: @escaping @Sendable (any Error) throws -> Value) -> Signal {
    derived { event, observer in
      guard case .failure(let error) = event else { return try observer(event) }
      let replacement: Event
      do { replacement = .value(try transform(error)) } catch { replacement = .failure(error) }
      try observer(replacement)
    }
  }

  @inlinable func derived<New>(
    _ handle: @escaping @Sendable (Event, Signal<New>.Observer) throws -> Void
  ) -> Signal<New> {
    Signal<New>(rank: rank, onError: onError) { [attach] terms, observer in
      attach(terms) { try handle($0, observer) }
    }
  }
}
