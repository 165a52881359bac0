extension Signal {
  /// A signal of given values, told to each subscriber before `subscribe` returns; then it ends.
  ///
  /// Inside a listener they come at the end of the present round.
  ///
  /// - Parameter values: The values; none for a signal that ends at once.
  public init(of values: [Value]) {
    // An array, because a closure would pass for one of several values: `Signal { 1 }` is an asynchronous function.
    self.init(results: values.map { .success($0) })
  }

  /// A signal of what an asynchronous function returns; then it ends.
  ///
  ///     let token = Signal { try await fetchUsers() }.subscribe { print($0) }
  ///
  /// Each subscription runs it once, in a task of its own, from which the subscriber is called. What it throws is a
  /// failure, before the end.
  ///
  /// - Parameter operation: Its task is cancelled when the subscription ends; whatever it returns after that is dropped.
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
