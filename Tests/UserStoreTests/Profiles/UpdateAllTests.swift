import TestSupport
import Testing

@testable import UserStore

/// Changes of many users at once.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct UpdateAllTests {
  private let store: UserStore

  init() throws { store = try UserStore.forTests() }

  private func addUsers(_ count: Int) throws {
    try store.write { users in
      for number in 0..<count { try users.add(Account(name: "\(number)", logins: number)) }
    }
  }

  @Test func `the users who meet a condition are changed, in one set`() throws {
    try addUsers(2_500)
    let before = try store.read { try $0.cursor }
    let seen = try store.write { users in
      var seen: [String] = []
      let changed = try users.update(Account.self, where: Attribute<Int>("logins") >= 1_000) { account in
        seen.append(account.name)
        // It does not meet the condition any more; every other one stays as it is.
        if account.logins.isMultiple(of: 2) { account.logins = 0 }
      }
      #expect(changed == 750)
      return seen
    }
    #expect(seen == (1_000..<2_500).map(String.init))
    let sets = try store.allChanges(after: before)
    #expect(sets.count == 1)
    #expect(try sets[0].changes.count == 750)
    #expect(try store.count(where: Attribute<Int>("logins") >= 1_000) == 750)
  }

  @Test func `a page that is full of large values does not end the operation`() throws {
    let large = String(repeating: "x", count: 700_000)
    try store.write { users in
      for number in 0..<5 { try users.add(Account(name: "\(number)", email: large)) }
    }
    let changed = try store.write { try $0.update(Account.self, where: .always) { $0.role = .admin } }
    #expect(changed == 5)
  }

  @Test func `if one user cannot be changed, none is, and the write can continue`() throws {
    try addUsers(5)
    let fourth = User.ID(4)
    try store.write { users in
      try users.set("role", of: fourth, to: .text("boss"))
      let error = #expect(throws: StoreError.self) { try users.update(Account.self, where: .always) { $0.email = "x" } }
      #expect(error?.message == #"the role of user 4 is "boss", not a Role"#)
      try users.set("role", of: fourth, to: .null)
      #expect(throws: CancellationError.self) {
        try users.update(Account.self, where: .always) { account in
          account.email = "x"
          if account.name == "3" { throw CancellationError() }
        }
      }
    }
    #expect(try store.count(where: .exists("e-mail")) == 0)
  }

  // MARK: Renaming

  @Test func `an attribute is renamed for all users, with its values as they are stored, in one set`() throws {
    let values: [StoredValue] = [.text("a"), .integer(1), .real(1), .blob([0])]
    try store.write { users in
      for value in values { try users.add([("name", .text("Zoë")), ("mail", value)]) }
      try users.add(name: "Tim")
      for number in 0..<1_100 { try users.add([("name", .text("\(number)")), ("mail", .integer(2))]) }
    }
    let before = try store.read { try $0.cursor }
    #expect(try store.write { try $0.renameAttribute("mail", to: "e-mail") } == 1_104)
    #expect(try store.users(matching: Query(limit: 5)).map { $0.storedValues["e-mail"] } == values + [nil])
    #expect(try store.count(where: .exists("mail")) == 0)
    let sets = try store.allChanges(after: before)
    #expect(sets.count == 1)
    #expect(sets[0].lines.prefix(2) == ["updated 1 e-mail - 'a'", "updated 1 mail 'a' -"])
    #expect(try store.write { try $0.renameAttribute("mail", to: "e-mail") } == 0)
    #expect(try store.write { try $0.renameAttribute("e-mail", to: "e-mail") } == 0)
  }

  @Test func `renaming is refused if users have both attributes, and for names that are columns`() throws {
    try store.write { users in
      for number in 0..<3 {
        try users.add([("name", .text("\(number)")), ("old", .integer(1)), ("new", number > 0 ? .integer(2) : .null)])
      }
      try users.add([("name", .text("4")), ("new", .integer(2))])
    }
    func refusal(_ old: AttributeName, _ new: AttributeName) -> String? {
      let error = #expect(throws: StoreError.self) { try store.write { try $0.renameAttribute(old, to: new) } }
      return error.map { "\($0.code): \($0)" }
    }
    #expect(
      refusal("old", "new")
        == "conflict: “old” cannot be renamed: 2 users have both attributes (unset one of them first)")
    try store.write { try $0.set("new", of: User.ID(3), to: .null) }
    #expect(
      refusal("old", "new") == "conflict: “old” cannot be renamed: 1 user has both attributes (unset one of them first)"
    )
    for (old, new) in [
      ("name", "x"), ("x", "name"), ("hair_color", "x"), ("x", "hair_color"), ("id", "x"), ("x", "id"), ("", "x"),
    ] {
      #expect(refusal(AttributeName(old), AttributeName(new))?.hasPrefix("badValue") == true, "\(old) \(new)")
    }
    #expect(try store.count(where: .exists("old")) == 3)
  }

  @Test(.sqlite) func `a value that no write stores is renamed as it is`() throws {
    let folder = try Folder()
    let store = try folder.open()
    let id = try store.write { try $0.add(name: "Zoë") }
    try folder.shell("INSERT INTO attributes VALUES (\(id), 'old', CAST(x'ff' AS TEXT))")
    #expect(try store.write { try $0.renameAttribute("old", to: "new") } == 1)
    #expect(try store.user(id)?.storedValues["new"] == .invalidText([0xFF]))
  }
}
