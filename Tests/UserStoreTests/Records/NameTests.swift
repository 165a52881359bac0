import Testing

@testable import UserStore

/// Two spellings of é, which are equal for Swift's `==`, but not for SQLite.
private let composed: AttributeName = "\u{E9}"
private let decomposed: AttributeName = "e\u{301}"

/// The promise “listener names”: listener names are compared as Swift strings, everything that is stored by its bytes.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct NameTests {
  private let store: UserStore
  private let id: User.ID

  init() throws {
    store = try UserStore.forTests()
    id = try store.write { try $0.add(name: "NIX") }
  }

  @Test func `two spellings of an attribute are two keys, and two changes`() {
    #expect(Set([composed, decomposed, composed].map { Attribute<Int>($0) }).count == 2)
    let changes = [composed, decomposed, composed].map { name in
      Change(
        kind: .updated, user: id, attribute: name, old: .null, new: .integer(1), timestamp: 0, sequence: 1)
    }
    #expect(changes[0] != changes[1] && changes[0] == changes[2])
    #expect(Set(changes).count == 2)
    let findings = [composed, decomposed, composed].map { (name: AttributeName) in
      Finding(severity: .problem, kind: .value, message: "the \(name)", user: id, attribute: name)
    }
    #expect(findings[0] != findings[1] && Set(findings).count == 2)
  }

  @Test func `a listener of one spelling receives no changes of the other`() throws {
    let received = Recorder<String>()
    let names = [("composed", composed), ("decomposed", decomposed)]
    for (label, name) in names {
      try store.listenable(Attribute<Int>(name), of: id).bind("one") { received.record("\(label) of one \($0 ?? 0)") }
      store.listeners.bind("all", to: .attributeOfAll(name)) {
        received.record("\(label) of all \(try $0.changes.count)")
      }
    }
    for (value, (_, name)) in names.enumerated() {
      try store.write { try $0.set(Attribute<Int>(name), of: id, to: value + 1) }
    }
    #expect(
      received.all == ["composed of one 1", "composed of all 1", "decomposed of one 2", "decomposed of all 1"])
  }

  @Test func `two spellings of a name are the same listener, but two consumers`() throws {
    let received = Recorder<String>()
    let names = [composed.text, decomposed.text]
    for name in names {
      store.listeners.bind(name, to: .everything) { _ in received.record("\(name.utf8.count)") }
    }
    #expect(store.listeners.count == 1)
    let consumers = try names.map { try store.consumer($0) }
    #expect(try store.read { try $0.consumers().map(\.name.utf8.count) } == [3, 2])
    try store.write(origin: names[1]) { try $0.rename(id, to: "Zoë") }
    #expect(received.all == ["3"])
    #expect(try store.allChanges().last?.origin?.utf8.count == 3)
    withExtendedLifetime(consumers) {}
  }
}
