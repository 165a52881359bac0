/// The inner signals of one subscription to a flattened signal.
///
///     outer ── step ─┬─ emit ──────────────────────────────────▶ source
///                    └─ subscribe ─▶ inner signal, numbered ──▶ source ─▶ only if its number is still current
final class InnerSignals<Value: Sendable>: Sendable {
  /// The result of a step for a value or failure of the outer signal.
  enum Outcome {
    case emit(Signal<Value>.Event)
    case subscribe(to: Signal<Value>)
  }

  typealias Step<Outer> = @Sendable (Result<Outer, any Error>) throws -> Outcome

  /// An event with the number of its inner signal; 0 for the outer signal.
  struct NumberedEvent: Sendable {
    let number: Int
    let event: Signal<Value>.Event
  }

  private struct State {
    var last = 0
    var active: [Int: TokenSlot] = [:]
    var isOuterOver = false
    var isClosed = false

    /// Adds a slot for an inner signal.
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

  /// Whether an inner signal was not replaced.
  ///
  /// It may have ended.
  func isCurrent(_ number: Int) -> Bool {
    keepsAll || number == 0 || state.withLock { $0.last } == number
  }

  /// - Returns: the token that ends all subscriptions.
  func connect<Outer>(_ outer: Signal<Outer>, to source: SignalSource<NumberedEvent>, _ step: @escaping Step<Outer>)
    -> SubscriptionToken
  {
    let token = outer.attach(ListeningTerms()) { event in
      switch event {
      case .value(let value): self.receive(.success(value), source, step)
      case .failure(let error): self.receive(.failure(error), source, step)
      case .end: self.endIfOver(source) { $0.isOuterOver = true }
      }
    }
    return SubscriptionToken {
      token.dispose()
      self.close()
    }
  }

  private func receive<Outer>(
    _ result: Result<Outer, any Error>, _ source: SignalSource<NumberedEvent>, _ step: Step<Outer>
  ) {
    do {
      switch try step(result) {
      case .emit(let event): source.relay(.value(NumberedEvent(number: 0, event: event)))
      case .subscribe(let inner): subscribe(to: inner, source)
      }
    } catch {
      subscribe(to: Signal(results: [.failure(error)]), source)
    }
  }

  private func subscribe(to inner: Signal<Value>, _ source: SignalSource<NumberedEvent>) {
    guard let (number, slot, replaced) = state.withLock({ $0.open(keepsAll: keepsAll) }) else { return }
    for slot in replaced { slot.close() }
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

  private func endIfOver(_ source: SignalSource<NumberedEvent>, _ change: (inout State) -> Void) {
    let isOver = state.withLock { state in
      change(&state)
      return state.isOuterOver && state.active.isEmpty
    }
    if isOver { source.relay(.end) }
  }

  private func close() {
    let open = state.withLock { state in
      state.isClosed = true
      defer { state.active = [:] }
      return Array(state.active.values)
    }
    for slot in open { slot.close() }
  }
}
