import UserStore

/// Writes of an attribute: beside unique attributes and as one, with an event, and as a property of a profile.
enum CountOwnData {
  /// Ten attributes of the usual types.
  struct Account: UserStore.Profile {
    enum Plan: String, Codable { case free, paid }

    var name = "Ann"
    var note = "first"
    var email: String? = "ann@example.com"
    var city: String? = "Vienna"
    var street: String? = "Long Street 123 in the North"
    var plan: Plan? = .paid
    var age: Int? = 42
    var visits = 7
    var balance = 12.5
    var isActive = true
  }

  static let note = Attribute<String>("note")

  /// Sets the note of one of 1,000 users; `prepare` adds what it is compared with, and `further` is done in each write.
  static func set(
    _ count: Int, prepare: (UserStore) throws -> Void = { _ in },
    further: @escaping (inout UserStore.WriteTransaction, UserStore.User.ID) throws -> Void = { _, _ in }
  ) throws -> () throws -> Void {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(in: folder.path, users: 1_000, .normal, watches: false)
    try store.write { users in
      for user in try users.users() {
        for name in ["note", "email", "phone", "code"] as [AttributeName] {
          try users.set(name, of: user.id, to: .text("\(name) of user \(user.id)"))
        }
      }
    }
    try prepare(store)
    let user = UserStore.User.ID(1)
    store.listeners.bind("screen", to: .user(user)) { _ in }
    var names = Names()
    return {
      for _ in 0..<count {
        try store.write { users in
          try users.set(note, of: user, to: names.next())
          try further(&users, user)
        }
      }
      withExtendedLifetime(folder) {}
    }
  }

  /// Changes the note of an account.
  static func account(
    _ count: Int, change: @escaping (inout UserStore.WriteTransaction, UserStore.User.ID, String) throws -> Void
  ) throws -> () throws -> Void {
    let folder = try TemporaryFolder()
    let store = try Fixture.store(in: folder.path, users: 1_000, .normal, watches: false)
    let user = try store.write { try $0.add(Account()) }
    store.listeners.bind("screen", to: .user(user)) { _ in }
    var names = Names()
    return {
      for _ in 0..<count { try store.write { try change(&$0, user, names.next()) } }
      withExtendedLifetime(folder) {}
    }
  }

  static func addUnique(_ names: AttributeName...) -> (UserStore) throws -> Void {
    { store in for name in names { try store.addUnique(on: name) } }
  }
}
