import TestSupport
import Testing

@testable import UserStore

/// Profiles that follow the log.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct LiveProfileTests {
  private let scene: ListScene
  private var store: UserStore { scene.store }
  private let id: User.ID
  private let received = Recorder<Account?>()

  init() throws {
    scene = try ListScene()
    id = try scene.store.write { try $0.add(Account(name: "Zoë")) }
  }

  private func follow() throws -> Listenable<Account?> {
    let live = try store.listenable(Account.self, of: id)
    live.bind("screen") { [received] in received.record($0) }
    return live
  }

  @Test func `a set that changes two properties calls once, and another attribute calls nobody`() throws {
    let live = try follow()
    try store.write { users in
      try users.set("e-mail", of: id, to: .text("a"))
      try users.update(Account.self, of: id) { $0.role = .admin }
    }
    #expect(received.all == [Account(name: "Zoë", email: "a", role: .admin)])
    #expect(live.value == received.all.last)
    try store.write { users in
      try users.set("other", of: id, to: .integer(1))
      try users.add(Account(name: "Tim"))
    }
    // Changed and changed back.
    try store.write { users in
      try users.rename(id, to: "Zoe")
      try users.rename(id, to: "Zoë")
    }
    #expect(received.count == 1)
    try store.write { try $0.unset(Attribute<String>("e-mail"), of: id) }
    #expect(received.all.last == Account(name: "Zoë", role: .admin))
  }

  @Test func `a removed user is nil, and one that is added again is followed`() throws {
    let live = try follow()
    try store.write { try $0.remove(id) }
    #expect(received.all == [nil] && live.value == nil)
    try store.write { _ = try $0.add([("name", .text("Ann")), ("role", .text("admin"))], as: id) }
    #expect(received.all == [nil, Account(name: "Ann", role: .admin)])
    try store.write { users in
      try users.remove(id)
      _ = try users.add([("name", .text("Ann"))], as: id)
    }
    #expect(received.all.last == Account(name: "Ann") && received.count == 3)
    #expect(scene.errors.count == 0)
  }

  @Test func `a user who is added later is followed`() throws {
    let later = try store.listenable(Account.self, of: User.ID(50))
    #expect(later.value == nil)
    later.bind("screen") { [received] in received.record($0) }
    try store.write { _ = try $0.add([("name", .text("Ann")), ("logins", .integer(4))], as: User.ID(50)) }
    #expect(received.all == [Account(name: "Ann", logins: 4)])
  }

  @Test func `a value that does not decode is reported once for each set, and the last profile stays`() throws {
    let live = try follow()
    try store.write { users in
      try users.set("role", of: id, to: .text("boss"))
      try users.set("logins", of: id, to: .integer(3))
    }
    #expect(received.count == 0 && live.value == Account(name: "Zoë"))
    #expect(scene.errors.all == [#"the role of user 1 is "boss", not a Role"#])
    try store.write { users in
      try users.set("other", of: id, to: .integer(1))
      try users.add(name: "Tim")
    }
    #expect(scene.errors.count == 1)
    try store.write { try $0.set("role", of: id, to: .text("chief")) }
    #expect(scene.errors.count == 2 && live.value == Account(name: "Zoë"))
    try store.write { try $0.set("role", of: id, to: .text("admin")) }
    #expect(received.all == [Account(name: "Zoë", role: .admin, logins: 3)])
    try store.write { try $0.set("role", of: id, to: .text("boss")) }
    try store.write { try $0.remove(id) }
    #expect(received.all.last == .some(nil) && scene.errors.count == 3)
  }

  @Test func `a profile that does not decode at first throws`() throws {
    try store.write { try $0.set("role", of: id, to: .text("boss")) }
    let error = #expect(throws: StoreError.self) { try store.listenable(Account.self, of: id) }
    #expect(error?.message == #"the role of user 1 is "boss", not a Role"#)
    try store.write { try $0.set("role", of: id, to: .text("member")) }
    #expect(try store.listenable(Account.self, of: id).value == Account(name: "Zoë"))
  }

  @Test func `a listener on an actor receives the profile of each round`() async throws {
    let place = Place()
    let live = try await store.listenable(Account.self, of: id)
    live.bind("screen", on: .actor(place)) { [received] in received.record($0) }
    for number in 1...20 { try await store.write { [id] in try $0.set("logins", of: id, to: .integer(Int64(number))) } }
    await received.reached(20)
    #expect(received.all.map { $0?.logins } == Array(1...20))
  }

  @Test func `a named listener is followed without the listenable, and shares its name with another one`() throws {
    _ = try follow()
    try store.write { try $0.rename(id, to: "Ann") }
    try store.listenable(Account.self, of: id).bind("screen") { _ in }
    try store.write { try $0.rename(id, to: "Tim") }
    #expect(received.all == [Account(name: "Ann")])
  }

  @Test func `a listener of the records sees the profile of its round`() throws {
    let live = try store.listenable(Account.self, of: id)
    store.listeners.bind("records", to: .user(id)) { [received] _ in received.record(live.value) }
    try store.write { try $0.rename(id, to: "Ann") }
    #expect(received.all == [Account(name: "Ann")])
  }

  /// It asks for an attribute only if another one says so.
  private struct Chosen: UserStore.Profile, Equatable {
    var value: Int?
    var count: Int

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: TextKey.self)
      let key = try container.decodeIfPresent(String.self, forKey: TextKey("key"))
      if key == "*" {
        count = container.allKeys.count
      } else {
        value = try key.flatMap { try container.decodeIfPresent(Int.self, forKey: TextKey($0)) }
        count = 0
      }
    }

    func encode(to encoder: any Encoder) throws {}
  }

  @Test func `only attributes that decoding asks for call listeners, also if these change`() throws {
    let live = try store.listenable(Chosen.self, of: id)
    let values = Recorder<String>()
    live.bind("screen") { values.record("\($0?.value ?? -1) \($0?.count ?? -1)") }
    func set(_ attribute: AttributeName, _ value: StoredValue) throws {
      try store.write { try $0.set(attribute, of: id, to: value) }
    }
    try set("a", .integer(1))
    #expect(values.all == [])
    try set("key", .text("a"))
    try set("a", .integer(2))
    try set("b", .integer(3))
    try set("key", .text("b"))
    try set("a", .integer(4))
    #expect(values.all == ["1 0", "2 0", "3 0"])
    try set("key", .text("*"))
    try set("c", .integer(1))
    #expect(values.all.suffix(2) == ["-1 4", "-1 5"])
  }

  @Test func `a set that is too large to be folded is read`() throws {
    let live = try follow()
    try store.write { users in
      for number in 0...FoldedSet.limit { try users.set("other", of: id, to: .integer(Int64(number))) }
    }
    #expect(received.count == 0)
    try store.write { users in
      for number in 0...FoldedSet.limit { try users.set("logins", of: id, to: .integer(Int64(number))) }
    }
    #expect(received.all.map { $0?.logins } == [FoldedSet.limit])
    #expect(live.value?.logins == FoldedSet.limit)
  }

  @Test(.sqlite) func `another program's changes are followed, and a restored backup is read`() throws {
    let live = try follow()
    try scene.folder.shell("UPDATE users SET name = 'Ann' WHERE id = \(id)")
    // A write delivers what other programs committed before.
    try store.write { _ = try $0.add(name: "Tim") }
    #expect(received.all == [Account(name: "Ann")])
    try store.backup(to: scene.folder.path + "/backup.db")
    try store.write { try $0.rename(id, to: "Tom") }
    try store.restore(from: scene.folder.path + "/backup.db")
    #expect(received.all.last == Account(name: "Ann") && live.value == Account(name: "Ann"))
  }

  // MARK: Lists

  @Test func `the rows of a list have an id and a profile, which is decoded on access`() throws {
    let tim = try store.write { try $0.add(Account(name: "Tim", role: .admin)) }
    let query = Query(sortedBy: [.ascending(.name)], showing: [.name])
    let list = try store.list(query, as: Account.self)
    let rows = Recorder<[String]>()
    list.bindAndFire("screen") { new in rows.record(new.map { "\($0.id) " + ((try? $0.profile.role.rawValue) ?? "?") })
    }
    try store.write { try $0.set("role", of: id, to: .text("boss")) }
    try store.write { try $0.update(Account.self, of: tim) { $0.role = .member } }
    #expect(rows.all == [["2 admin", "1 member"], ["2 admin", "1 ?"], ["2 member", "1 ?"]])
    #expect(list.value.count == 2 && list.value.rows.count == 2)
    let error = #expect(throws: StoreError.self) { try list.value[1].profile }
    #expect(error?.message == #"the role of user 1 is "boss", not a Role"#)
    #expect(try store.list(as: Account.self).value.map(\.id) == [id, tim])
    #expect(code { try store.list(Query(limit: 0), as: Account.self) } == .badValue)
  }
}
