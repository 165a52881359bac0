extension Signal {
  /// Each value changed by `transform`.
  ///
  /// Order, failures and the end pass through. Runs once for each subscription, in the subscriber's place.
  ///
  /// - Parameter transform: What it throws becomes a failure in the value's place.
  /// - Returns: the new signal.
  public func map<New>(_ transform: @escaping @Sendable (Value) throws -> New) -> Signal<New> {
    derived { event, observer in
      switch event {
      case .value(let value): try observer(Signal<New>.Event(Result { try transform(value) }))
      case .failure(let error): try observer(.failure(error))
      case .end: try observer(.end)
      }
    }
  }

  /// A signal that handles each event by itself, without memory.
  func derived<New>(
    _ handle: @escaping @Sendable (Event, Signal<New>.Observer) throws -> Void
  ) -> Signal<New> {
    Signal<New>(rank: rank) { [attach] terms, observer in attach(terms) { try handle($0, observer) } }
  }

  /// A signal that handles each event with a memory of its own for each subscription.
  ///
  /// - Parameters:
  ///   - initial: The memory at first.
  ///   - handle: Changes the memory, and says what to tell. It is called under no lock: one subscription hears one event
  ///     at a time.
  /// - Returns: the new signal.
  func derived<State: Sendable, New>(
    from initial: State, _ handle: @escaping @Sendable (inout State, Event) -> Signal<New>.Event?
  ) -> Signal<New> {
    Signal<New>(rank: rank) { [attach] terms, observer in
      let memory = Lock<State?>(initial)
      return attach(terms) { event in
        guard var state = memory.withLock({ $0.take() }) else {
          preconditionFailure("one subscription hears two events at the same time")
        }
        let told = handle(&state, event)
        memory.withLock { $0 = state }
        if let told { try observer(told) }
      }
    }
  }
}
