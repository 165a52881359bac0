import Testing

@testable import UserStore

extension Attribute where Value == Int {
  fileprivate static var size: Attribute { Attribute("size") }
}

/// Attributes in a store as members of a binding chain.
@Suite(.boundedOnMainActor, .serialized, .timeLimit(.minutes(5))) @MainActor struct ChainStoreTests {
  let faults = Faults()
  let folder: Folder
  let store: UserStore
  let nix: User.ID

  init() throws {
    folder = try Folder()
    store = try folder.open()
    nix = try store.writeNow { try $0.add(name: "NIX") }
  }

  /// The changes with an origin, by default the chain's.
  private func sets(of origin: String? = "test") throws -> [[String]] {
    try store.allChanges().filter { $0.origin == origin }.map(\.lines)
  }

  @Test(.sqlite)
  func `a field and an attribute follow each other, and each edit is one change set with the chain's name`()
    async throws
  {
    let field = Thing()
    let chain = faults.chain().bind(store, .name, of: nix).bind(field, \.text)
    #expect(field.text == "NIX")
    field.text = "Zoë"
    chain.update()
    #expect(try await store.listenable(.name, of: nix).value == "Zoë")
    #expect(try sets() == [["updated 1 name 'NIX' 'Zoë'"]])
    try store.writeNow { try $0.rename(nix, to: "Zoe") }
    await turns { field.text == "Zoe" }
    try folder.shell("UPDATE users SET name = 'shell'")
    await turns { field.text == "shell" }
    #expect(try sets().count == 1)
    #expect(faults.texts == [])
  }

  @Test(.sqlite)
  func `an edit that was not noticed yet is written after a change in the store, and is not lost`() async throws {
    let field = Thing()
    let chain = faults.chain().bind(store, .name, of: nix).bind(field, \.text)
    field.text = "mine"
    try folder.shell("UPDATE users SET name = 'theirs'")
    await turns { (try? store.readNow { try $0.value(.name, of: nix) }) == "mine" }
    await turns(500)
    #expect(field.text == "mine" && chain.members.count == 2)
    #expect(
      try store.allChanges().flatMap(\.lines).suffix(2) == [
        "updated 1 name 'NIX' 'theirs'", "updated 1 name 'theirs' 'mine'",
      ])
  }

  @Test func `a committed value that was read before the chain's last write is not propagated after it`() async throws {
    let (field, label) = (Thing(), Counted(0))
    try store.writeNow { try $0.set(.age, of: nix, to: 0) }
    let chain = faults.chain().bind(store, .age, of: nix).bind(field, \.age).bind(label, \.value, .out)
    for step in 1...500 {
      if step % 2 == 0 {
        field.age = step
        chain.update()
      } else {
        try store.writeNow { try $0.set(.age, of: nix, to: step) }
      }
      await turns(step % 9)
    }
    await turns { label.value == 500 }
    await turns(500)
    #expect(label.writes == label.writes.sorted(), "a value is never followed by an older one")
    #expect(label.writes.last == 500 && faults.texts == [])
  }

  @Test func `a chain follows a writer that never pauses`() async throws {
    let label = Thing()
    let chain = faults.chain().bind(store, .name, of: nix).bind(label, \.text, .out)
    let (store, nix, seen) = (store, nix, Recorder<Void>())
    let writer = try Threads.start {
      var number = 0
      while seen.count == 0 {
        number += 1
        try store.write { try $0.rename(nix, to: "\(number)") }
      }
    }
    for _ in 1...5 {
      let shown = label.text
      await turns { label.text != shown }
    }
    seen.record(())
    try await writer.joined()
    withExtendedLifetime(chain) {}
  }

  @Test func `a field that is bound to an attribute that is not set is empty, and an empty number is unset`()
    async throws
  {
    let field = ObservedThing()
    let chain = faults.chain().bind(store, .age, of: nix).bind(field, \.text)
    #expect(field.text == "" && faults.texts == [])
    field.text = "41"
    await turns { (try? store.readNow { try $0.value(.age, of: nix) }) == 41 }
    field.text = ""
    await turns { (try? store.readNow { try $0.value(.age, of: nix) }) == .some(nil) }
    try store.writeNow { try $0.set(.age, of: nix, to: 7) }
    await turns { field.text == "7" }
    field.text = "seven"
    await turns { faults.texts.count == 1 }
    #expect(faults.texts[0].contains("“seven”") && faults.texts[0].contains("age of user"))
    withExtendedLifetime(chain) {}
  }

  @Test func `a value that the store refuses is refused for all members, with the store's reason`() throws {
    let (field, label) = (Thing(), Thing())
    let chain = faults.chain().bind(field, \.text, initial: .none).bind(store, .name, of: nix, initial: .tail)
      .bind(label, \.text, .out)
    field.text = ""
    chain.update()
    #expect(field.text == "NIX" && label.text == "NIX")
    guard case .failed(let error) = faults.all.first?.reason else { return #expect(Bool(false)) }
    #expect((error as? StoreError)?.code == .badValue && faults.all[0].member == "name of user 1")
    #expect(try sets() == [])
  }

  @Test func `an attribute that is bound again loses no change that is not delivered yet`() async throws {
    let field = Thing()
    let chain = faults.chain().bind(store, .name, of: nix).bind(field, \.text)
    try store.writeNow { try $0.rename(nix, to: "Zoë") }
    chain.bind(store, .name, of: nix)
    await turns { field.text == "Zoë" }
    #expect(field.text == "Zoë")
  }

  @Test func `an attribute that is bound again with another type is refused, and the chains stay as they are`() throws {
    let (a, b) = (Thing(), Thing())
    let chain = faults.chain("numbers").bind(store, .age, of: nix).bind(a, \.age)
    let other = faults.chain("texts").bind(b, \.nickname)
      .bind(store, Attribute<String>("age"), of: nix, .in, filter: { _ in false })
    #expect(
      faults.texts == ["texts: age of user 1 failed: it is already a member, with values of the type Optional<Int>"])
    guard case .failed = faults.all.first?.reason else { return #expect(Bool(false)) }
    #expect(chain.members.count == 2 && other.members.count == 1)
    a.age = 36
    chain.update()
    #expect(try store.listenable(.age, of: nix).value == 36)
    #expect(faults.all.count == 1)
  }

  @Test func `nil is an attribute that is not set`() async throws {
    let (a, b) = (Thing(), Thing())
    let chain = faults.chain().bind(store, .age, of: nix).bind(a, \.age)
      .bind(b, \.text, converting: .both(incoming: { (age: Int?) in age.map { "\($0)" } ?? "" }, outgoing: { Int($0) }))
    #expect(a.age == nil && b.text == "")
    b.text = "36"
    chain.update()
    #expect(a.age == 36)
    #expect(try await store.listenable(.age, of: nix).value == 36)
    a.age = nil
    chain.update()
    #expect(b.text == "")
    #expect(try await store.listenable(.age, of: nix).value == nil)
    #expect(try sets() == [["updated 1 age - 36"], ["updated 1 age 36 -"]])
  }

  @Test func `all attributes of a store in a chain are one write, and fail together`() throws {
    let field = Thing(number: 1)
    let zoe = try store.writeNow { try $0.add(name: "Zoë") }
    let chain = faults.chain().bind(field, \.number, .in)
      .bind(store, .age, of: nix, .out, initial: .none).bind(store, .size, of: nix, .out, initial: .none)
      .bind(
        store, .name, of: zoe, .out, converting: .incoming { (number: Int) in number < 5 ? "n\(number)" : "" },
        initial: .none)
    field.number = 2
    chain.update()
    #expect(
      try sets() == [["updated 1 age - 2", "updated 1 size - 2", "updated 2 name 'Zoë' 'n2'"]])
    field.number = 6
    chain.update()
    #expect(field.number == 2 && faults.all.map(\.member) == ["name of user 2"])
    #expect(try sets().count == 1)
  }

  @Test func `two stores are two writes, and if the second refuses, the first stays committed`() async throws {
    let second = try Folder()
    let id = try second.open().writeNow { try $0.add(name: "NIX") }
    let other = try second.open { $0.access = .readOnly }
    let field = Thing()
    let chain = faults.chain().bind(store, .name, of: nix).bind(field, \.text).bind(other, .name, of: id)
    field.text = "Zoë"
    chain.update()
    #expect(field.text == "NIX" && faults.all.count == 1)
    #expect(try store.readNow { try $0.value(.name, of: nix) } == "Zoë")
    #expect(try sets() == [["updated 1 name 'NIX' 'Zoë'"]])
    // Then the committed value reaches the chain like any change of that store, and the refused value is taken back.
    await turns { faults.all.count >= 2 }
    #expect(faults.all.map(\.member) == ["name of user 1", "name of user 1"])
    #expect(try sets().last == ["updated 1 name 'Zoë' 'NIX'"])
  }

  @Test func `D4, a committed value that a filter refuses is taken back by another write, once`() async throws {
    let field = Thing()
    let chain = faults.chain().bind(store, .name, of: nix).bind(field, \.text, filter: { $0.count <= 3 })
    try store.writeNow { try $0.rename(nix, to: "too long") }
    await turns { !faults.all.isEmpty }
    #expect(field.text == "NIX")
    #expect(try await store.listenable(.name, of: nix).value == "NIX")
    try store.writeNow { try $0.rename(nix, to: "too long") }
    await turns { faults.all.count >= 2 }
    #expect(try await store.listenable(.name, of: nix).value == "too long")
    field.text = "Z"
    chain.update()
    #expect(try await store.listenable(.name, of: nix).value == "Z")
    #expect(try sets() == [["updated 1 name 'too long' 'NIX'"], ["updated 1 name 'too long' 'Z'"]])
  }

  @Test func `two chains that refuse each other's values stop`() async throws {
    let second = try folder.open()
    let (small, big) = (Thing(), Thing())
    try store.writeNow { try $0.set(.age, of: nix, to: 50) }
    let tens = faults.chain("tens").bind(second, .age, of: nix).bind(big, \.age, filter: { $0 ?? 10 >= 10 })
    let ones = faults.chain("ones").bind(store, .age, of: nix, initial: .none)
      .bind(small, \.age, initial: .none, filter: { $0 ?? 1 < 10 })
    small.age = 5
    ones.update()
    await turns { faults.all.count >= 3 }
    await turns(20_000)
    // The new value, a correction by each chain, and then nothing.
    #expect(try store.allChanges().suffix(3).map(\.origin) == ["ones", "tens", "ones"])
    #expect(try store.allChanges().count { $0.origin == "ones" || $0.origin == "tens" } == 3)
    // The last value is refused once for each notification that finds it: for its own, and for the correction's if that comes late.
    #expect([["tens", "ones", "tens"], ["tens", "ones", "tens", "tens"]].contains(faults.all.map(\.chain)))
    #expect(small.age == 5 && big.age == 50)
    #expect(try store.readNow { try $0.value(.age, of: nix) } == 5)
    _ = tens
  }

  @Test func `D9, when the user is removed or the store is closed, the attribute leaves with an error`()
    async throws
  {
    let field = Thing()
    let (name, age) = (faults.chain("name"), faults.chain("age"))
    let out = faults.chain("out").bind(field, \.number).bind(store, .size, of: nix, .out)
    name.bind(store, .name, of: nix).bind(field, \.text)
    age.bind(store, .age, of: nix).bind(field, \.age)
    try store.writeNow { try $0.remove(nix) }
    await turns { faults.all.count >= 3 }
    #expect(!name.isBound(store) && !out.isBound(store) && !age.isBound(store) && name.isBound(field))
    #expect(field.text == "NIX")
    #expect(
      faults.texts.sorted() == [
        "age: age of user 1 has left the chain: there is no user 1",
        "name: name of user 1 has left the chain: there is no user 1",
        "out: size of user 1 has left the chain: there is no user 1",
      ])
    let zoe = try store.writeNow { try $0.add(name: "Zoë") }
    name.bind(store, .name, of: zoe, initial: .tail)
    #expect(field.text == "Zoë")
    await store.close()
    await turns { !name.isBound(store) }
    #expect(faults.texts.last == "name: name of user 2 has left the chain: the store is closed")
    field.text = "later"
    name.update()
    #expect(field.text == "later")
  }

  @Test func `binding a user that does not exist is reported, and the chain stays as it is`() {
    let field = Thing(text: "x")
    let chain = faults.chain().bind(field, \.text).bind(store, .name, of: User.ID(99))
    #expect(chain.members == ["Thing.text"] && faults.all.count == 1)
  }

  @Test func `the chain does not hold the store`() async throws {
    weak var weakStore: UserStore?
    let field = Thing()
    let chain = faults.chain()
    do {
      let store = try UserStore.forTests()
      weakStore = store
      let id = try store.writeNow { try $0.add(name: "NIX") }
      chain.bind(store, .name, of: id).bind(field, \.text)
    }
    #expect(weakStore == nil && field.text == "NIX")
    #expect(chain.members == ["Thing.text"])
  }

  @Test func `fields of two stores on one file follow each other without echo, and every edit is one change set`()
    async throws
  {
    let second = try folder.open()
    let (one, two) = (ObservedThing(), ObservedThing())
    let left = faults.chain("left").bind(store, .name, of: nix).bind(one, \.text)
    let right = faults.chain("right").bind(second, .name, of: nix).bind(two, \.text)
    var edits: [String: Int] = [:]
    for step in 1...100 {
      let (field, chain) = step % 3 == 0 ? (two, right) : (one, left)
      field.text = "\(chain.context.name) \(step)"
      chain.update()
      edits[chain.context.name, default: 0] += 1
      if step % 7 == 0 { await Task.yield() }
    }
    await turns { one.text == "left 100" && two.text == "left 100" }
    await turns(500)
    #expect(one.text == "left 100" && two.text == "left 100")
    #expect(try sets(of: "left").count == edits["left"] && sets(of: "right").count == edits["right"])
    #expect(faults.texts == [])
  }

  @Test func `chains of two stores that feed each other by their blocks are stopped`() async throws {
    let number = Thing(number: 0)
    let chain = faults.chain("feeder").bind(store, .age, of: nix, .in)
    chain.on("feeds") { [store, nix] (age: Int) in
      number.number = age
      try store.write(origin: "block") { try $0.set(.age, of: nix, to: age + 1) }
    }
    try store.writeNow { try $0.set(.age, of: nix, to: 1) }
    await turns { !faults.all.isEmpty }
    #expect(faults.texts.count == 1 && faults.texts[0].contains("feeds"))
  }
}
