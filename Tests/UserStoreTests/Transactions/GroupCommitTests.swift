import Testing

@testable import UserStore

/// Awaited writes: several share a transaction, and each is a change set of its own.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct GroupCommitTests {
  let folder: Folder
  let store: UserStore
  let sets = Recorder<ChangeSet>()

  init() throws {
    folder = try Folder()
    store = try folder.open { $0.watchesOtherProcesses = false }
    store.listeners.bind("test", to: .everything) { [sets] in sets.record($0) }
  }

  /// Runs writes that wait at the same time, so that they form one group.
  ///
  /// - Returns: The error code of each write, nil for success.
  private func group(_ bodies: [Lineup.Body]) async throws -> [String?] {
    let lineup = await Lineup(store)
    for body in bodies { await lineup.add(.task, body) }
    return await lineup.go()
  }

  @Test func `each write of a group is a set of its own, in the order of arrival, with its origin`() async throws {
    let results = try await group((0..<10).map { number in { try $0.add(name: "\(number)") } })
    #expect(results == Array(repeating: nil, count: 10))
    #expect(sets.all.map(\.origin) == (0..<10).map { "\($0)" })
    #expect(sets.all.map(\.lines.count) == Array(repeating: 2, count: 10))
    #expect(try store.allChanges().map(\.cursor) == sets.all.map(\.cursor))
  }

  @Test func `an awaited write that throws leaves nothing behind, also when it is alone`() async throws {
    await #expect(throws: Refusal.self) {
      try await store.write {
        try $0.add(name: "half")
        throw Refusal()
      }
    }
    #expect(try await store.read { try $0.count() } == 0)
    #expect(sets.all.isEmpty)
  }

  @Test func `a write that throws leaves nothing behind, and the others of its group commit`() async throws {
    let results = try await group([
      { try $0.add(name: "a") },
      {
        try $0.add(name: "b")
        throw Refusal()
      }, { try $0.add(name: "c") }, { try $0.rename(User.ID(99), to: "x") }, { _ in },
    ])
    #expect(results == [nil, "Refusal", nil, "userNotFound", nil])
    #expect(sets.all.map(\.origin) == ["0", "2"])
    let names = try await store.read { transaction in try transaction.users().map { try $0.name } }
    #expect(names == ["a", "c"])
  }

  @Test func `a write that ends the transaction rolls back the writes before it, not those after it`() async throws {
    let results = try await group([
      { try $0.add(name: "a") },
      { transaction in
        try transaction.add(name: "b")
        try transaction.execute("ROLLBACK")
        throw Refusal()
      }, { try $0.add(name: "c") },
    ])
    #expect(results == ["rolledBackWithGroup", "Refusal", nil])
    #expect(sets.all.map(\.origin) == ["2"])
    let names = try await store.read { transaction in try transaction.users().map { try $0.name } }
    #expect(names == ["c"])
  }

  @Test func `a write that ends the transaction without throwing gets the error transactionEnded`() async throws {
    let results = try await group([
      { try $0.add(name: "a") },
      { transaction in
        try transaction.execute("ROLLBACK")
        #expect(code { _ = try transaction.count() } == .transactionEnded)
      }, { try $0.add(name: "c") },
    ])
    #expect(results == ["rolledBackWithGroup", "transactionEnded", nil])
    let store = store
    let alone = code {
      try store.write { transaction in try transaction.execute("ROLLBACK") }
    }
    #expect(alone == .transactionEnded)
  }

  @Test func `a write that is canceled before it starts is committed`() async throws {
    let lineup = await Lineup(store)
    let ran = Recorder<Void>()
    let store = store
    let task = Task.detached { try await store.write { _ in ran.record(()) } }
    while store.waitingWriters < 1 { await Task.yield() }
    task.cancel()
    await lineup.go()
    try await task.value
    #expect(ran.count == 1)
  }

  @Test func `canceling has no effect on a write that has started`() async throws {
    let (inside, mayContinue) = (Recorder<Void>(), Gate())
    let store = store
    let task = Task.detached {
      try await store.write { transaction in
        inside.record(())
        mayContinue.wait()
        try transaction.add(name: "a")
      }
    }
    await inside.reached(1)
    task.cancel()
    mayContinue.open()
    try await task.value
    #expect(sets.count == 1)
  }

  @Test func `an awaited write returns its closure's result after its delivery`() async throws {
    for number in 1...50 {
      let id = try await store.write { try $0.add(name: "\(number)") }
      #expect(id.rawValue == Int64(number))
      #expect(sets.count == number)
    }
  }

  @Test func `when many tasks and threads write at the same time, nothing is lost or duplicated`() async throws {
    let store = store
    let threads = try Threads.start {
      try Threads.run(3) { thread in
        for step in 0..<50 { try store.write(origin: "s") { try $0.add(name: "\(thread) \(step)") } }
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask { _ = try await store.write(origin: "a") { try $0.add(name: "a\(number)") } }
      }
      try await group.waitForAll()
    }
    try await threads.joined()
    #expect(sets.count == 350)
    #expect(try store.allChanges().map(\.cursor) == sets.all.map(\.cursor))
    #expect(try folder.shell("SELECT count(*) FROM changes WHERE op = 0") == "350\n")
  }
}
