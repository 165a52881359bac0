@MainActor final class ListenablePlace<Value: Sendable & Equatable>: BindingPlace {
  let key: MemberKey
  let name = "Listenable<\(Value.self)>"
  let areEqual = ValueEquality.test(of: Value.self)
  private weak var listenable: Listenable<Value>?
  private weak var source: SignalSource<Value>?
  /// The value of the last round that was received, or the value that was sent after it.
  private var latest: Value
  /// The values that were sent and not received yet; a value that is received before them is older, and replaced already.
  private var sent = FIFO<Value>()

  init(_ listenable: Listenable<Value>, _ source: SignalSource<Value>?) {
    key = MemberKey(object: ObjectIdentifier(listenable), property: 0)
    self.listenable = listenable
    self.source = source
    latest = listenable.value
  }

  var isAlive: Bool { listenable != nil }

  func read() -> Value? { latest }

  /// Sends without `send`: the chain limits the rounds, and a value that `send` refuses would never be received.
  func write(_ value: Value) {
    let cascade = RoundCause.current?.cascade
    guard let source, isAlive else { return }
    let ticket = source.hub.append(.success(ValueBox(value)), in: cascade)
    latest = value
    sent.append(value)
    source.hub.deliver(through: ticket)
  }

  func connect(_ member: any ChainMember) -> [SubscriptionToken] {
    guard let listenable else { return [] }
    let terms = ListeningTerms(
      place: .actor(MainActor.shared), onEnd: { [weak member] in MainActor.assumeIsolated { member?.placeEnded(nil) } })
    let token = listenable.subscribe(terms) { [weak self, weak member] value in
      MainActor.assumeIsolated { self?.receive(value, for: member) }
    }
    return [token]
  }

  func merge(with other: ListenablePlace) {
    if let source = other.source { self.source = source }
  }

  private func receive(_ value: Value, for member: (any ChainMember)?) {
    if let own = sent.first {
      if areEqual(own, value) == true { _ = sent.popFirst() }
      return
    }
    latest = value
    member?.placeChanged(.current)
  }
}
