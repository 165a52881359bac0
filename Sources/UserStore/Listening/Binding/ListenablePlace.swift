/// A listenable with its source.
@MainActor final class ListenablePlace<Value: Sendable & Equatable>: BindingPlace {
  let key: MemberKey
  let name = "Listenable<\(Value.self)>"
  private weak var listenable: Listenable<Value>?
  private weak var source: SignalSource<Value>?
  private let equality = ValueEquality.test(of: Value.self)
  /// The value of the last round that was received, or the value that was sent after it.
  private var latest: Value
  /// The values that were sent and have not come back yet.
  ///
  /// Values that others sent before them come before them, and are replaced already.
  private var sent = FIFO<Value>()

  init(_ listenable: Listenable<Value>, _ source: SignalSource<Value>?) {
    key = MemberKey(object: ObjectIdentifier(listenable), property: 0)
    self.listenable = listenable
    self.source = source
    latest = listenable.value
  }

  var isAlive: Bool { listenable != nil }

  func read() -> Value? { latest }

  /// Not by `send`: the limit of rounds is the chain's, and a value that was refused there would never come back.
  func write(_ value: Value) {
    guard let source, let ticket = source.append(.success(ValueBox(value)), in: RoundCause.current?.cascade) else {
      return
    }
    latest = value
    sent.append(value)
    source.deliver(through: ticket)
  }

  func isSame(_ left: Value, _ right: Value) -> Bool? { equality(left, right) }

  func connect(_ events: MemberEvents, sends: Bool) -> [SubscriptionToken] {
    guard let listenable else { return [] }
    let terms = ListeningTerms(place: .mainActor, onEnd: { MainActor.assumeIsolated { events.left(nil) } })
    let token = listenable.subscribe(terms) { [weak self] value in
      MainActor.assumeIsolated { self?.receive(value, events) }
    }
    return [token]
  }

  private func receive(_ value: Value, _ events: MemberEvents) {
    if let own = sent.first {
      if isSame(own, value) == true { _ = sent.popFirst() }
      return
    }
    latest = value
    events.changed(.current)
  }
}
