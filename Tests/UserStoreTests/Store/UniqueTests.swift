import TestSupport
import Testing

@testable import UserStore

extension Attribute where Value == String {
  static var email: Attribute { Attribute("email") }
}

/// Unique attributes, as a program of the library uses them; with USERSTORE_ENGINE also on PostgreSQL.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct UniqueTests {
  let store: UserStore
  let zoe: User.ID
  let nix: User.ID

  init() throws {
    store = try .forTests()
    (zoe, nix) = try store.write { (try $0.add(name: "Zoë"), try $0.add(name: "NIX")) }
    try store.write { try $0.set(.email, of: zoe, to: "zoe@x.de") }
  }

  private func email(_ id: User.ID) throws -> String? { try store.read { try $0.value(.email, of: id) } }

  /// The error of a write that is expected to be refused.
  private func refusal(_ body: (inout WriteTransaction) throws -> Void) -> StoreError? {
    #expect(throws: StoreError.self) { try store.write(body) }
  }

  @Test func `a value that another user has is refused, and names the user`() throws {
    #expect(try store.addUnique(on: "email"))
    let error = try #require(refusal { try $0.set(.email, of: nix, to: "zoe@x.de") })
    #expect(error.code == .notUnique)
    #expect(error.message == "user \(nix) cannot have the email “zoe@x.de”: user \(zoe) has it")
    #expect(error.notUnique == StoreError.NotUnique(attribute: "email", value: .text("zoe@x.de"), user: zoe))
    #expect(try email(nix) == nil)
    // A user's own value, other bytes, and absent values do not conflict.
    try store.write {
      try $0.set(.email, of: zoe, to: "zoe@x.de")
      try $0.set(.email, of: nix, to: "Zoe@x.de")
      try $0.set(.email, of: nix, to: nil)
      try $0.set(.email, of: nix, to: " zoe@x.de")
    }
    #expect(try email(nix) == " zoe@x.de")
  }

  @Test func `a refused write of any kind changes nothing, and the write goes on`() throws {
    #expect(try store.addUnique(on: "email", ignoringCase: true))
    let sets = Recorder<[String]>()
    store.listeners.bind("test", to: .everything) { sets.record($0.lines) }
    let values: [(attribute: AttributeName, value: StoredValue)] = [
      ("age", .integer(36)), ("email", .text("ZOE@x.de")), ("city", .text("Kiel")),
    ]
    try store.write { transaction in
      for count in 2...3 { #expect(code { try transaction.set(Array(values.prefix(count)), of: nix) } == .notUnique) }
      #expect(code { try transaction.add(values + [(.name, .text("Eve"))]) } == .notUnique)
      #expect(code { try transaction.set("email", of: nix, to: .text("zoe@X.DE")) } == .notUnique)
      #expect(code { try transaction.set("email", of: nix, to: .text("zoe@X.DE"), expecting: .null) } == .notUnique)
      #expect(try transaction.pendingChanges.isEmpty)
      try transaction.set("age", of: nix, to: .integer(37))
    }
    #expect(sets.all == [["updated \(nix) age - 37"]])
    #expect(try store.read { try $0.count() } == 2)
  }

  @Test func `values are swapped by unsetting one first, and an undo goes the same steps back`() throws {
    try store.write { try $0.set(.email, of: nix, to: "nix@x.de") }
    try store.addUnique(on: "email")
    #expect(refusal { try $0.set(.email, of: nix, to: "zoe@x.de") }?.code == .notUnique)
    try store.write { users in
      try users.set(.email, of: zoe, to: nil)
      try users.set(.email, of: nix, to: "zoe@x.de")
      try users.set(.email, of: zoe, to: "nix@x.de")
    }
    #expect(try [email(zoe), email(nix)] == ["nix@x.de", "zoe@x.de"])
    try store.write { _ = try $0.undo() }
    #expect(try [email(zoe), email(nix)] == ["zoe@x.de", "nix@x.de"])
  }

  @Test func `an undo that would give a value back that another user has by now is refused, and changes nothing`()
    throws
  {
    try store.addUnique(on: "email")
    try store.write { try $0.remove(zoe) }
    try store.write { try $0.set(.email, of: nix, to: "zoe@x.de") }
    let revision = try store.read { try $0.cursor.revision }
    let removal = try #require(try store.page(after: nil).dropLast().last?.revision)
    let error = try #require(refusal { _ = try $0.undo(removal) })
    #expect(error.code == .notUnique && error.message.contains("user \(zoe) cannot have the email"))
    #expect(try store.read { try ($0.cursor.revision, $0.count()) } == (revision, 1))
  }

  @Test func `names can be unique`() throws {
    try store.addUnique(on: .name, ignoringCase: true)
    #expect(
      refusal { _ = try $0.add(name: "nix") }?.message == "a new user cannot have the name “nix”: user \(nix) has it")
    #expect(
      refusal { try $0.rename(zoe, to: "NiX") }?.message == "user \(zoe) cannot have the name “NiX”: user \(nix) has it"
    )
    try store.write { try $0.rename(nix, to: "nix") }
    #expect(try store.read { try $0.user(where: .name, is: "NIX") }?.id == nix)
    #expect(refusal { _ = try $0.add([(.name, .text("NIX")), ("age", .integer(1))]) }?.code == .notUnique)
    #expect(try store.read { try $0.count() } == 2)
  }

  @Test func `a user is found by a unique value as it is compared`() throws {
    #expect(code { try store.read { try $0.user(where: .email, is: "zoe@x.de") } } == .badValue)
    try store.addUnique(on: "email", ignoringCase: true)
    #expect(try store.read { try $0.user(where: .email, is: "ZOE@X.de") }?.id == zoe)
    #expect(try store.user(where: .email, is: "zoe@x.de")?.id == zoe)
    #expect(try store.read { try $0.user(where: .email, is: "nobody@x.de") } == nil)
    #expect(try store.read { try $0.user(where: "email", is: .integer(1)) } == nil)
    #expect(try store.read { try $0.user(where: "email", is: .null) } == nil)
    // Neither another attribute is unique, nor one with a plain index.
    try store.addIndex(on: "age")
    for attribute in ["age", "city"] as [AttributeName] {
      #expect(code { try store.read { try $0.user(where: attribute, is: .integer(1)) } } == .badValue, "\(attribute)")
    }
    // A condition compares bytes, whatever the index ignores.
    #expect(try store.read { try $0.ids(matching: Query(where: .email == "ZOE@X.de")) } == [])
    #expect(try store.read { try $0.ids(matching: Query(where: .email == "zoe@x.de")) } == [zoe])
    #expect(try store.read { try $0.count(where: .email == "zoe@x.de") } == 1)
  }

  @Test func `values that are equal in a condition are the same`() throws {
    try store.addUnique(on: "code")
    let values: [(StoredValue, equal: [StoredValue], other: [StoredValue])] = [
      (.integer(1), [.integer(1), .real(1)], [.text("1"), .blob([0x31]), .real(1.5)]),
      (.real(0x1p62), [.integer(1 << 62)], [.integer((1 << 62) + 1)]),
      (.integer(.max), [], [.real(0x1p63)]),
      (.real(0.5), [.real(0.5)], [.text("0.5")]),
      (.real(.infinity), [.real(.infinity)], [.real(-.infinity)]),
      (.text(""), [.text("")], [.blob([])]),
      (.text("é"), [.text("é")], [.text("e\u{301}"), .text("É")]),
      (.text("a\0b"), [.text("a\0b")], [.text("a"), .text("a\0c")]),
      (.blob([0, 255]), [.blob([0, 255])], [.blob([0]), .text("\0")]),
      (
        .text(String(repeating: "x", count: 5_000)), [.text(String(repeating: "x", count: 5_000))],
        [.text(String(repeating: "x", count: 5_001))]
      ),
      (
        .blob(Array(repeating: 7, count: 5_000)), [.blob(Array(repeating: 7, count: 5_000))],
        [.blob(Array(repeating: 7, count: 4_999))]
      ),
    ]
    for (value, equal, others) in values {
      try store.write { try $0.set("code", of: zoe, to: value) }
      for other in equal {
        let error = refusal { try $0.set("code", of: nix, to: other) }
        #expect(error?.notUnique == StoreError.NotUnique(attribute: "code", value: other, user: zoe))
        #expect(try store.read { try $0.user(where: "code", is: other) }?.id == zoe)
      }
      for other in others {
        #expect(try store.read { try $0.user(where: "code", is: other) } == nil)
        try store.write { try $0.set("code", of: nix, to: other) }
        try store.write { try $0.set("code", of: nix, to: .null) }
      }
    }
  }

  @Test func `ignoring case means the letters A to Z`() throws {
    try store.addUnique(on: "email", ignoringCase: true)
    try store.write { try $0.set(.email, of: zoe, to: "ZOË@x.de") }
    try store.write { try $0.set(.email, of: nix, to: "zoë@x.de") }
    #expect(refusal { try $0.set(.email, of: nix, to: "zoË@X.DE") }?.code == .notUnique)
    let long = String(repeating: "Ab", count: 2_000)
    try store.write { try $0.set(.email, of: zoe, to: long) }
    #expect(refusal { try $0.set(.email, of: nix, to: long.lowercased()) }?.code == .notUnique)
  }

  @Test func `an attribute is made unique once, and changed, and removed`() throws {
    let attributes = { try store.read { try $0.uniqueAttributes.map { "\($0.attribute) \($0.ignoresCase)" } } }
    #expect(try store.addUnique(on: "email") && !store.addUnique(on: "email"))
    #expect(try store.addUnique(on: .name) && store.addIndex(on: "email"))
    #expect(try attributes() == ["email false", "name false"])
    #expect(try store.read { try $0.indexes } == ["email"])
    #expect(try store.addUnique(on: "email", ignoringCase: true) && !store.addUnique(on: "email", ignoringCase: true))
    #expect(try attributes() == ["email true", "name false"])
    #expect(refusal { try $0.set(.email, of: nix, to: "ZOE@x.de") }?.code == .notUnique)
    #expect(try store.removeUnique(on: "email") && !store.removeUnique(on: "email"))
    try store.write { try $0.set(.email, of: nix, to: "zoe@x.de") }
    #expect(try attributes() == ["name false"])
    #expect(try store.read { try $0.indexes } == ["email"])
    #expect(try store.check().filter { $0.severity == .problem } == [])
  }

  @Test func `an attribute whose values several users have does not become unique`() throws {
    try store.write { users in
      try users.set(.email, of: nix, to: "ZOE@x.de")
      for index in 0..<30 {
        for part in 0..<5 { try users.set(.email, of: users.add(name: "u"), to: part == 0 ? "u\(index)" : "U\(index)") }
      }
    }
    let error = try #require(throws: StoreError.self) { try store.addUnique(on: "email", ignoringCase: true) }
    #expect(error.code == .notUnique)
    #expect(error.message.hasPrefix("“email” cannot be unique: 31 values belong to several users: "))
    #expect(error.message.hasSuffix(" and 11 more") && error.message.contains(" and 2 more)"), "\(error.message)")
    let duplicates = try store.read { try $0.duplicates(of: "email", ignoringCase: true) }
    #expect(duplicates.count == 31 && duplicates.map(\.users.count).sorted() == [2] + Array(repeating: 5, count: 30))
    #expect(duplicates.contains { $0.users == [zoe, nix] })
    #expect(try store.read { try $0.duplicates(of: "email") }.map(\.users.count) == Array(repeating: 4, count: 30))
    #expect(try store.read { try $0.uniqueAttributes.isEmpty })
    try store.write { try $0.set(.email, of: nix, to: "zoe@x.de") }
  }

  @Test func `at most 16 attributes are unique, of any name`() throws {
    let names: [AttributeName] = [
      "Email", "email", "^email", "it's", "\"", "'\u{301}", "größe", "e\u{301}", "\u{E9}", "-- x", "100%", "\\", "$1",
      "*/",
      AttributeName(String(repeating: "Ż", count: 200)), .hairColor,
    ]
    for name in names { #expect(try store.addUnique(on: name), "\(name)") }
    #expect(code { try store.addUnique(on: "age") } == .unsupported)
    #expect(try store.addUnique(on: "email", ignoringCase: true))
    #expect(try store.read { try $0.uniqueAttributes }.map(\.attribute) == names.sorted())
    for name in names where name != .hairColor {
      try store.write { try $0.set(name, of: zoe, to: .text("x")) }
      #expect(refusal { try $0.set(name, of: nix, to: .text("x")) }?.notUnique?.attribute == name, "\(name)")
    }
    try store.write { try $0.set(.hairColor, of: zoe, to: UserStore.Color("auburn")) }
    #expect(
      refusal { try $0.set(.hairColor, of: nix, to: UserStore.Color("auburn")) }?.notUnique?.attribute == .hairColor)
    for name in names { #expect(try store.removeUnique(on: name), "\(name)") }
    for name in ["", "id", "a\u{1}"] as [AttributeName] {
      #expect(code { try store.addUnique(on: name) } == .badValue, "\(name)")
      #expect(code { try store.removeUnique(on: name) } == .badValue, "\(name)")
      #expect(code { try store.read { try $0.duplicates(of: name) } } == .badValue, "\(name)")
    }
  }

  @Test func `a rename of an attribute, and an update of many profiles, obey the rule and change nothing`() throws {
    try store.write { try $0.set("mail", of: nix, to: .text("ZOE@x.de")) }
    try store.addUnique(on: "email", ignoringCase: true)
    #expect(refusal { _ = try $0.renameAttribute("mail", to: "email") }?.code == .notUnique)
    #expect(try store.read { try $0.storedValue("mail", of: nix) } == .text("ZOE@x.de"))
  }

  @Test func `one of two awaited writes gets the value, and the other is refused without harm`() async throws {
    try await store.addUnique(on: "email")
    let codes = await withTaskGroup(of: StoreError.Code?.self) { group in
      for id in [zoe, nix] {
        group.addTask {
          do {
            try await store.write { try $0.set(.email, of: id, to: "both@x.de") }
            return nil
          } catch { return (error as? StoreError)?.code }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(codes.count { $0 == nil } == 1 && codes.contains(.notUnique), "\(codes)")
  }

  @Test func `random writes give no value to two users, and are refused only for this`() throws {
    var random = SplitMix64(seed: Seed.base)
    let unique = [
      AttributeIndex(on: "a", .unique), AttributeIndex(on: "b", .uniqueIgnoringCase),
      AttributeIndex(on: .name, .uniqueIgnoringCase),
    ]
    for index in unique { try store.addUnique(on: index.attribute, ignoringCase: index.ignoresCase) }
    var users: [User.ID: [AttributeName: StoredValue]] = [zoe: ["name": .text("Zoë")], nix: ["name": .text("NIX")]]
    try store.write { try $0.set(.email, of: zoe, to: nil) }
    /// Whether a user may have a value.
    func isFree(_ attribute: AttributeName, _ value: StoredValue, besides id: User.ID?) -> Bool {
      guard let index = unique.first(where: { $0.attribute == attribute }), !value.isNull else { return true }
      return !users.contains {
        $0.key != id && index.isEqual($0.value[attribute] ?? .null, value) && $0.value[attribute] != nil
      }
    }
    for step in 0..<300 {
      let id = users.keys.sorted().randomElement(using: &random)!
      var values: [(attribute: AttributeName, value: StoredValue)] = []
      for attribute in ["a", "b", "c"] as [AttributeName] where random.oneIn(2) {
        values.append(
          (attribute, random.choose(.null, .text("x"), .text("X"), .integer(1), .real(1), .text("y"), .blob([1]))))
      }
      let place = "USERSTORE_SEED=\(Seed.base), step \(step)"
      if random.oneIn(3) {
        let name = random.choose("nix", "eve", "Ada", "ada", "bob", "BOB", "zoë")
        values.append((.name, .text(name)))
      }
      let isAdding = random.oneIn(3) && users.count < 6 && values.contains { $0.attribute == .name }
      let isAllowed = values.allSatisfy { isFree($0.attribute, $0.value, besides: isAdding ? nil : id) }
      do {
        if random.oneIn(8), users.count > 2 {
          try store.write { try $0.remove(id) }
          users[id] = nil
          continue
        }
        let changed = try store.write { transaction in
          if isAdding { return try transaction.add(values) }
          if values.count == 1 {
            try transaction.set(values[0].attribute, of: id, to: values[0].value)
          } else {
            try transaction.set(values, of: id)
          }
          return id
        }
        #expect(isAllowed, "\(place): \(values) was accepted")
        for (attribute, value) in values { users[changed, default: [:]][attribute] = value.isNull ? nil : value }
      } catch {
        #expect(!isAllowed && (error as? StoreError)?.code == .notUnique, "\(place): \(values) was refused: \(error)")
      }
    }
    #expect(try store.read { try $0.users() }.map(\.storedValues) == users.sorted { $0.key < $1.key }.map(\.value))
  }
}
