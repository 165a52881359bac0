import Testing
import UserStore

/// Runs the examples of the article “Storing”.
@Suite struct StoringArticle {
  private let printed = Printed()
  private let store: UserStore

  init() throws { store = try UserStore.inMemory() }

  @Test func `a user is written and read`() throws {
    let print = printed.print

    let role = Attribute<Role>("role")
    let ann = try store.write { users in
      let ann = try users.add(name: "Ann", hairColor: UserStore.Color("auburn"))
      try users.set(.email, of: ann, to: "ann@example.com")
      try users.set(role, of: ann, to: .member)
      return ann
    }

    try store.write { try $0.set(role, of: ann, to: .admin, expecting: .member) }
    #expect(throws: StoreError.self) { try store.write { try $0.set(role, of: ann, to: .admin, expecting: .member) } }

    let (user, emails) = try store.read { users in
      (try users.user(ann), try users.users(matching: UserStore.Query(where: role == .admin)).map { try $0[.email] })
    }
    print("read:", try user?.name ?? "gone", emails)
    #expect(printed.taken() == ["read: Ann [Optional(\"ann@example.com\")]"])

    try store.write { try $0.set(AttributeName("shoe size"), of: ann, to: .integer(38)) }
    print("stored:", try store.read { try $0.storedValue("shoe size", of: ann) })
    #expect(printed.taken() == ["stored: integer(38)"])

    do {
      try store.write { try $0.rename(ann, to: "") }
    } catch StoreError.Code.badValue {
      print("refused")
    } catch let error as StoreError {
      print(error.code, error.message, error.hint ?? "")
    }
    #expect(printed.taken() == ["refused"])
  }

  @Test func `a write is undone, and one that changed nothing has no revision to undo`() throws {
    let ann = try store.write { try $0.add(name: "Ann") }
    for name in ["Ann", "Anna"] {
      try store.write { try $0.rename(ann, to: name) }

      let rename = try store.write { users in
        try users.rename(ann, to: "Anna")
        return try users.pendingChanges.isEmpty ? nil : users.revision
      }
      if let rename { try store.write(origin: "undo") { try $0.undo(rename) } }

      #expect((rename == nil) == (name == "Anna"))
      #expect(try store.read { try $0.user(ann)?.name } == name)
    }
  }

  @Test func `a struct is written and read`() throws {
    let tim = try store.write { try $0.add(Contact(name: "Tim", email: "tim@example.com")) }
    try store.write { try $0.update(Contact.self, of: tim) { $0.email = nil } }
    let contact = try store.profile(Contact.self, of: tim)
    #expect(contact == Contact(name: "Tim"))
  }

  @Test func `a second user with the same address is refused`() throws {
    try store.addUnique(on: "email")
    let first = try signUp("ann@example.com", as: "Ann", in: store)
    #expect(throws: StoreError.self) { try signUp("ann@example.com", as: "Anna", in: store) }
    #expect(try store.read { try $0.users().map(\.id) } == [first])
  }

  @Test func `a name of this program stands beside the module's`() {
    enum Signal {}
    let (source, numbers) = UserStore::Signal<Int>.make()
    let token = numbers.subscribe { [printed] in printed.print($0) }
    source.send(7)
    #expect(printed.taken() == ["7"])
    token.dispose()
  }
}

extension Attribute where Value == String {
  static var email: Attribute { Attribute("email") }
}

enum Role: String, AttributeValue {
  case admin, member
}

struct Contact: UserStore.Profile, Equatable {
  var name: String
  var email: String?
}

func signUp(_ email: String, as name: String, in store: UserStore) throws -> UserStore.User.ID {
  try store.write { try $0.add([("name", .text(name)), ("email", .text(email))]) }  // throws notUnique
}
