/// The signals that an outer one led to, in one subscription.
///
///     outer ── step ─┬─ tell ────────────────────────────▶ sink
///                    └─ attach ─▶ inner signal, numbered ──▶ sink ─▶ only if its number is still current
final class InnerSignals<Value: Sendable>: Sendable {
  /// What an outer value or failure leads to.
  enum Outcome {
    case tell(Signal<Value>.Event)
    case attach(Signal<Value>)
  }

  typealias Step<Outer> = @Sendable (Result<Outer, any Error>) throws -> Outcome

  /// An event and the inner signal that it is of; 0 for the outer one.
  struct Told: Sendable {
    let number: Int
    let event: Signal<Value>.Event
  }

  private struct State {
    var last = 0
    var living: [Int: TokenSlot] = [:]
    var isOuterOver = false
    var isClosed = false

    /// Makes room for one more.
    mutating func open(keepsAll: Bool) -> (number: Int, slot: TokenSlot, replaced: [TokenSlot])? {
      if isClosed { return nil }
      last += 1
      let replaced = keepsAll ? [] : Array(living.values)
      if !keepsAll { living = [:] }
      let slot = TokenSlot()
      living[last] = slot
      return (last, slot, replaced)
    }
  }

  private let keepsAll: Bool
  private let state = Lock(State())

  init(keepsAll: Bool) {
    self.keepsAll = keepsAll
  }

  /// Whether an inner signal was not replaced; it may have ended.
  func isCurrent(_ number: Int) -> Bool {
    keepsAll || number == 0 || state.withLock { $0.last } == number
  }

  /// - Returns: what ends all of them.
  func connect<Outer>(_ outer: Signal<Outer>, to sink: Sink<Told>, _ step: @escaping Step<Outer>) -> Disposable {
    let token = outer.attach(ListeningTerms()) { event in
      switch event {
      case .value(let value): self.take(.success(value), sink, step)
      case .failure(let error): self.take(.failure(error), sink, step)
      case .end: self.endIfOver(sink) { $0.isOuterOver = true }
      }
    }
    return Disposable {
      token.dispose()
      self.close()
    }
  }

  private func take<Outer>(_ result: Result<Outer, any Error>, _ sink: Sink<Told>, _ step: Step<Outer>) {
    do {
      switch try step(result) {
      case .tell(let event): sink.relay(.value(Told(number: 0, event: event)))
      case .attach(let inner): attach(inner, sink)
      }
    } catch {
      attach(Signal(results: [.failure(error)]), sink)
    }
  }

  private func attach(_ inner: Signal<Value>, _ sink: Sink<Told>) {
    guard let (number, slot, replaced) = state.withLock({ $0.open(keepsAll: keepsAll) }) else { return }
    for slot in replaced { slot.close() }
    let token = inner.attach(ListeningTerms()) { event in
      if case .end = event {
        slot.close()
        self.endIfOver(sink) { $0.living[number] = nil }
      } else {
        sink.relay(.value(Told(number: number, event: event)))
      }
    }
    slot.put(token)
  }

  private func endIfOver(_ sink: Sink<Told>, _ change: (inout State) -> Void) {
    let isOver = state.withLock { state in
      change(&state)
      return state.isOuterOver && state.living.isEmpty
    }
    if isOver { sink.relay(.end) }
  }

  private func close() {
    let open = state.withLock { state in
      state.isClosed = true
      defer { state.living = [:] }
      return Array(state.living.values)
    }
    for slot in open { slot.close() }
  }
}
