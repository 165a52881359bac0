import Testing

@testable import UserStore

/// Awaited writes: several share a transaction, each is a set of its own.
@Suite(.timeLimit(.minutes(5))) struct GroupCommitTests {
  let folder: Folder
  let store: UserStore
  let sets = Recorder<ChangeSet>()

  init() throws {
    folder = try Folder()
    store = try folder.open { $0.watchesOtherProcesses = false }
    store.listeners.bind("test", to: .everything) { [sets] in sets.record($0) }
  }

  /// Starts writes that all wait while the writer is held up, so that they make one group; then lets them go.
  ///
  /// - Returns: the code of each one's error, nil for success.
  private func group(_ bodies: [@Sendable (inout WriteTransaction) throws -> Void]) async throws -> [String?] {
    let goOn = Gate()
    let (holding, store) = (Recorder<Void>(), store)
    let holder = Task.detached { await store.hold(holding, goOn) }
    await holding.heard(1)
    // One after the other, so that the order of the queue is known.
    var tasks: [Task<String?, Never>] = []
    for (index, body) in bodies.enumerated() {
      tasks.append(
        Task.detached {
          do {
            try await store.write(origin: "\(index)") { try body(&$0) }
            return nil
          } catch {
            return (error as? StoreError)?.code.rawValue ?? "\(type(of: error))"
          }
        })
      while store.waitingWrites < index + 1 { await Task.yield() }
    }
    goOn.open()
    var results: [String?] = []
    for task in tasks { results.append(await task.value) }
    await holder.value
    return results
  }

  @Test func `each write of a group is a set of its own, in the order of the queue, with its origin`() async throws {
    let results = try await group((0..<10).map { number in { try $0.add(name: "\(number)") } })
    #expect(results == Array(repeating: nil, count: 10))
    #expect(sets.all.map(\.origin) == (0..<10).map(String.init))
    #expect(sets.all.map(\.lines.count) == Array(repeating: 2, count: 10))
    #expect(try store.allChanges().map(\.cursor) == sets.all.map(\.cursor))
  }

  @Test func `an awaited write that is alone and throws leaves nothing`() async throws {
    await #expect(throws: Refusal.self) {
      try await store.write {
        try $0.add(name: "half")
        throw Refusal()
      }
    }
    #expect(try await store.read { try $0.userCount } == 0)
    #expect(sets.all.isEmpty)
  }

  @Test func `one that throws takes nobody with it, and leaves nothing`() async throws {
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

  @Test func `one that ends the transaction takes those before it along; those after it are written`() async throws {
    let results = try await group([
      { try $0.add(name: "a") },
      { transaction in
        try transaction.add(name: "b")
        try transaction.lease.connection.execute("ROLLBACK")
        throw Refusal()
      }, { try $0.add(name: "c") },
    ])
    #expect(results == ["rolledBackWithGroup", "Refusal", nil])
    #expect(sets.all.map(\.origin) == ["2"])
    let names = try await store.read { transaction in try transaction.users().map { try $0.name } }
    #expect(names == ["c"])
  }

  @Test func `one that ignores that it ended the transaction is told so`() async throws {
    let results = try await group([
      { try $0.add(name: "a") },
      { transaction in
        try transaction.lease.connection.execute("ROLLBACK")
        #expect(code { _ = try transaction.userCount } == .transactionEnded)
      }, { try $0.add(name: "c") },
    ])
    #expect(results == ["rolledBackWithGroup", "transactionEnded", nil])
    let store = store
    let alone = code {
      try store.write { transaction in try transaction.lease.connection.execute("ROLLBACK") }
    }
    #expect(alone == .transactionEnded)
  }

  @Test func `a write that is cancelled before it begins never runs`() async throws {
    let goOn = Gate()
    let (holding, store) = (Recorder<Void>(), store)
    let holder = Task.detached { await store.hold(holding, goOn) }
    await holding.heard(1)
    let ran = Recorder<Void>()
    let task = Task.detached { try await store.write { _ in ran.record(()) } }
    while store.waitingWrites < 1 { await Task.yield() }
    task.cancel()
    goOn.open()
    await #expect(throws: CancellationError.self) { try await task.value }
    await holder.value
    #expect(ran.count == 0)
  }

  @Test func `a write that has begun is not cancelled`() async throws {
    let (inside, goOn) = (Recorder<Void>(), Gate())
    let store = store
    let task = Task.detached {
      try await store.write { transaction in
        inside.record(())
        goOn.wait()
        try transaction.add(name: "a")
      }
    }
    await inside.heard(1)
    task.cancel()
    goOn.open()
    try await task.value
    #expect(sets.count == 1)
  }

  @Test func `an awaited write returns after its delivery, with its result`() async throws {
    for number in 1...50 {
      let id = try await store.write { try $0.add(name: "\(number)") }
      #expect(id.rawValue == Int64(number))
      #expect(sets.count == number)
    }
  }

  @Test func `many tasks and threads write at once, and nothing is lost or doubled`() async throws {
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
    try await Task.detached { try threads.join() }.value
    #expect(sets.count == 350)
    #expect(try store.allChanges().map(\.cursor) == sets.all.map(\.cursor))
    #expect(try folder.shell("SELECT count(*) FROM changes WHERE op = 0") == "350\n")
  }

  @Test func `closing with writes waiting ends each of them`() async throws {
    let goOn = Gate()
    let (holding, store) = (Recorder<Void>(), store)
    let holder = Task.detached { await store.hold(holding, goOn) }
    await holding.heard(1)
    let tasks = (0..<20).map { number in Task.detached { try await store.write { try $0.add(name: "\(number)") } } }
    while store.waitingWrites < 20 { await Task.yield() }
    store.close()
    goOn.open()
    await holder.value
    for task in tasks {
      if case .failure(let error) = await task.result { #expect((error as? StoreError)?.code == .closed) }
    }
  }
}

extension UserStore {
  /// How many awaited writes wait for their turn.
  fileprivate var waitingWrites: Int { queue?.waitingCount ?? 0 }

  /// Holds up the store's own thread with a write of nothing, until `goOn` is opened.
  fileprivate func hold(_ holding: Recorder<Void>, _ goOn: Gate) async {
    try? await write { _ in
      holding.record(())
      goOn.wait()
    }
  }
}
