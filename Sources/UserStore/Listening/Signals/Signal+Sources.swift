extension Signal {
  /// Creates a signal that emits the given values to each subscriber before `subscribe` returns, and then ends.
  ///
  /// Inside of a listener, the values are delivered at the end of the current round.
  ///
  /// - Parameter values: The values. If there are none, the signal ends immediately.
  public init(of values: [Value]) {
    // An array and not a variadic parameter: a closure would be taken for one of the values, as in `Signal { 1 }`.
    self.init(events: values.map { .value($0) })
  }

  /// Creates a signal that emits the result of an asynchronous function, and then ends.
  ///
  ///     let token = Signal { try await fetchUsers() }.subscribe { print($0) }
  ///
  /// - Parameter operation: The function. Each subscription runs it once, in its own task, and receives the result from that
  ///   task. An error that it throws is emitted as a failure before the end. The task is canceled when the subscription ends; a
  ///   later result is dropped.
  public init(_ operation: @escaping @Sendable () async throws -> Value) {
    self.init(rank: 0) { source in
      let task = Task {
        do { source.relay(.value(try await operation())) } catch { source.relay(.failure(error)) }
        source.relay(.end)
      }
      return SubscriptionToken { task.cancel() }
    }
  }

  /// Creates a signal that emits events, and then ends.
  init(events: [Event], onError: @escaping ListenerErrors.Handler = ListenerErrors.print) {
    self.init(rank: 0, onError: onError) { source in
      for event in events { source.relay(event) }
      source.relay(.end)
      return SubscriptionToken {}
    }
  }
}

extension Listenable {
  /// The current value, then each new value, and the failures that the source sends.
  ///
  /// The signal ends when no more values can arrive: the source is released, or the store is closed or released.
  public var signal: Signal<Value> {
    Signal(rank: 0, onError: backing.handleError) { terms, observer in
      var terms = terms
      terms.fires = true
      terms.onEnd = { try observer(.end) }
      let token = SubscriptionToken(self.backing.bind(nil, terms) { try observer(Signal<Value>.Event($0.content)) })
      return SubscriptionToken {
        token.dispose()
        withExtendedLifetime(self) {}
      }
    }
  }
}

extension SignalSource {
  /// Sends an event of another signal, in the cascade that caused it.
  ///
  /// It is not counted against the limit of `send`: listeners that answer each other without end do so through a source that
  /// counts. It does not wait, because it is called in the middle of rounds, and by tasks.
  func relay(_ event: Signal<Value>.Event) {
    let cascade = DeliveryThread.current.calling?.cascade
    switch event {
    case .value(let value): hub.append(.success(ValueBox(value)), in: cascade)
    case .failure(let error): hub.append(.failure(error), in: cascade)
    case .end: hub.end(waits: false)
    }
    hub.deliver(through: nil)
  }

  /// Ends at the end of the present round, after the values that signals of lower ranks emit in it.
  func relayEnd(rank: Int) {
    DeliveryThread.current.defer(rank: rank) { self.relay(.end) }
    DeliveryThread.current.runDeferred()
  }
}
