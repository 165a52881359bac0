import TestSupport
import Testing

@testable import UserStore

/// Profiles as an application reads and writes them.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ProfileTests {
  private let store: UserStore

  init() throws { store = try UserStore.forTests() }

  private func stored(_ id: User.ID) throws -> [AttributeName: StoredValue] {
    try #require(try store.user(id)).storedValues
  }

  /// The changes of the last set.
  private func lastLines() throws -> [String] { try store.allChanges().last?.lines ?? [] }

  @Test func `a profile is added, read, and changed`() throws {
    let address = Address(street: "Main Street", zip: "53111")
    let id = try store.write { try $0.add(Account(name: "Zoë", email: "zoe@x.de", role: .admin, address: address)) }
    #expect(
      try stored(id) == [
        "name": .text("Zoë"), "e-mail": .text("zoe@x.de"), "role": .text("admin"),
        "address": .text(#"{"street":"Main Street","zip":"53111"}"#),
      ])
    let read = try store.profile(Account.self, of: id)
    #expect(read == Account(name: "Zoë", email: "zoe@x.de", role: .admin, address: address))
    #expect(try store.read { try $0.profile(Account.self, of: id) } == read)
    #expect(try store.user(id)?.profile(Account.self) == read)
    #expect(try store.profile(Account.self, of: User.ID(99)) == nil)

    try store.write { users in
      try users.update(Account.self, of: id) { account in
        account.email = nil
        account.address?.zip = "53113"
        account.logins += 1
      }
    }
    #expect(
      try lastLines() == [
        #"updated 1 address '{"street":"Main Street","zip":"53111"}' '{"street":"Main Street","zip":"53113"}'"#,
        "updated 1 e-mail 'zoe@x.de' -", "updated 1 logins - 1",
      ])
  }

  @Test func `what is awaited is the same`() async throws {
    let id = try await store.write { try $0.add(Account(name: "Zoë")) }
    #expect(try await store.profile(Account.self, of: id) == Account(name: "Zoë"))
    #expect(try await store.listenable(Account.self, of: id).value == Account(name: "Zoë"))
    #expect(try await store.list(as: Account.self).value.map(\.id) == [id])
  }

  @Test func `a property that does not change is not written, whatever its format`() throws {
    let id = try store.write { users in
      try users.add([
        ("name", .text("Zoë")), ("address", .text(#"{ "zip" : "1", "street":"x", "country":"de" }"#)),
        ("other", .integer(5)),
        ("role", .text("member")),
      ])
    }
    try store.write { try $0.update(Account.self, of: id) { $0.role = .admin } }
    #expect(try lastLines() == ["updated 1 role 'member' 'admin'"])
    #expect(try stored(id)["other"] == .integer(5))
    let revision = try store.write { try $0.revision }
    try store.write { try $0.update(Account.self, of: id) { _ in } }
    #expect(try store.write { try $0.revision } == revision)
  }

  @Test func `members that the type does not know are lost when a nested value changes`() throws {
    let id = try store.write { users in
      try users.add([("name", .text("Zoë")), ("address", .text(#"{"zip":"1","street":"x","country":"de"}"#))])
    }
    try store.write { try $0.update(Account.self, of: id) { $0.address?.floor = 3 } }
    #expect(try stored(id)["address"] == .text(#"{"floor":3,"street":"x","zip":"1"}"#))
  }

  // MARK: Defaults

  @Test func `a default is stored only when it is changed`() throws {
    let id = try store.write { try $0.add(Account(name: "Zoë")) }
    #expect(try stored(id) == ["name": .text("Zoë")])
    #expect(try store.profile(Account.self, of: id) == Account(name: "Zoë"))
    try store.write { try $0.update(Account.self, of: id) { $0.role = .admin } }
    try store.write { try $0.update(Account.self, of: id) { $0.role = .member } }
    #expect(try stored(id) == ["name": .text("Zoë"), "role": .text("member")])
  }

  /// Its default for an optional property is not nil.
  private struct Odd: UserStore.Profile, Equatable {
    var name: String
    var nickname: String?
    var level: Int
    static let defaults: Odd? = Odd(name: "", nickname: "Z", level: 3)
  }

  @Test func `an optional property that is absent is nil, whatever its default`() throws {
    for odd in [Odd(name: "a", nickname: "Z", level: 3), Odd(name: "b", nickname: nil, level: 4)] {
      let id = try store.write { try $0.add(odd) }
      #expect(try store.profile(Odd.self, of: id) == odd)
    }
    #expect(try stored(User.ID(1)) == ["name": .text("a"), "nickname": .text("Z")])
  }

  @Test func `without defaults, everything that is not nil is stored`() throws {
    struct Plain: UserStore.Profile, Equatable {
      var name: String
      var level: Int
      var nickname: String?
    }
    let id = try store.write { try $0.add(Plain(name: "Zoë", level: 0)) }
    #expect(try stored(id) == ["name": .text("Zoë"), "level": .integer(0)])
    try store.write { try $0.unset(Attribute<Int>("level"), of: id) }
    #expect(throws: StoreError.self) { try store.profile(Plain.self, of: id) }
  }

  // MARK: Saving

  @Test func `saving sets the differences, and keeps what others have changed meanwhile`() throws {
    let id = try store.write { try $0.add(Account(name: "Zoë", email: "a")) }
    let original = try #require(try store.profile(Account.self, of: id))
    try store.write { try $0.update(Account.self, of: id) { $0.logins = 7 } }
    var edited = original
    edited.email = "b"
    try store.write { try $0.save(edited, over: original, of: id) }
    #expect(try lastLines() == ["updated 1 e-mail 'a' 'b'"])
    #expect(try store.profile(Account.self, of: id)?.logins == 7)
  }

  @Test func `saving is refused if somebody else has changed the same property`() throws {
    let id = try store.write { try $0.add(Account(name: "Zoë", email: "a")) }
    let original = try #require(try store.profile(Account.self, of: id))
    for value in ["c", "b", nil] {
      try store.write { try $0.update(Account.self, of: id) { $0.email = value } }
      var edited = original
      edited.email = "b"
      edited.role = .admin
      let error = #expect(throws: StoreError.self) { try store.write { try $0.save(edited, over: original, of: id) } }
      let shown = value.map { "“\($0)”" } ?? "not set"
      #expect(error?.code == .conflict && error?.message == "the e-mail of user 1 is \(shown), not “a”")
      #expect(try store.profile(Account.self, of: id)?.role == .member)
    }
  }

  @Test func `saving compares values, not formats`() throws {
    let id = try store.write { users in
      try users.add([("name", .text("Zoë")), ("address", .text(#"{"zip":"1", "street":"x"}"#))])
    }
    let original = try #require(try store.profile(Account.self, of: id))
    try store.write { try $0.set("address", of: id, to: .text(#"{"street": "x", "zip": "1"}"#)) }
    var edited = original
    edited.address?.zip = "2"
    try store.write { try $0.save(edited, over: original, of: id) }
    #expect(try store.profile(Account.self, of: id)?.address?.zip == "2")
  }

  @Test func `a user that was removed cannot be updated or saved`() throws {
    let account = Account(name: "Zoë")
    let id = try store.write { try $0.add(account) }
    try store.write { try $0.remove(id) }
    #expect(code { try store.write { try $0.update(Account.self, of: id) { _ in } } } == .userNotFound)
    #expect(code { try store.write { try $0.save(account, over: account, of: id) } } == .userNotFound)
  }

  @Test func `a refused value writes nothing, and the write can continue`() throws {
    let id = try store.write { try $0.add(Account(name: "Zoë")) }
    try store.write { users in
      let refusal = code {
        try users.update(Account.self, of: id) { account in
          account.logins = 5
          account.name = ""
        }
      }
      #expect(refusal == .badValue)
      try users.update(Account.self, of: id) { $0.email = "a" }
    }
    #expect(try stored(id) == ["name": .text("Zoë"), "e-mail": .text("a")])
    #expect(throws: CancellationError.self) {
      try store.write { try $0.update(Account.self, of: id) { _ in throw CancellationError() } }
    }
  }

  @Test func `a profile without a name cannot be added, and can be read`() throws {
    struct Level: UserStore.Profile, Equatable {
      var level: Int?
    }
    #expect(code { try store.write { try $0.add(Level(level: 1)) } } == .badValue)
    let id = try store.write { try $0.add(name: "Zoë") }
    try store.write { try $0.update(Level.self, of: id) { $0.level = 3 } }
    #expect(try stored(id) == ["name": .text("Zoë"), "level": .integer(3)])
  }
}
