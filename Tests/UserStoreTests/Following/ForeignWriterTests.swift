import TestSupport
import Testing

@testable import UserStore

/// The promise “every writer”: changes by the sqlite3 shell, by Python and by another store.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ForeignWriterTests {
  let folder: Folder

  init() throws {
    folder = try Folder()
  }

  private func open(events: Bool) throws -> (UserStore, Recorder<ChangeSet>) {
    let store = try folder.open { $0.usesFileEvents = events }
    #expect(store.hasFileEvents == events)
    let sets = Recorder<ChangeSet>()
    store.listeners.bind("test", to: .everything) { sets.record($0) }
    return (store, sets)
  }

  /// Waits for as many changes as `lines` has, and compares them.
  ///
  /// Several foreign writes may arrive as one set.
  private func expect(
    _ lines: [String], in sets: Recorder<ChangeSet>, sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    await sets.reached { $0.map(\.lines.count).reduce(0, +) >= lines.count }
    #expect(sets.all.flatMap(\.lines) == lines, sourceLocation: sourceLocation)
    #expect(sets.all.allSatisfy { $0.isForeign && $0.origin == nil }, sourceLocation: sourceLocation)
  }

  @Test(arguments: [true, false])
  func `the values that the shell writes are delivered exactly and in order, including the last`(_ events: Bool)
    async throws
  {
    let (store, sets) = try open(events: events)
    try folder.shell("INSERT INTO users (name) VALUES ('Zoë')")
    try folder.shell("UPDATE users SET name = 'Zoe', hair_color = '#000000'")
    try folder.shell("INSERT INTO attributes VALUES (1, 'a', 1.5), (1, 'b', x'00ff'), (1, 'c', CAST(x'ff' AS TEXT))")
    await expect(
      [
        "added 1 name - 'Zoë'", "added 1 hair_color - -", "updated 1 name 'Zoë' 'Zoe'",
        "updated 1 hair_color - '#000000'", "updated 1 a - 1.5", "updated 1 b - [0, 255]", "updated 1 c - invalid[255]",
      ], in: sets)
    withExtendedLifetime(store) {}
  }

  @Test(arguments: [true, false])
  func `REPLACE and DELETE without WHERE are delivered`(_ events: Bool) async throws {
    let (store, sets) = try open(events: events)
    try folder.shell("INSERT INTO users (name) VALUES ('a'); INSERT INTO attributes VALUES (1, 'x', 1)")
    try folder.shell("INSERT OR REPLACE INTO attributes VALUES (1, 'x', 2); REPLACE INTO users VALUES (1, 'b', NULL)")
    try folder.shell("INSERT INTO users (name) VALUES ('c'); DELETE FROM users")
    await sets.reached { $0.contains { $0.lines.contains("removed 2 name 'c' -") } }
    await sets.reached { sets in sets.flatMap(\.lines).filter { $0.hasPrefix("removed") }.count >= 7 }
    let lines = sets.all.flatMap(\.lines)
    #expect(lines.contains("updated 1 x 1 2"))
    #expect(lines.filter { $0 == "removed 1 name 'a' -" }.count == 1)
    #expect(lines.filter { $0 == "removed 1 name 'b' -" }.count == 1)
    #expect(lines.filter { $0 == "removed 1 x 2 -" }.count == 1)
    #expect(try await store.read { try $0.count() } == 0)
  }

  @Test(arguments: [true, false])
  func `a thousand updates by Python are delivered, each once`(_ events: Bool) async throws {
    let (store, sets) = try open(events: events)
    let zoe = try await store.write { try $0.add(name: "0") }
    let name = try await store.listenable(.name, of: zoe)
    try folder.python("for i in range(1, 1001): db.execute('UPDATE users SET name = ?', (str(i),))")
    await sets.reached { $0.last?.lines.last == "updated 1 name '999' '1000'" }
    let expected = (1...1_000).map { "updated 1 name '\($0 - 1)' '\($0)'" }
    #expect(sets.all.dropFirst().flatMap(\.lines) == expected)
    #expect(name.value == "1000")
  }

  @Test func `changes that foreign writers roll back are not delivered`() async throws {
    let (store, sets) = try open(events: true)
    try folder.python(
      """
      db.execute('BEGIN'); db.execute("INSERT INTO users (name) VALUES ('no')"); db.execute('ROLLBACK')
      db.execute('BEGIN'); db.execute('SAVEPOINT s'); db.execute("INSERT INTO users (name) VALUES ('no')")
      db.execute('ROLLBACK TO s'); db.execute("INSERT INTO users (name) VALUES ('yes')"); db.execute('COMMIT')
      try: db.execute("INSERT INTO users (name) VALUES ('half'), (NULL)")
      except sqlite3.IntegrityError: pass
      """)
    await expect(["added 1 name - 'yes'", "added 1 hair_color - -"], in: sets)
    withExtendedLifetime(store) {}
  }

  @Test func `a foreign transaction is delivered whole, and before the library's write that follows it`() async throws {
    let store = try folder.open { $0.watchesOtherProcesses = false }
    let sets = Recorder<ChangeSet>()
    store.listeners.bind("test", to: .everything) { sets.record($0) }
    try await store.write(origin: "own") { try $0.add(name: "a") }
    try folder.shell("BEGIN; UPDATE users SET name = 'b'; UPDATE users SET name = 'c'; COMMIT")
    try await store.write(origin: "own") { try $0.rename(User.ID(1), to: "d") }
    #expect(
      sets.all.map(\.lines) == [
        ["added 1 name - 'a'", "added 1 hair_color - -"], ["updated 1 name 'a' 'b'", "updated 1 name 'b' 'c'"],
        ["updated 1 name 'c' 'd'"],
      ])
    #expect(sets.all.map(\.origin) == ["own", nil, "own"])
    #expect(sets.all.map(\.isForeign) == [false, true, false])
  }

  @Test(arguments: [true, false])
  func `two stores on one file receive the same sets in commit order, with the writer's origin`(_ events: Bool)
    async throws
  {
    let (left, leftSets) = try open(events: events)
    let (right, rightSets) = try open(events: events)
    try Threads.run(2) { thread in
      let store = thread == 0 ? left : right
      for step in 0..<100 { try store.write(origin: "\(thread)") { try $0.add(name: "\(step)") } }
    }
    await leftSets.reached(200)
    await rightSets.reached(200)
    #expect(leftSets.all.map(\.cursor) == rightSets.all.map(\.cursor))
    #expect(leftSets.all.map(\.origin) == rightSets.all.map(\.origin))
    #expect(leftSets.all.map(\.lines) == rightSets.all.map(\.lines))
    #expect(try left.allChanges().map(\.cursor) == leftSets.all.map(\.cursor))
  }

  @Test func `a write without an origin and one with an empty origin differ in small and in huge sets`()
    async throws
  {
    let (store, sets) = try open(events: true)
    let (other, otherSets) = try open(events: true)
    let before = try await store.read { try $0.cursor }
    let origins = [nil, "", "own"] as [String?]
    for count in [1, 1_000] {
      for origin in origins {
        try await store.write(origin: origin) { transaction in
          for number in 0..<count { try transaction.add(name: "\(number)") }
        }
      }
    }
    await otherSets.reached(6)
    var fed: [String?] = []
    for try await set in store.changeSets(after: before) {
      fed.append(set.origin)
      if fed.count == 6 { break }
    }
    let expected = origins + origins
    #expect(sets.all.map(\.origin) == expected && otherSets.all.map(\.origin) == expected)
    #expect(try fed == expected && other.allChanges().map(\.origin) == expected)
  }

  @Test func `a read-only store receives the changes of others`() async throws {
    let (writer, _) = try open(events: true)
    let reader = try folder.open { $0.access = .readOnly }
    let sets = Recorder<ChangeSet>()
    reader.listeners.bind("test", to: .everything) { sets.record($0) }
    try await writer.write { try $0.add(name: "a") }
    await sets.reached(1)
    #expect(code { try reader.write { try $0.add(name: "b") } } == .readOnly)
    #expect(await awaitedCode { try await reader.write { try $0.add(name: "b") } } == .readOnly)
  }

  @Test func `an update of a hundred thousand rows is paged, and each listener receives its part`() async throws {
    let (store, _) = try open(events: true)
    try folder.python(
      """
      db.execute('BEGIN'); db.executemany('INSERT INTO users (name) VALUES (?)', ((str(i),) for i in range(100000)))
      db.execute('COMMIT')
      """)
    let counts = Recorder<Int>()
    let received = Recorder<String>()
    store.listeners.unbind("test", from: .everything)
    let last = try await store.listenable(.name, of: User.ID(100_000))
    store.listeners.bind("all", to: .attribute(.name)) { set in
      guard set.revision.rawValue > 200_000 else { return }
      if case .held = set.content { Issue.record("a huge set was held in memory") }
      var count = 0
      try set.forEach { _ in count += 1 }
      counts.record(count)
    }
    last.bind("last") { received.record($0 ?? "-") }
    store.listeners.bind("one", to: .attribute(.name, of: User.ID(5))) { received.record($0.lines.joined()) }
    try folder.shell("UPDATE users SET name = name || '!'")
    await counts.reached { $0.reduce(0, +) >= 100_000 }
    // The set that added the users may have come after the listeners.
    await received.reached { $0.contains("99999!") && $0.contains("updated 5 name '4' '4!'") }
    #expect(counts.all == [100_000])
    #expect(received.all.suffix(2) == ["99999!", "updated 5 name '4' '4!'"])
  }
}
