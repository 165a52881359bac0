extension Signal {
  /// Maps each value to a signal, and emits the values of the latest of these inner signals.
  ///
  ///     selected.flatMapLatest { id in store.signal(.name, of: id) }
  ///
  /// - **Order**: a later value replaces the inner signal. From then on, no value of the replaced signal is delivered, not even
  ///   one from earlier in the same round, or one that waits for the subscriber's actor.
  /// - **Rounds**: values are emitted at the end of the round, so that two attributes of one write are consistent. The inner
  ///   signal is not known in advance. If it combines other signals, it may emit after the end of the round; then a second
  ///   value follows for the same round, and is the right one.
  /// - **Failures** of this signal and of the inner signal are emitted. A failure of this signal replaces nothing.
  /// - **End**: when this signal and the latest inner signal have ended.
  ///
  /// - Parameter transform: Returns the inner signal; called on the thread that delivers the value. An error that it throws is
  ///   emitted as a failure, and the previous inner signal is replaced all the same.
  /// - Returns: A signal of the values of the latest inner signal.
  public func flatMapLatest<New>(_ transform: @escaping @Sendable (Value) throws -> Signal<New>) -> Signal<New> {
    flattened(keepsAll: false) { .subscribe(to: try transform($0)) }
  }

  /// Passes each value to an asynchronous function, and emits the result for the latest value.
  ///
  ///     selected.flatMapLatest { id in try await fetch(id) }
  ///
  /// A later value cancels the previous task, and its result is not delivered. Otherwise like `flatMapLatest` with signals.
  ///
  /// - Parameter operation: Runs in a separate task for each value. An error that it throws is emitted as a failure.
  /// - Returns: A signal of the results.
  public func flatMapLatest<New>(_ operation: @escaping @Sendable (Value) async throws -> New) -> Signal<New> {
    flatMapLatest { value in Signal<New> { try await operation(value) } }
  }

  /// Maps each value to a signal, and emits the values of all these inner signals.
  ///
  /// - **Order**: the values of one inner signal keep their order; values of several are emitted as they arrive.
  /// - **Rounds**, **failures**: like `flatMapLatest`.
  /// - **End**: when this signal and all inner signals have ended.
  ///
  /// - Parameter transform: Returns an inner signal; called on the thread that delivers the value. An error that it throws is
  ///   emitted as a failure.
  /// - Returns: A signal of the values of all inner signals.
  public func flatMap<New>(_ transform: @escaping @Sendable (Value) throws -> Signal<New>) -> Signal<New> {
    flattened(keepsAll: true) { .subscribe(to: try transform($0)) }
  }

  /// Passes each value to an asynchronous function, and emits all results as they arrive.
  ///
  /// - Parameter operation: Runs in a separate task for each value, all at the same time. An error that it throws is emitted as a
  ///   failure.
  /// - Returns: A signal of the results.
  public func flatMap<New>(_ operation: @escaping @Sendable (Value) async throws -> New) -> Signal<New> {
    flatMap { value in Signal<New> { try await operation(value) } }
  }

  /// Emits the values of this signal and of others as they arrive.
  ///
  /// The failures of all of them are emitted. The signal ends when all have ended.
  ///
  /// - Parameter others: The other signals.
  /// - Returns: The merged signal.
  public func merge(_ others: Signal...) -> Signal {
    let all = [self] + others
    return Signal<Signal>(events: all.map { .value($0) }, onError: onError)
      .flattened(keepsAll: true, rank: all.reduce(0) { max($0, $1.rank) } + 1) { .subscribe(to: $0) }
  }

  /// Replaces each failure with the values of another signal.
  ///
  /// Values of this signal are emitted, even while the other signal emits its own. The signal ends when this signal and all
  /// signals that replaced failures have ended. Rounds: like `flatMapLatest`.
  ///
  /// - Parameter transform: Returns the signal; called on the thread that delivers the failure. An error that it throws is
  ///   emitted in place of the failure.
  /// - Returns: A signal of the values of both.
  public func `catch`(_ transform: @escaping @Sendable (any Error) throws -> Signal) -> Signal {
    flattened(keepsAll: true, failure: { .subscribe(to: try transform($0)) }, value: { .emit(.value($0)) })
  }

  /// Creates a signal from closures that map each failure and value to an event or an inner signal.
  ///
  /// `keepsAll` is whether a later inner signal leaves the earlier ones in place. `rank` must be higher than the ranks of this
  /// signal and of all inner signals that are known. An error that a closure throws is the failure of an inner signal.
  private func flattened<New>(
    keepsAll: Bool, rank: Int? = nil,
    failure: @escaping @Sendable (any Error) throws -> InnerSignals<New>.Outcome = { .emit(.failure($0)) },
    value: @escaping @Sendable (Value) throws -> InnerSignals<New>.Outcome
  ) -> Signal<New> {
    let rank = rank ?? self.rank + 1
    return Signal<New>(rank: rank, onError: onError) { [self] terms, observer in
      let inner = InnerSignals<New>(keepsAll: keepsAll)
      let numbered = Signal<InnerSignals<New>.NumberedEvent>(rank: rank, onError: onError) { source in
        let token = attach(ListeningTerms()) { event in
          switch event {
          case .value(let content): inner.receive(source) { try value(content) }
          case .failure(let error): inner.receive(source) { try failure(error) }
          case .end: inner.endIfOver(source) { $0.isOuterOver = true }
          }
        }
        return SubscriptionToken {
          token.dispose()
          inner.close()
        }
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

/// The inner signals of one subscription to a flattened signal.
///
///     outer ── receive ─┬─ emit ──────────────────────────────────▶ source
///                       └─ subscribe ─▶ inner signal, numbered ──▶ source ─▶ only if its number is still current
private final class InnerSignals<Value: Sendable>: Sendable {
  /// The reaction to a value or failure of the outer signal.
  enum Outcome {
    case emit(Signal<Value>.Event)
    case subscribe(to: Signal<Value>)
  }

  /// An event with the number of its inner signal; 0 for the outer signal.
  struct NumberedEvent: Sendable {
    let number: Int
    let event: Signal<Value>.Event
  }

  struct State {
    var last = 0
    var active: [Int: TokenSlot] = [:]
    var isOuterOver = false
    var isClosed = false

    mutating func open(keepsAll: Bool) -> (number: Int, slot: TokenSlot, replaced: [TokenSlot])? {
      if isClosed { return nil }
      last += 1
      let replaced = keepsAll ? [] : Array(active.values)
      if !keepsAll { active = [:] }
      let slot = TokenSlot()
      active[last] = slot
      return (last, slot, replaced)
    }
  }

  private let keepsAll: Bool
  private let state = Lock(State())

  init(keepsAll: Bool) {
    self.keepsAll = keepsAll
  }

  /// Whether no later inner signal has replaced this one, which may have ended.
  func isCurrent(_ number: Int) -> Bool {
    keepsAll || number == 0 || state.withLock { $0.last } == number
  }

  func receive(_ source: SignalSource<NumberedEvent>, _ outcome: () throws -> Outcome) {
    do {
      switch try outcome() {
      case .emit(let event): source.relay(.value(NumberedEvent(number: 0, event: event)))
      case .subscribe(let inner): subscribe(to: inner, source)
      }
    } catch {
      subscribe(to: Signal(events: [.failure(error)]), source)
    }
  }

  private func subscribe(to inner: Signal<Value>, _ source: SignalSource<NumberedEvent>) {
    guard let (number, slot, replaced) = state.withLock({ $0.open(keepsAll: keepsAll) }) else { return }
    for old in replaced { old.close() }
    let token = inner.attach(ListeningTerms()) { event in
      if case .end = event {
        slot.close()
        self.endIfOver(source) { $0.active[number] = nil }
      } else {
        source.relay(.value(NumberedEvent(number: number, event: event)))
      }
    }
    slot.put(token)
  }

  func endIfOver(_ source: SignalSource<NumberedEvent>, _ change: (inout State) -> Void) {
    let isOver = state.withLock { state in
      change(&state)
      return state.isOuterOver && state.active.isEmpty
    }
    if isOver { source.relay(.end) }
  }

  func close() {
    let open = state.withLock { state in
      state.isClosed = true
      defer { state.active = [:] }
      return Array(state.active.values)
    }
    for slot in open { slot.close() }
  }
}
