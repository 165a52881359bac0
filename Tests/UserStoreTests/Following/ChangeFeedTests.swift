import TestSupport
import Testing

@testable import UserStore

/// The promises of the article “The change feed”: ordered, unique, without gaps, and atomic.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ChangeFeedTests {
  let folder: Folder

  init() throws {
    folder = try Folder()
  }

  @Test func `a feed delivers past changes, then new ones`() async throws {
    let store = try folder.open()
    let start = try await store.read { try $0.cursor }
    for number in 0..<3 { try await store.write { try $0.add(name: "\(number)") } }
    var sets: [ChangeSet] = []
    for try await set in store.changeSets(after: start) {
      sets.append(set)
      if sets.count < 6 { try await store.write { try $0.add(name: "more") } }
      if sets.count == 6 { break }
    }
    #expect(sets.count == 6)
    #expect(try store.allChanges().prefix(6).map(\.cursor) == sets.map(\.cursor))
  }

  @Test func `a snapshot and its feed miss and repeat nothing while threads and Python write`() async throws {
    let store = try folder.open()
    let folder = folder
    let python = try Threads.start {
      try folder.python(
        """
        for i in range(300):
          db.execute('BEGIN IMMEDIATE')
          for n in range(3): db.execute('INSERT INTO users (name) VALUES (?)', ('python %d %d' % (i, n),))
          db.execute('COMMIT')
        """)
    }
    let swift = try Threads.start {
      try Threads.run(2) { thread in
        for step in 0..<200 {
          try store.write { transaction in for part in 0..<2 { try transaction.add(name: "\(thread) \(step) \(part)") }
          }
        }
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          var (count, cursor) = try await store.read { (try $0.count(), try $0.cursor) }
          var iterator = store.changeSets(after: cursor).makeAsyncIterator()
          while count < 1_700, let set = try await iterator.next() {
            let added = try set.changes.count { $0.kind == .added && $0.attribute == "name" }
            // A transaction is never delivered in part.
            #expect(added % (set.isForeign ? 3 : 2) == 0)
            count += added
            #expect(set.cursor.revision > cursor.revision)
            cursor = set.cursor
          }
          #expect(count == 1_700)
        }
      }
      try await group.waitForAll()
    }
    try await python.joined()
    try await swift.joined()
  }

  @Test func `after every cursor the same sets follow`() throws {
    let store = try folder.open()
    for number in 0..<20 {
      try store.write(origin: "\(number)") { try $0.add(name: "\(number)") }
      if number % 5 == 0 { try folder.shell("UPDATE users SET name = name || '!'") }
    }
    let all = try store.allChanges()
    #expect(all.count == 24)
    for (index, set) in all.enumerated() {
      let rest = try store.allChanges(after: set.cursor)
      #expect(rest.map(\.lines) == all.dropFirst(index + 1).map(\.lines))
      #expect(rest.map(\.origin) == all.dropFirst(index + 1).map(\.origin))
    }
  }

  @Test func `a set of up to a thousand changes is held in memory, and a larger one is paged`() throws {
    let store = try folder.open()
    for count in [499, 500, 501, 2_000] {
      let before = try store.read { try $0.cursor }
      try store.write { transaction in for number in 0..<count { try transaction.add(name: "\(number)") } }
      let sets = try store.allChanges(after: before)
      #expect(sets.count == 1)
      #expect(try sets[0].changes.count == 2 * count)
      if case .held = sets[0].content { #expect(count <= 500) } else { #expect(count > 500) }
    }
  }

  @Test func `a small foreign set before a huge set is delivered separately`() throws {
    let store = try folder.open { $0.watchesOtherProcesses = false }
    let before = try store.read { try $0.cursor }
    try folder.shell("INSERT INTO users (name) VALUES ('foreign')")
    try store.write(origin: "own") { transaction in for number in 0..<800 { try transaction.add(name: "\(number)") } }
    let sets = try store.allChanges(after: before)
    #expect(sets.map(\.isForeign) == [true, false])
    #expect(sets.map(\.origin) == [nil, "own"])
    #expect(try sets.map { try $0.changes.count } == [2, 1_600])
    if case .held = sets[0].content {} else { Issue.record("a set of two changes is not held in memory") }
  }

  @Test func `a long backlog is read in steps`() throws {
    let store = try folder.open()
    try folder.python(
      """
      db.execute('BEGIN')
      for i in range(50000):
        db.execute("INSERT INTO users (name) VALUES ('a')")
        db.execute("INSERT INTO changes (op, old) SELECT 0, max(seq) - 1 FROM changes")
      db.execute('COMMIT')
      """)
    var (count, cursor) = (0, Cursor?.none)
    while true {
      let sets = try store.page(after: cursor)
      #expect(sets.count <= 1_000)
      guard let last = sets.last else { break }
      count += sets.count
      cursor = last.cursor
    }
    #expect(count == 50_000)
  }

  @Test func `a feed ends when its task is canceled, and when the store is closed`() async throws {
    let store = try folder.open()
    let start = try await store.read { try $0.cursor }
    let received = Recorder<Void>()
    let tasks = (0..<2).map { _ in
      Task {
        for try await _ in store.changeSets(after: start) { received.record(()) }
        return true
      }
    }
    try await store.write { try $0.add(name: "a") }
    await received.reached(2)
    tasks[0].cancel()
    #expect(try await tasks[0].value)
    await store.close()
    #expect(try await tasks[1].value)
    var count = 0
    for try await _ in store.changeSets(after: start) { count += 1 }
    #expect(count == 0)
  }

  @Test func `a slow reader blocks neither writers nor checkpoints`() async throws {
    let store = try folder.open()
    var iterator = store.changeSets(after: try await store.read { try $0.cursor }).makeAsyncIterator()
    try await store.write { try $0.add(name: "first") }
    #expect(try await iterator.next() != nil)
    for number in 0..<2_000 { try store.writeNow { try $0.add(name: "\(number)") } }
    try folder.shell("PRAGMA wal_checkpoint(TRUNCATE)")
    #expect(try Files.size(of: folder.database + "-wal") == 0, "the feed leaves no transaction open")
    for _ in 0..<2_000 { #expect(try await iterator.next()?.lines.count == 2) }
  }

  @Test func `a feed works the same in memory`() async throws {
    let store = try UserStore.forTests()
    var iterator = store.changeSets(after: try await store.read { try $0.cursor }).makeAsyncIterator()
    try await store.write(origin: "x") { try $0.add(name: "a") }
    #expect(try await iterator.next()?.origin == "x")
  }
}
