import UserStore

/// Writes of an attribute, beside unique attributes and as one, and of an event.
enum CountOwnData {
  private static let note = Attribute<String>("note")

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

  static func addUnique(_ names: AttributeName...) -> (UserStore) throws -> Void {
    { store in for name in names { try store.addUnique(on: name) } }
  }
}
