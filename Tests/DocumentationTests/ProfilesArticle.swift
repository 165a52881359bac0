import Testing
import UserStore

/// Runs the examples of the article “Profiles”.
@Suite struct ProfilesArticle {
  struct Account: UserStore.Profile {
    var name: String
    var email: String?
    var role = Role.member
    var address: Address?

    enum CodingKeys: String, CodingKey {
      case name, role, address
      case email = "e-mail"
    }

    static let defaults: Account? = Account(name: "")
  }

  enum Role: String, Codable {
    case member, admin
  }

  struct Address: Codable {
    var street: String
    var zip: String
  }

  @Test func `an account is written, read, followed, and changed`() throws {
    let printed = Printed()
    let print = printed.print
    let store = try UserStore.inMemory()

    let zoe = try store.write { try $0.add(Account(name: "Zoë", email: "zoe@example.com")) }
    try store.write { users in
      try users.update(Account.self, of: zoe) { account in
        account.role = .admin
        account.address = Address(street: "Main Street 1", zip: "53111")
      }
    }
    let account = try store.profile(Account.self, of: zoe)
    print(account?.name ?? "gone", account?.role ?? .member)
    #expect(printed.taken() == ["Zoë admin"])
    #expect(try store.user(zoe)?.storedValues["address"] == .text(#"{"street":"Main Street 1","zip":"53111"}"#))

    let original = try #require(try store.profile(Account.self, of: zoe))
    var edited = original
    edited.email = "zoe@example.org"
    try store.write { try $0.save(edited, over: original, of: zoe) }
    edited.email = "zoe@example.net"
    #expect(throws: StoreError.self) { try store.write { try $0.save(edited, over: original, of: zoe) } }

    let live = try store.listenable(Account.self, of: zoe)
    live.bindAndFire("AccountScreen") { account in print(account?.email ?? "none") }

    let admins = UserStore.Query(where: Attribute<String>("role") == "admin", sortedBy: [.ascending(.name)])
    let list = try store.list(admins, as: Account.self)
    list.bindAndFire("Admins") { rows in print(rows.map { (try? $0.profile.name) ?? "?" }) }
    #expect(printed.taken() == ["zoe@example.org", "[\"Zoë\"]"])

    let changed = try store.write { users in
      try users.update(Account.self, where: Attribute<String>("role") == "admin") { $0.role = .member }
    }
    let renamed = try store.write { try $0.renameAttribute("mail", to: "e-mail") }
    print(changed, renamed)
    #expect(printed.taken() == ["zoe@example.org", "[]", "1 0"])
  }
}
