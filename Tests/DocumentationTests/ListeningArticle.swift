import Testing
import UserStore

/// Runs the examples of the article “Listening”.
@Suite struct ListeningArticle {
  private final class Screen: Sendable {
    private let shown: Printed
    init(_ shown: Printed) { self.shown = shown }
    func show(_ name: String) { shown.print("third screen:", name) }
  }

  @Test func `the examples print what the article says`() throws {
    let printed = Printed()
    let print = printed.print
    let store = try UserStore.inMemory()
    let user = try store.write { try $0.add(name: "NIX") }
    let screen = Screen(printed)

    let name = try store.listenable(.name, of: user)
    name.bindAndFire("FirstScreen") { name in print("first screen:", name ?? "gone") }
    try store.write { try $0.rename(user, to: "Zoë") }
    #expect(printed.taken() == ["first screen: NIX", "first screen: Zoë"])

    for _ in 1...100 {
      name.bind("SecondScreen") { print("second screen:", $0 ?? "gone") }
    }
    print("listeners:", store.listeners.count)
    #expect(printed.taken() == ["listeners: 2"])

    name.bindAndFire("ThirdScreen", owner: screen) { screen, name in screen.show(name ?? "gone") }
    #expect(printed.taken() == ["third screen: Zoë"])

    store.listeners.bind("audit", to: .everything) { set in
      for change in try set.changes { print("audit:", change.attribute, change.old, "→", change.new) }
    }
    try store.write { users in
      try users.rename(user, to: "Ada")
      try users.set(.hairColor, of: user, to: UserStore.Color("white"))
    }
    #expect(
      printed.taken() == [
        "first screen: Ada", "second screen: Ada", "third screen: Ada", "audit: name text(\"Zoë\") → text(\"Ada\")",
        "audit: hair_color null → text(\"#ffffff\")",
      ])

    let (source, title) = Listenable.make("Inbox")
    title.bindAndFire("window") { print("window:", $0) }
    source.send("Outbox")
    #expect(printed.taken() == ["window: Inbox", "window: Outbox"])

    for listener in store.listeners.all { print(listener.name ?? "-", listener.calls) }
    #expect(printed.taken() == ["FirstScreen 3", "SecondScreen 1", "ThirdScreen 2", "audit 1"])

    store.listeners.bind("count", to: .everything) { [weak store] _ in
      if let store { print("users:", try store.read { try $0.count() }) }
    }
    try store.write { try $0.add(name: "Zoe") }
    #expect(printed.taken().last == "users: 2")
  }
}
