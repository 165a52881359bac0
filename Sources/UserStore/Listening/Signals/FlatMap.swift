extension Signal {
  /// The values of the signal that the latest value leads to.
  ///
  ///     selected.flatMapLatest { id in store.signal(.name, of: id) }
  ///
  /// - **Order**: a later value replaces the inner signal: from then on nothing of the replaced one is delivered, also what
  ///   it told earlier in the same round, or what waits for the subscriber's actor.
  /// - **Rounds**: values leave at the end of the round, so that two attributes of one write fit each other. The signal
  ///   that `transform` returns is not known beforehand: one that is itself put together from others may come after the end
  ///   of the round, and give a second value for it; the last one is right.
  /// - **Failures** of both pass through. One of this signal replaces nothing.
  /// - **End**: when this signal and the present inner one have ended.
  ///
  /// - Parameter transform: Makes the inner signal; it is called on the thread that delivers the value. What it throws
  ///   becomes a failure, after which the inner signal before it is replaced all the same.
  /// - Returns: the new signal.
  public func flatMapLatest<New>(_ transform: @escaping @Sendable (Value) throws -> Signal<New>) -> Signal<New> {
    flattened(keepsAll: false) { try $0.inner(transform) }
  }

  /// The result of the asynchronous function that the latest value is given to.
  ///
  ///     selected.flatMapLatest { id in try await fetch(id) }
  ///
  /// A later value cancels the task before, and nothing of that is delivered any more. Otherwise as `flatMapLatest` of signals.
  ///
  /// - Parameter operation: Runs in a task of its own. What it throws becomes a failure.
  /// - Returns: the new signal.
  public func flatMapLatest<New>(_ operation: @escaping @Sendable (Value) async throws -> New) -> Signal<New> {
    flatMapLatest { value in Signal<New> { try await operation(value) } }
  }

  /// The values of all the signals that values lead to.
  ///
  /// - **Order**: that of each inner signal is kept; between them, as they come.
  /// - **Rounds**, **failures**: as `flatMapLatest`.
  /// - **End**: when this signal and all inner ones have ended.
  ///
  /// - Parameter transform: Makes an inner signal; it is called on the thread that delivers the value. What it throws
  ///   becomes a failure.
  /// - Returns: the new signal.
  public func flatMap<New>(_ transform: @escaping @Sendable (Value) throws -> Signal<New>) -> Signal<New> {
    flattened(keepsAll: true) { try $0.inner(transform) }
  }

  /// The results of the asynchronous function that every value is given to, as they come.
  ///
  /// - Parameter operation: Runs in a task for each value, all at the same time. What it throws becomes a failure.
  /// - Returns: the new signal.
  public func flatMap<New>(_ operation: @escaping @Sendable (Value) async throws -> New) -> Signal<New> {
    flatMap { value in Signal<New> { try await operation(value) } }
  }

  /// The values of this signal and others, as they come.
  ///
  /// Failures of all pass through. Ends when all have ended.
  ///
  /// - Parameter others: The other signals.
  /// - Returns: the new signal.
  public func merge(_ others: Signal...) -> Signal {
    let all = [self] + others
    return Signal<Signal>(results: all.map { .success($0) }, onError: onError)
      .flattened(keepsAll: true, rank: all.reduce(0) { max($0, $1.rank) } + 1) { try $0.inner { $0 } }
  }

  /// The values of another signal in the place of each failure.
  ///
  /// Values of this signal pass through, and go on while the other one tells its own. Ends when this signal and all that
  /// took the place of failures have ended. Rounds: as `flatMapLatest`.
  ///
  /// - Parameter transform: Makes the signal; it is called on the thread that delivers the failure. What it throws is told
  ///   as the failure instead.
  /// - Returns: the new signal.
  public func `catch`(_ transform: @escaping @Sendable (any Error) throws -> Signal) -> Signal {
    flattened(keepsAll: true) { result in
      switch result {
      case .success(let value): .emit(.value(value))
      case .failure(let error): .subscribe(to: try transform(error))
      }
    }
  }

  /// - Parameters:
  ///   - keepsAll: Whether an inner signal goes on when there is a later one.
  ///   - rank: Greater than those of this signal and of all inner ones that are known.
  ///   - step: What each value or failure leads to. What it throws is the failure of an inner signal.
  /// - Returns: the new signal.
  func flattened<New>(
    keepsAll: Bool, rank: Int? = nil, _ step: @escaping InnerSignals<New>.Step<Value>
  ) -> Signal<New> {
    let rank = rank ?? self.rank + 1
    return Signal<New>(rank: rank, onError: onError) { [self] terms, observer in
      let inner = InnerSignals<New>(keepsAll: keepsAll)
      let numbered = Signal<InnerSignals<New>.NumberedEvent>(rank: rank, onError: onError) { source in
        inner.connect(self, to: source, step)
      }
      return numbered.attach(terms) { event in
        switch event {
        // Asked where it is delivered: in the meantime it may have been replaced.
        case .value(let numbered): if inner.isCurrent(numbered.number) { try observer(numbered.event) }
        case .failure(let error): try observer(.failure(error))
        case .end: try observer(.end)
        }
      }
    }
  }
}

extension Result {
  /// A value leads to a signal, a failure is numbered.
  fileprivate func inner<New>(
    _ transform: (Success) throws -> Signal<New>
  ) throws -> InnerSignals<New>.Outcome {
    switch self {
    case .success(let value): .subscribe(to: try transform(value))
    case .failure(let error): .emit(.failure(error))
    }
  }
}
