extension Signal {
  /// Makes a signal that emits given values to each subscriber before `subscribe` returns, and then ends.
  ///
  /// Inside of a listener the values come at the end of the present round.
  ///
  /// - Parameter values: The values; with none, the signal ends immediately.
  public init(of values: [Value]) {
    // An array and not a variadic parameter: a closure would be taken for one of the values, as in `Signal { 1 }`.
    self.init(results: values.map { .success($0) })
  }

  /// Makes a signal that emits the result of an asynchronous function, and then ends.
  ///
  ///     let token = Signal { try await fetchUsers() }.subscribe { print($0) }
  ///
  /// Each subscription runs the function once, in a task of its own, and the subscriber is called from that task. An error that
  /// it throws is emitted as a failure before the end.
  ///
  /// - Parameter operation: The function. Its task is canceled when the subscription ends; a result after that is dropped.
  public init(_ operation: @escaping @Sendable () async throws -> Value) {
    self.init(rank: 0) { source in
      let task = Task {
        do { source.relay(.value(try await operation())) } catch { source.relay(.failure(error)) }
        source.relay(.end)
      }
      return SubscriptionToken { task.cancel() }
    }
  }

  init(results: [Result<Value, any Error>], onError: @escaping ListenerErrors.Handler = ListenerErrors.print) {
    self.init(rank: 0, onError: onError) { source in
      for result in results { source.relay(Event(result)) }
      source.relay(.end)
      return SubscriptionToken {}
    }
  }
}
