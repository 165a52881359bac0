extension Signal {
  /// Maps each value to a signal, and emits the values of the latest of these inner signals.
  ///
  ///     selected.flatMapLatest { id in store.signal(.name, of: id) }
  ///
  /// - **Order**: a later value replaces the inner signal. From then on no value of the replaced signal is delivered, neither
  ///   a value from earlier in the same round nor one that waits for the subscriber's actor.
  /// - **Rounds**: values are emitted at the end of the round, so that two attributes of one write fit each other. The signal
  ///   that `transform` returns is not known in advance: if it combines others, it may emit after the end of the round, and a
  ///   second value for the same round follows. The last value is right.
  /// - **Failures** of this signal and of the inner signal are emitted. A failure of this signal replaces nothing.
  /// - **End**: when this signal and the latest inner signal have ended.
  ///
  /// - Parameter transform: Makes the inner signal; called on the thread that delivers the value. An error that it throws is
  ///   emitted as a failure, and the previous inner signal is replaced all the same.
  /// - Returns: a signal of the values of the latest inner signal.
  public func flatMapLatest<New>(_ transform: @escaping @Sendable (Value) throws -> Signal<New>) -> Signal<New> {
    flattened(keepsAll: false) { try $0.inner(transform) }
  }

  /// Passes each value to an asynchronous function, and emits the result for the latest value.
  ///
  ///     selected.flatMapLatest { id in try await fetch(id) }
  ///
  /// A later value cancels the previous task, and no result of it is delivered. Otherwise like `flatMapLatest` with signals.
  ///
  /// - Parameter operation: Runs in a task of its own. An error that it throws is emitted as a failure.
  /// - Returns: a signal of the results.
  public func flatMapLatest<New>(_ operation: @escaping @Sendable (Value) async throws -> New) -> Signal<New> {
    flatMapLatest { value in Signal<New> { try await operation(value) } }
  }

  /// Maps each value to a signal, and emits the values of all these inner signals.
  ///
  /// - **Order**: the values of one inner signal keep their order; values of several are emitted as they come.
  /// - **Rounds**, **failures**: like `flatMapLatest`.
  /// - **End**: when this signal and all inner signals have ended.
  ///
  /// - Parameter transform: Makes an inner signal; called on the thread that delivers the value. An error that it throws is
  ///   emitted as a failure.
  /// - Returns: a signal of the values of all inner signals.
  public func flatMap<New>(_ transform: @escaping @Sendable (Value) throws -> Signal<New>) -> Signal<New> {
    flattened(keepsAll: true) { try $0.inner(transform) }
  }

  /// Passes each value to an asynchronous function, and emits all results as they come.
  ///
  /// - Parameter operation: Runs in a task for each value, all at the same time. An error that it throws is emitted as a failure.
  /// - Returns: a signal of the results.
  public func flatMap<New>(_ operation: @escaping @Sendable (Value) async throws -> New) -> Signal<New> {
    flatMap { value in Signal<New> { try await operation(value) } }
  }

  /// Emits the values of this signal and of others as they come.
  ///
  /// Failures of all of them are emitted. Ends when all have ended.
  ///
  /// - Parameter others: The other signals.
  /// - Returns: the merged signal.
  public func merge(_ others: Signal...) -> Signal {
    let all = [self] + others
    return Signal<Signal>(results: all.map { .success($0) }, onError: onError)
      .flattened(keepsAll: true, rank: all.reduce(0) { max($0, $1.rank) } + 1) { try $0.inner { $0 } }
  }

  /// Replaces each failure with the values of another signal.
  ///
  /// Values of this signal are emitted, also while the other signal emits its own. Ends when this signal and all signals that
  /// replaced failures have ended. Rounds: like `flatMapLatest`.
  ///
  /// - Parameter transform: Makes the signal; called on the thread that delivers the failure. An error that it throws is
  ///   emitted in place of the failure.
  /// - Returns: a signal of the values of both.
  public func `catch`(_ transform: @escaping @Sendable (any Error) throws -> Signal) -> Signal {
    flattened(keepsAll: true) { result in
      switch result {
      case .success(let value): .emit(.value(value))
      case .failure(let error): .subscribe(to: try transform(error))
      }
    }
  }

  /// - Parameters:
  ///   - keepsAll: Whether an inner signal stays when a later one comes.
  ///   - rank: Higher than the ranks of this signal and of all inner signals that are known.
  ///   - step: Maps a value or failure to an event or an inner signal. An error that it throws is a failure of an inner signal.
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
        // Checked where the event is delivered: its inner signal may have been replaced in the meantime.
        case .value(let numbered): if inner.isCurrent(numbered.number) { try observer(numbered.event) }
        case .failure(let error): try observer(.failure(error))
        case .end: try observer(.end)
        }
      }
    }
  }
}

extension Result {
  /// Maps a value to an inner signal, and a failure to an event.
  fileprivate func inner<New>(
    _ transform: (Success) throws -> Signal<New>
  ) throws -> InnerSignals<New>.Outcome {
    switch self {
    case .success(let value): .subscribe(to: try transform(value))
    case .failure(let error): .emit(.failure(error))
    }
  }
}
