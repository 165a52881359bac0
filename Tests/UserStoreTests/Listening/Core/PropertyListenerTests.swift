import Testing

@testable import UserStore

/// The property listener of the article “What it grew from”, row by row (A1, posting to NotificationCenter, is in its own suite).
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct PropertyListenerTests {
  private let store: UserStore
  private let id: User.ID
  private let received = Recorder<String>()

  init() throws {
    store = try UserStore.forTests()
    id = try store.write { try $0.add(name: "NIX", hairColor: Color("black")) }
  }

  @Test func `A2, closures without a name accumulate, one for each time that a screen is entered`() throws {
    let name = try store.listenable(.name, of: id).signal
    let tokens = (0..<3).map { _ in name.subscribe { [received] in received.record($0 ?? "gone") } }
    try store.write { try $0.rename(id, to: "Zoë") }
    #expect(received.all == ["NIX", "NIX", "NIX", "Zoë", "Zoë", "Zoë"])
    withExtendedLifetime(tokens) {}
  }

  @Test func `A3, bind is called from the next change on`() throws {
    try store.listenable(.name, of: id).bind("screen") { [received] in received.record($0 ?? "gone") }
    #expect(received.all == [])
    try store.write { try $0.rename(id, to: "Zoë") }
    #expect(received.all == ["Zoë"])
  }

  @Test func `A4, bindAndFire is also called immediately, with no gap and no duplicate`() throws {
    try store.listenable(.name, of: id).bindAndFire("screen") { [received] in received.record($0 ?? "gone") }
    #expect(received.all == ["NIX"])
    try store.write { try $0.rename(id, to: "Zoë") }
    #expect(received.all == ["NIX", "Zoë"])
  }

  @Test func `A5, one name on two attributes is two listeners`() throws {
    try store.listenable(.name, of: id).bind("screen") { [received] in received.record($0 ?? "gone") }
    try store.listenable(.hairColor, of: id).bind("screen") { [received] in received.record("\($0!)") }
    #expect(store.listeners.count == 2)
    try store.write { try $0.set(.hairColor, of: id, to: Color("white")) }
    #expect(received.all == ["#ffffff"])
  }

  @Test func `A6, entering a screen again replaces its listener, and the old closure is not called again`() throws {
    let name = try store.listenable(.name, of: id)
    for entered in 1...3 { name.bind("screen") { [received] in received.record("\(entered) \($0!)") } }
    #expect(store.listeners.count == 1)
    try store.write { try $0.rename(id, to: "Zoë") }
    #expect(received.all == ["3 Zoë"])
  }

  @Test func `A7, values of any type have listeners, in the store and in memory`() throws {
    let age = Attribute<Int>("age")
    try store.listenable(age, of: id).bind("age") { [received] in received.record("\($0!)") }
    let (source, listenable) = Listenable.make([1: Token()])
    listenable.bind("memory") { [received] in received.record("\($0.count)") }
    try store.write { try $0.set(age, of: id, to: 36) }
    source.send([:])
    #expect(received.all == ["36", "0"])
  }

  @Test func `A8, the new value is stored and committed when listeners run`() throws {
    let name = try store.listenable(.name, of: id)
    name.bind("screen") { [received, store, id] value in
      received.record(value ?? "gone")
      received.record(name.value ?? "gone")
      received.record(try store.read { try $0.user(id)?.name } ?? "gone")
    }
    let (source, listenable) = Listenable.make(1)
    listenable.bind("memory") { [received] in received.record("\($0) \(listenable.value)") }
    try store.write { try $0.rename(id, to: "Zoë") }
    source.send(2)
    #expect(received.all == ["Zoë", "Zoë", "Zoë", "2 2"])
  }

  @Test func `A9, a change has the old and the new value`() throws {
    store.listeners.bind("form", to: .attribute(.name, of: id)) { [received] set in
      for change in try set.changes { received.record("\(try change.old(.name)!) → \(try change.new(.name)!)") }
    }
    try store.write { try $0.rename(id, to: "Zoë") }
    #expect(received.all == ["NIX → Zoë"])
  }

  @Test func `A10, one edit of two attributes is one round`() throws {
    store.listeners.bind("form", to: .user(id)) { [received] set in received.record("\(try set.changes.count)") }
    try store.write {
      try $0.rename(id, to: "Zoë")
      try $0.set(.hairColor, of: id, to: Color("white"))
    }
    #expect(received.all == ["2"])
  }

  @Test func `A11, nothing holds a released screen, and its listener is not called again`() throws {
    var screen: LoginScreen? = LoginScreen(received)
    weak let weakScreen = screen
    try store.listenable(.name, of: id).bind("screen", owner: screen!) { screen, name in screen.didLogIn(name ?? "gone")
    }
    try store.write { try $0.rename(id, to: "Zoë") }
    screen = nil
    #expect(weakScreen == nil)
    try store.write { try $0.rename(id, to: "Zoe") }
    #expect(received.all == ["screen in Zoë"] && store.listeners.count == 0)
  }
}
