import TestSupport
import Testing

@testable import UserStore

/// Who keeps a list, and how often its listeners are called.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ListLifetimeTests {
  private let scene: ListScene
  private var store: UserStore { scene.store }
  private var errors: Recorder<String> { scene.errors }
  private var adults: Query { scene.adults }

  init() throws { scene = try ListScene() }

  @Test func `entering a screen twice does not grow the list`() throws {
    let received = Recorder<String>()
    for entry in 1...2 {
      try store.list(adults).bind("FirstScreen") { _ in received.record("entry \(entry)") }
    }
    let list = try store.list(adults)
    #expect(list.names == ["FirstScreen"])
    try scene.add("Zoë", age: 20)
    #expect(received.all == ["entry 2"])
    #expect(try store.list(Query(where: .age >= 18)).names == [])
  }

  @Test func `a list that nobody needs is forgotten`() throws {
    #expect(!store.publication.hasListeners)
    do {
      let list = try store.list(adults)
      let count = try store.liveCount(where: .age >= 18)
      #expect(store.publication.hasListeners)
      withExtendedLifetime((list, count)) {}
    }
    #expect(!store.publication.hasListeners)
  }

  @Test func `a named listener keeps its list, and a subscription does while it is held`() throws {
    let received = Recorder<Int>()
    try store.list(adults).bind("screen") { received.record($0.count) }
    var token: SubscriptionToken? = try store.liveCount().signal.subscribe { received.record(100 + $0) }
    try scene.add("Zoë", age: 20)
    #expect(Set(received.all) == [1, 100, 101])
    token = nil
    try store.list(adults).unbind("screen")
    #expect(!store.publication.hasListeners)
    withExtendedLifetime(token) {}
  }

  @Test func `a list whose last listener ends is forgotten, with its owner by the next change`() throws {
    let token = try store.list(adults).bind("screen") { _ in }
    #expect(store.publication.hasListeners)
    token.dispose()
    #expect(!store.publication.hasListeners)
    var owner: Recorder<Int>? = Recorder()
    _ = try store.list(adults).bind("screen", owner: try #require(owner)) { _, _ in }
    owner = nil
    #expect(store.publication.hasListeners)
    try scene.add("Zoë", age: 20)
    #expect(!store.publication.hasListeners)
  }

  @Test func `a list that only a listener of another list holds is forgotten with that listener`() throws {
    var owner: Recorder<Int>? = Recorder()
    do {
      let (held, list) = (try store.liveCount(), try store.list(adults))
      list.bind("screen", owner: try #require(owner)) { _, _ in withExtendedLifetime(held) {} }
      owner = nil
      withExtendedLifetime(list) {}
    }
    #expect(!store.publication.hasListeners)
  }

  @Test func `lists whose owners are gone are forgotten although nothing concerns them`() throws {
    let tokens = LiveTokens()
    for number in 0..<400 {
      let (owner, token) = (Recorder<Int>(), tokens.make())
      try store.list(Query(where: .age == number)).bind("screen", owner: owner) { _, _ in
        withExtendedLifetime(token) {}
      }
    }
    #expect(tokens.count < 150)
  }

  @Test func `ending all listeners of the records leaves lists current`() throws {
    let list = try store.list(adults)
    store.listeners.unbindAll()
    try scene.add("Zoë", age: 20)
    #expect(list.value.count == 1)
  }

  @Test func `a listener of a list writes, and is called again after the round`() throws {
    let list = try store.list(adults)
    let received = Recorder<[String]>()
    list.bind("renames") { [scene, store] rows in
      received.record(scene.names(rows))
      if let first = rows.first, try first.name == "Zoë" { try store.write { try $0.rename(first.id, to: "Zoe") } }
    }
    try scene.add("Zoë", age: 20)
    #expect(received.all == [["Zoë"], ["Zoe"]])
  }

  @Test func `listeners of lists that keep writing are stopped`() throws {
    let zoe = try scene.add("Zoë", age: 20)
    let list = try store.list(adults)
    list.bind("endless") { [store] rows in
      try store.write { try $0.set(.age, of: zoe, to: (rows[0][.age] ?? 0) + 1) }
    }
    try store.write { try $0.set(.age, of: zoe, to: 30) }
    #expect(errors.count == 1 && errors.all[0].contains("endless"))
    #expect(try list.value[0][.age] == 50)
  }

  @Test func `many threads make, read and release lists while others write`() throws {
    for number in 0..<20 { try scene.add("\(number)", age: number) }
    try Threads.run(64) { [store] thread in
      for round in 0..<6 {
        if thread % 4 == 0 {
          try store.write { try $0.set(.age, of: User.ID(Int64(1 + round)), to: thread * 10 + round) }
        } else {
          let list = try store.list(Query(where: .age >= (round + thread) % 3, sortedBy: [.descending(.age)], limit: 5))
          list.bind("thread \(thread)") { _ in }
          _ = list.value.map(\.id)
          list.unbind("thread \(thread)")
        }
      }
    }
    try store.write { try $0.set(.age, of: User.ID(1), to: 1_000) }
    #expect(!store.publication.hasListeners && errors.count == 0)
  }
}
