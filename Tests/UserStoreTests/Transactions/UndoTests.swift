import TestSupport
import Testing

@testable import UserStore

/// Undoing a write: all of it or nothing.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct UndoTests {
  let folder: Folder
  let store: UserStore
  let zoe: User.ID
  let age = Attribute<Int>("age")

  init() throws {
    folder = try Folder()
    store = try folder.open()
    zoe = try store.write { try $0.add(name: "Zoë", hairColor: Color("auburn")) }
  }

  @discardableResult
  private func undo(_ revision: Revision? = nil) throws -> Revision {
    try store.write(origin: "undo") { try $0.undo(revision) }
  }

  private var revision: Revision { get throws { try store.read { try $0.cursor.revision } } }
  private var users: [User] { get throws { try store.read { try $0.users() } } }

  @Test func `undoing the removal of a purged user throws an error that says so`() throws {
    let store = try UserStore.forTests()
    let id = try store.write { try $0.add(name: "NIX", hairColor: Color("auburn")) }
    try store.write { try $0.remove(id) }
    _ = try store.purge(id)
    let error = #expect(throws: StoreError.self) { try store.write { try $0.undo() } }
    #expect(error?.code == .conflict && error?.message.contains("purged") == true)
    #expect(try store.read { try $0.count() } == 0)
  }

  @Test func `undo restores every value in one set with its origin, and a second undo undoes the first`() throws {
    let before = try users
    try store.write { transaction in
      try transaction.rename(zoe, to: "x")
      try transaction.rename(zoe, to: "y")
      try transaction.set(.hairColor, of: zoe, to: nil)
      try transaction.set(age, of: zoe, to: 41)
    }
    let after = try users
    let sets = Recorder<ChangeSet>()
    store.listeners.bind("all", to: .everything) { sets.record($0) }
    let written = try revision
    #expect(try undo() == written)
    #expect(try users == before)
    #expect(sets.all.map(\.origin) == ["undo"])
    #expect(
      sets.all.map(\.lines) == [
        [
          "updated 1 age 41 -", "updated 1 hair_color - '#a52a2a'", "updated 1 name 'y' 'x'",
          "updated 1 name 'x' 'Zoë'",
        ]
      ])
    try undo()
    #expect(try users == after)
    #expect(try store.check().filter { $0.severity == .problem } == [])
  }

  @Test func `undo removes an added user, and adds a removed one again with its id and values`() throws {
    let nix = try store.write { transaction in
      let nix = try transaction.add(name: "NIX")
      try transaction.set(age, of: nix, to: 7)
      return nix
    }
    let both = try users
    let added = try revision
    try store.write { try $0.remove(nix) }
    try undo()
    #expect(try users == both)
    try undo(added)
    #expect(try users.map(\.id) == [zoe])
    #expect(try store.write { try $0.add(name: "next") } == User.ID(3), "an id is never used for another user")
  }

  @Test(.sqlite) func `undo restores values exactly as they were stored, also those that set refuses`() throws {
    try folder.shell(
      """
      INSERT INTO attributes VALUES (1, 'odd', CAST(x'41FF00' AS TEXT)), (1, 'one', 1.0), (1, 'blob', x'');
      UPDATE users SET name = 'a' || char(10), hair_color = 'mauve'
      """)
    let before = try users
    try store.write { transaction in
      try transaction.set("odd", of: zoe, to: .integer(1))
      try transaction.set("one", of: zoe, to: .integer(1))
      try transaction.set("blob", of: zoe, to: .null)
      try transaction.rename(zoe, to: "x")
      try transaction.set(.hairColor, of: zoe, to: Color("red"))
    }
    try undo()
    #expect(try users == before)
    try store.write { try $0.remove(zoe) }
    try undo()
    #expect(try users == before)
  }

  @Test(.sqlite)
  func `if a value has changed since the write, undo throws conflict and changes nothing`() throws {
    try store.write { transaction in
      try transaction.set(age, of: zoe, to: 41)
      try transaction.rename(zoe, to: "x")
    }
    let written = try revision
    func refused(_ words: String, _ revision: Revision, sourceLocation: SourceLocation = #_sourceLocation) throws {
      let (before, end) = (try users, try self.revision)
      do {
        try undo(revision)
        Issue.record("there was no conflict", sourceLocation: sourceLocation)
      } catch let error as StoreError {
        #expect(error.code == .conflict, sourceLocation: sourceLocation)
        #expect(error.message.contains(words), "\(error)", sourceLocation: sourceLocation)
      }
      #expect(try users == before && self.revision == end, sourceLocation: sourceLocation)
    }
    try folder.shell("UPDATE attributes SET value = 41.0")
    try refused("the age of user 1 is 41.0, but the write set it to 41", written)
    let nix = try store.write { try $0.add(name: "NIX") }
    let added = try revision
    try store.write { try $0.set(age, of: nix, to: 1) }
    try refused("user 2 now has an attribute “age”", added)
    try store.write { try $0.remove(nix) }
    let removed = try revision
    try refused("the user no longer exists", added)
    try folder.shell("INSERT INTO users (id, name) VALUES (2, 'NIX')")
    try refused("user 2 exists again", removed)
  }

  @Test(.sqlite) func `a refused undo leaves nothing behind in a write that continues`() throws {
    try store.write { transaction in
      try transaction.set(age, of: zoe, to: 41)
      try transaction.rename(zoe, to: "x")
    }
    let written = try revision
    try folder.shell("UPDATE attributes SET value = 42")
    try store.write { transaction in
      #expect(throws: StoreError.self) { try transaction.undo(written) }
      try transaction.set(.hairColor, of: zoe, to: nil)
    }
    #expect(try store.allChanges().last?.lines == ["updated 1 hair_color '#a52a2a' -"])
  }

  @Test(.sqlite)
  func `a revision that ends no write throws revisionNotFound, and a deleted one throws compacted`() throws {
    try store.write { try $0.rename(zoe, to: "x") }
    let written = try revision
    try folder.shell("UPDATE users SET hair_color = NULL")
    let foreign = try revision
    for number in [written.rawValue - 1, foreign.rawValue, 99] {
      #expect(code { try undo(Revision(rawValue: number)) } == .revisionNotFound)
    }
    #expect(try undo() == written, "the newest write of the library, even if other programs have written since")
    try folder.shell(
      """
      BEGIN; UPDATE meta SET horizon_nonce = (SELECT nonce FROM changes WHERE seq = \(foreign)), horizon = \(foreign);
      DELETE FROM changes WHERE seq <= \(foreign); COMMIT
      """)
    #expect(code { try undo(written) } == .compacted)
    #expect(code { try UserStore.forTests().write { try $0.undo() } } == .revisionNotFound)
  }

  @Test(.sqlite) func `a user whose id cannot be chosen is not added again`() throws {
    let largest = User.ID(1 << 62)
    let id = try store.write { users in
      try users.add([("name", .text("largest"))], as: largest)
      return try users.add(name: "NIX")
    }
    #expect(id.rawValue == 1 << 62 + 1)
    try store.write { try $0.remove(id) }
    let error = try #require(throws: StoreError.self) { try store.write { try $0.undo() } }
    #expect(error.code == .conflict && error.message.hasPrefix("cannot undo: user \(id) cannot be added again"))
    #expect(try users.map(\.id) == [zoe, largest])
  }

  @Test func `an undo is checked before anything is undone`() throws {
    struct Refused: Error {}
    let revision = try store.write { transaction in
      try transaction.set(age, of: zoe, to: 36)
      try transaction.post("birthday", about: zoe)
      try transaction.rename(zoe, to: "Zoe")
      return try transaction.revision
    }
    var seen: [AttributeName] = []
    #expect(throws: Refused.self) {
      try store.write { transaction in
        try transaction.undo(revision) { change in
          seen.append(change.attribute)
          if change.attribute == "age" { throw Refused() }
        }
      }
    }
    #expect(seen == [.name, "age"])
    #expect(try self.revision == revision)
    // Also if the transaction goes on.
    try store.write { transaction in try? transaction.undo(revision) { _ in throw Refused() } }
    #expect(try users.map { try $0.name } == ["Zoe"])
    let undone = try store.write { transaction in try transaction.undo(revision) { #expect($0.user == zoe) } }
    #expect(undone == revision)
    #expect(try users.map { try $0.name } == ["Zoë"])
  }

  @Test func `a huge write is undone page by page`() throws {
    let before = try users
    try store.write { transaction in
      for number in 0..<3_000 { try transaction.set(age, of: transaction.add(name: "\(number)"), to: number) }
    }
    try undo()
    #expect(try users == before)
    try undo()
    #expect(try users.count == 3_001)
  }

  @Test func `undoing one write after another restores every earlier state`() throws {
    var random = SplitMix64(seed: Seed.base)
    var states = [try users]
    var ends: [Revision] = []
    let start = try revision
    for _ in 0..<60 {
      try store.write { transaction in
        for _ in 0..<Int.random(in: 1...5, using: &random) { try change(&transaction, &random) }
      }
      // A write that changes nothing has no revision.
      if try revision == ends.last ?? start { continue }
      ends.append(try revision)
      states.append(try users)
    }
    while let end = ends.popLast() {
      try undo(end)
      states.removeLast()
      #expect(try users == states.last, "USERSTORE_SEED=\(Seed.base)")
    }
    #expect(try store.check().filter { $0.severity == .problem } == [])
  }

  private func change(_ transaction: inout WriteTransaction, _ random: inout SplitMix64) throws {
    let ids = try transaction.users().map(\.id)
    guard let id = ids.randomElement(using: &random), Int.random(in: 0..<6, using: &random) > 0 else {
      try transaction.add(name: "new", hairColor: Color("red"))
      return
    }
    let value: StoredValue = random.choose(.null, .integer(1), .real(1), .text("1"), .blob([0x31]))
    switch Int.random(in: 0..<8, using: &random) {
    case 0: try transaction.remove(id)
    case 1: try transaction.rename(id, to: random.choose("a", "b"))
    case 2: try transaction.set(.hairColor, of: id, to: random.choose(nil, Color("red"), Color("blue")))
    default: try transaction.set(random.choose("a", "b"), of: id, to: value)
    }
  }
}
