import Testing

@testable import UserStore

/// Every operation on records, and its errors.
@Suite(.bounded, .serialized) struct RecordTests {
  let store: UserStore
  let zoe: User.ID

  init() throws {
    store = try UserStore.forTests()
    zoe = try store.write { try $0.add(name: "Zoë", hairColor: Color("auburn")) }
  }

  @Test func `a user that was added is read back with exactly its values`() throws {
    let user = try #require(try store.read { try $0.user(zoe) })
    #expect(try user.name == "Zoë")
    #expect(try user.hairColor == Color("#a52a2a"))
    #expect(user.storedValues == ["name": .text("Zoë"), "hair_color": .text("#a52a2a")])
    #expect(try store.read { try $0.user(User.ID(99)) } == nil)
  }

  @Test func `users are listed by id, counted, and found by the bytes of their names`() throws {
    let others = try store.write { transaction throws in
      try ["Bob", "bob", "Zo\u{65}\u{308}", "Bob"].map { try transaction.add(name: $0) }
    }
    try store.read { transaction throws in
      #expect(try transaction.users().map(\.id) == [zoe] + others)
      #expect(try transaction.count() == 5)
      #expect(try transaction.ids(named: "Bob") == [others[0], others[3]])
      #expect(try transaction.ids(named: "Zo\u{EB}") == [zoe])
      #expect(try transaction.ids(named: "nobody") == [])
    }
  }

  @Test func `the store reads a user, users, and their number without a closure`() throws {
    try store.write { for name in ["Bob", "Ann", "Bob"] { try $0.add(name: name) } }
    let all = try store.read { try $0.users() }
    let query = Query(sortedBy: [.descending(.name)], limit: 2)
    #expect(try store.user(zoe) == all[0])
    #expect(try store.user(User.ID(99)) == nil)
    #expect(try store.users() == all)
    #expect(try store.users(matching: query).map { try $0.name } == ["Zoë", "Bob"])
    #expect(try store.count() == 4)
    #expect(try store.count(where: .name == "Bob") == 2)
    #expect(code { try store.read { _ in _ = try store.count() } } == .nested)
  }

  @Test func `in a task too`() async throws {
    try await store.write { try $0.add(name: "Bob") }
    let (user, users, count) = (
      try await store.user(zoe), try await store.users(matching: Query(where: .name == "Bob")), try await store.count()
    )
    #expect(try user?.name == "Zoë" && users.map { try $0.name } == ["Bob"] && count == 2)
  }

  private enum Role: String, AttributeValue { case admin, member }
  private enum Level: Int, AttributeValue { case low = 1, high }

  @Test func `an enumeration is stored as its raw value, and another value is undecodable`() throws {
    let (role, level) = (Attribute<Role>("role"), Attribute<Level>("level"))
    try store.write {
      try $0.set(role, of: zoe, to: .admin)
      try $0.set(level, of: zoe, to: .high)
    }
    let user = try #require(try store.user(zoe))
    #expect(user.storedValues["role"] == .text("admin") && user.storedValues["level"] == .integer(2))
    #expect(try user[role] == .admin && user[level] == .high)
    #expect(try store.count(where: role == .admin && level == .high) == 1)
    try store.write { try $0.set("role", of: zoe, to: .text("boss")) }
    #expect(code { try store.user(zoe)?[role] } == .undecodable)
  }

  @Test func `any text can be looked for as a name, also one that no attribute can have`() throws {
    try store.write { try $0.set("it's", of: zoe, to: .integer(1)) }
    try store.read { transaction throws in
      #expect(try transaction.hasAttribute("it's"))
      for name in ["a\u{0}b", "\u{0}", "", "' OR 1 --", "\"", "\u{1}"] {
        #expect(try transaction.hasAttribute(AttributeName(name)) == false, "\(name)")
        #expect(try transaction.ids(named: name) == [], "\(name)")
      }
    }
  }

  @Test func `rename, set and unset change nothing if the value is the present one`() throws {
    try store.write { transaction throws in
      for _ in 0..<2 { try transaction.rename(zoe, to: "Zoe") }
      #expect(try transaction.pendingChanges.count == 1)
      for _ in 0..<2 { try transaction.set(.age, of: zoe, to: 7) }
      #expect(try transaction.pendingChanges.count == 2)
      #expect(try transaction.value(.age, of: zoe) == 7)
      for _ in 0..<2 { try transaction.unset(.age, of: zoe) }
      #expect(try transaction.pendingChanges.count == 3)
      try transaction.set(.hairColor, of: zoe, to: nil)
      #expect(try transaction.pendingChanges.count == 4)
      #expect(try transaction.user(zoe)?.hairColor == nil)
      try transaction.remove(zoe)
      #expect(try transaction.user(zoe) == nil)
    }
  }

  @Test func `every operation that changes a user refuses an unknown one`() throws {
    let nobody = User.ID(99)
    let operations: [(inout WriteTransaction) throws -> Void] = [
      { try $0.rename(nobody, to: "x") }, { try $0.set(.hairColor, of: nobody, to: Color("red")) },
      { try $0.set(.age, of: nobody, to: 1) }, { try $0.unset(.age, of: nobody) }, { try $0.remove(nobody) },
      { try $0.set(.age, of: nobody, to: 1, expecting: nil) },
      { try $0.set(.name, of: nobody, to: "x", expecting: "y") },
    ]
    for operation in operations {
      #expect(code { try store.write { try operation(&$0) } } == .userNotFound)
    }
  }

  @Test(arguments: ["", "a\nb", "a\u{0}b", "\u{1B}[31m", "a\u{85}b", String(repeating: "x", count: 1_001)])
  func `a bad name is refused`(_ name: String) throws {
    #expect(code { try store.write { try $0.add(name: name) } } == .badValue)
    #expect(code { try store.write { try $0.rename(zoe, to: name) } } == .badValue)
    #expect(try store.read { try $0.users().map { try $0.name } } == ["Zoë"])
  }

  @Test(arguments: [
    "x", String(repeating: "é", count: 1_000), "\u{1F9D1}\u{200D}\u{1F680}", "O'Hara; DROP TABLE users",
  ])
  func `a name of 1 to 1,000 scalars is stored unchanged`(_ name: String) throws {
    try store.write { try $0.rename(zoe, to: name) }
    #expect(try store.read { try $0.value(.name, of: zoe) }?.utf8.elementsEqual(name.utf8) == true)
  }

  @Test func `the limit is a thousand scalars, not characters`() throws {
    let name = String(repeating: "e\u{308}", count: 501)
    #expect(name.count == 501)
    #expect(code { try store.write { try $0.rename(zoe, to: name) } } == .badValue)
  }

  @Test(arguments: ["", "id", "a\tb", AttributeName(String(repeating: "x", count: 201))])
  func `a bad attribute name is refused`(_ name: AttributeName) throws {
    #expect(code { try store.write { try $0.set(Attribute<Int>(name), of: zoe, to: 1) } } == .badValue)
  }

  @Test func `a name cannot be unset and must be text, and a hair color must be a color`() throws {
    #expect(code { try store.write { try $0.unset(.name, of: zoe) } } == .badValue)
    #expect(code { try store.write { try $0.set("name", of: zoe, to: .integer(1)) } } == .badValue)
    #expect(code { try store.write { try $0.set("hair_color", of: zoe, to: .text("mauve-ish")) } } == .badValue)
    #expect(code { try store.write { try $0.set("hair_color", of: zoe, to: .text("red")) } } == .badValue)
  }

  @Test func `set with an expected value changes the attribute only if it has that value`() throws {
    try store.write { transaction throws in
      try transaction.set(.age, of: zoe, to: 1, expecting: nil)
      try transaction.set(.age, of: zoe, to: 2, expecting: 1)
      try transaction.set(.age, of: zoe, to: nil, expecting: 2)
      try transaction.set(.name, of: zoe, to: "Z", expecting: "Zoë")
      #expect(try transaction.pendingChanges.count == 4)
    }
    #expect(code { try store.write { try $0.set(.age, of: zoe, to: 1, expecting: 9) } } == .conflict)
    #expect(code { try store.write { try $0.set(.name, of: zoe, to: "e\u{301}", expecting: "z") } } == .conflict)
    try store.write { try $0.rename(zoe, to: "é") }
    #expect(code { try store.write { try $0.set(.name, of: zoe, to: "x", expecting: "e\u{301}") } } == .conflict)
    #expect(try store.read { try $0.value(.name, of: zoe) } == "é")
  }

  @Test func `an id is never used again, even after the last user was removed and the store was reopened`() throws {
    let folder = try Folder()
    var last = User.ID(0)
    for _ in 0..<3 {
      let store = try folder.open()
      let id = try store.write { try $0.add(name: "a") }
      #expect(id > last)
      try store.write { try $0.remove(id) }
      last = id
      store.close()
    }
  }

  @Test func `iterateUsers stops when its closure returns false`() throws {
    try store.write { for name in ["a", "b"] { try $0.add(name: name) } }
    var seen: [String] = []
    try store.read { transaction throws in
      try transaction.iterateUsers { user in
        seen.append(try user.name)
        return seen.count < 2
      }
    }
    #expect(seen == ["Zoë", "a"])
  }

  @Test func `forEachUser stops at an error and rethrows it`() throws {
    try store.write { for name in ["a", "b"] { try $0.add(name: name) } }
    var seen = 0
    #expect(throws: Refusal.self) {
      try store.read { transaction throws in
        try transaction.forEachUser { _ in
          seen += 1
          if seen == 2 { throw Refusal() }
        }
      }
    }
    #expect(seen == 2)
    #expect(try store.read { try $0.count() } == 3)
  }
}
