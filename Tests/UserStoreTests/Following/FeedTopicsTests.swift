import Testing

@testable import UserStore

/// Feeds of some topics, and their heartbeats.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct FeedTopicsTests {
  private let folder: Folder
  private let clock = ManualClock()
  private let store: UserStore
  private let start: Cursor
  private let (nix, zoe): (User.ID, User.ID)

  init() throws {
    folder = try Folder()
    let clock = clock
    store = try folder.open { $0.clock = clock }
    (nix, zoe) = try store.write { (try $0.add(name: "NIX"), try $0.add(name: "Zoë")) }
    start = try store.read { try $0.cursor }
  }

  private func writeSome() async throws {
    try await store.write { [nix] in try $0.set(.age, of: nix, to: 1) }
    try await store.write { [zoe] in try $0.rename(zoe, to: "Zoe") }
    try await store.write { [nix, zoe] in
      try $0.set(.age, of: zoe, to: 2)
      try $0.rename(nix, to: "Nix")
    }
    try await store.write { [zoe] in try $0.set(.hairColor, of: zoe, to: Color("auburn")) }
  }

  @Test(arguments: [
    ([Topic.everything], [1, 1, 2, 1]), ([.attribute(.age)], [1, 1]),
    ([.attribute(.age), .attribute(.name)], [1, 1, 2]),
    ([.attributeOfUser("age", User.ID(2))], [1]), ([.user(User.ID(1))], [1, 1]), ([.attributeOfAll("none")], []),
    ([.attribute(.age), .everything], [1, 1, 2, 1]), ([], []),
  ])
  func `a feed delivers the changes of its topics, with the cursors of the whole sets`(
    _ topics: [Topic], _ counts: [Int]
  ) async throws {
    try await writeSome()
    let end = try await store.read { try $0.cursor }
    let all = try await store.page(after: start)
    var iterator = store.changeSets(after: start, of: topics, heartbeat: .seconds(15)).makeAsyncIterator()
    var received: [Int] = []
    while let set = try await iterator.next() {
      if set.heartbeat == .upToDate {
        #expect(set.cursor == end, "the cursor is also after what the topics hide")
        break
      }
      received.append(try set.changes.count)
      #expect(all.contains { $0.cursor == set.cursor })
      #expect(try set.changes.allSatisfy { change in topics.contains { $0.contains(change) } })
    }
    #expect(received == counts)
  }

  @Test func `a heartbeat is delivered when the end is reached, then in each interval without a set`() async throws {
    var iterator = store.changeSets(after: start, of: [.attribute(.age)], heartbeat: .seconds(15)).makeAsyncIterator()
    #expect(try await iterator.next()?.heartbeat == .upToDate)
    await clock.slept.reached(1)
    try await store.write { [zoe] in try $0.rename(zoe, to: "hidden") }
    let hidden = try await store.read { try $0.cursor }
    clock.advance(by: .seconds(15))
    let heartbeat = try #require(try await iterator.next())
    #expect(heartbeat.heartbeat == .upToDate && heartbeat.cursor == hidden)
    #expect(try heartbeat.changes.isEmpty && heartbeat.origin == nil && !heartbeat.isForeign)
    await clock.slept.reached(2)
    try await store.write { [nix] in try $0.set(.age, of: nix, to: 1) }
    clock.advance(by: .seconds(15))
    await clock.slept.reached(3)
    let set = try #require(try await iterator.next())
    #expect(set.heartbeat == nil)
    #expect(set.lines == ["updated 1 age - 1"])
    // The set took the place of the heartbeat that was due: the next element is another set, and not a heartbeat.
    try await store.write { [zoe] in try $0.rename(zoe, to: "hidden too") }
    let later = Task { [store, nix] in
      for _ in 0..<1_000 { await Task.yield() }
      try await store.write { try $0.set(.age, of: nix, to: 2) }
    }
    #expect(try await iterator.next()?.heartbeat == nil)
    try await later.value
    clock.advance(by: .seconds(15))
    #expect(try await iterator.next()?.heartbeat == .upToDate, "the set took the place of one heartbeat, not of two")
    #expect(clock.slept.all.prefix(3) == [.seconds(15), .seconds(30), .seconds(45)])
  }

  @Test func `a feed that reads for long what its topics hide delivers heartbeats in between`() async throws {
    try folder.python(
      """
      db.execute('BEGIN')
      for i in range(20000):
        db.execute("INSERT INTO users (name) VALUES ('a')")
        db.execute("INSERT INTO changes (op, old) SELECT 0, max(seq) - 1 FROM changes")
      db.execute('COMMIT')
      """)
    var iterator = store.changeSets(after: start, of: [.attribute(.age)], heartbeat: .seconds(15)).makeAsyncIterator()
    await clock.slept.reached(1)
    clock.advance(by: .seconds(15))
    // The heartbeat is due once its task sleeps again.
    await clock.slept.reached(2)
    let first = try #require(try await iterator.next())
    #expect(first.heartbeat == .behind && first.cursor.revision > start.revision)
    let second = try #require(try await iterator.next())
    let end = try await store.read { try $0.cursor }
    #expect(second.heartbeat == .upToDate && second.cursor == end)
    // A client that has saved the cursor continues after what was hidden.
    #expect(try await store.page(after: second.cursor).isEmpty)
  }

  @Test func `a feed without a heartbeat delivers none`() async throws {
    let received = Recorder<ChangeSet>()
    let task = Task { [store, start] in
      for try await set in store.changeSets(after: start, of: [.attribute(.age)]) { received.record(set) }
    }
    try await writeSome()
    await received.reached(2)
    #expect(received.all.allSatisfy { $0.heartbeat == nil } && clock.slept.count == 0)
    task.cancel()
    try await task.value
  }

  @Test func `releasing an iteration ends its heartbeat`() async throws {
    do {
      var iterator = store.changeSets(after: start, heartbeat: .seconds(15)).makeAsyncIterator()
      #expect(try await iterator.next()?.heartbeat == .upToDate)
      await clock.slept.reached(1)
    }
    await clock.woken.reached(1)
    #expect(clock.sleepers == 0)
  }

  @Test func `of a huge set, a feed delivers a small part from memory and a large part by pages`() async throws {
    try await store.write { [nix] transaction in
      for number in 0..<1_000 { try transaction.add(name: "\(number)") }
      try transaction.set(.age, of: nix, to: 1)
    }
    var iterator = store.changeSets(after: start, of: [.attribute(.age)]).makeAsyncIterator()
    let small = try #require(try await iterator.next())
    #expect(small.heldChanges?.count == 1)
    iterator = store.changeSets(after: start, of: [.attribute(.name), .attribute(.age)]).makeAsyncIterator()
    let large = try #require(try await iterator.next())
    #expect(large.heldChanges == nil)
    #expect(try large.changes.count == 1_001)
    var count = 0
    try await large.forEach { _ in count += 1 }
    #expect(count == 1_001)
  }

  @MainActor @Test func `an awaited iteration of a huge set calls its closure on the caller's actor, and can stop`()
    async throws
  {
    try await store.write { transaction in for number in 0..<2_000 { try transaction.add(name: "\(number)") } }
    let set = try #require(try await store.page(after: start).first)
    var count = 0
    try await set.iterate { _ in
      MainActor.assertIsolated()
      count += 1
      return count < 1_500
    }
    #expect(count == 1_500)
    struct Stop: Error {}
    await #expect(throws: Stop.self) { try await set.forEach { _ in throw Stop() } }
    try store.compactNow()
    #expect(await awaitedCode { try await set.forEach { _ in } } == .compacted)
  }

  @MainActor @Test func `an async closure is awaited before the next page of a huge set is read`() async throws {
    try await store.write { transaction in for number in 0..<2_000 { try transaction.add(name: "\(number)") } }
    let set = try #require(try await store.page(after: start).first)
    var sequences: [Int64] = []
    try await set.forEach { change in
      if change.sequence % 100 == 0 { await Task.yield() }
      MainActor.assertIsolated()
      sequences.append(change.sequence)
    }
    let isComplete = sequences == (try set.changes.map(\.sequence))
    #expect(isComplete)
    var count = 0
    do {
      try await set.forEach { _ in
        count += 1
        if count % 100 == 1 { await Task.yield() }
        // The pages that are read later are gone.
        if count == 1 { try store.compactNow() }
      }
      Issue.record("the set was read to its end")
    } catch {
      #expect(StoreError.Code.compacted ~= error)
    }
    #expect(count >= PagedChanges.rowLimit && count < sequences.count)
  }

  @Test func `a bad cursor is refused before a feed starts`() async throws {
    try await store.verify(start)
    let other = try UserStore.forTests()
    let foreign = try await other.read { try $0.cursor }
    #expect(await awaitedCode { try await store.verify(foreign) } == .diverged)
    try await writeSome()
    try store.compactNow()
    #expect(await awaitedCode { try await store.verify(start) } == .compacted)
    #expect(
      await awaitedCode {
        for try await _ in store.changeSets(after: start, of: [.everything], heartbeat: .seconds(1)) { break }
      } == .compacted)
  }

  @Test func `the sequence of a change grows, and is at most the revision of its set`() async throws {
    try await writeSome()
    var last: Int64 = 0
    for set in try await store.page(after: nil) {
      for change in try set.changes {
        #expect(change.sequence > last && change.sequence <= set.revision.rawValue)
        last = change.sequence
      }
    }
  }
}

extension UserStore {
  fileprivate func compactNow() throws { try compact(keeping: .rows(0)) }
}
