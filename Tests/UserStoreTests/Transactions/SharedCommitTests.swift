import CUserStoreSQLite
import Testing

@testable import UserStore

/// Writers that wait at the same time, threads and tasks, share a commit.
@Suite(.timeLimit(.minutes(5))) struct SharedCommitTests {
  let folder: Folder
  let store: UserStore
  let sets = Recorder<ChangeSet>()
  /// Counts the commits: each syncs once.
  let sync: FailingSync

  init() throws {
    folder = try Folder()
    try OpenedHandles.watch(folder.database)
    store = try folder.open {
      $0.watchesOtherProcesses = false
      $0.durability = .full
    }
    sync = try unsafe FailingSync(on: OpenedHandles.last(folder.database))
    // The first commit after the -wal file was begun syncs its header too.
    try store.write { try $0.add(name: "NIX") }
    store.listeners.bind("test", to: .everything) { [sets] in sets.record($0) }
  }

  private func names() throws -> [String] {
    try store.read { transaction in try transaction.users().dropFirst().map { try $0.name } }
  }

  /// On this thread, also in tests that await.
  private func write(_ name: String) throws { try store.write { _ = try $0.add(name: name) } }

  private func writeLater(_ name: String) async throws { try await store.write { _ = try $0.add(name: name) } }

  /// Threads and tasks by turns, each adding a user with its number as name.
  private func addWriters(_ count: Int, to lineup: Lineup) async {
    for number in 0..<count {
      await lineup.add(number.isMultiple(of: 2) ? .thread : .task) { try $0.add(name: "\(number)") }
    }
  }

  // MARK: Sharing

  @Test(arguments: Lineup.Kind.allCases)
  func `whoever waits when a closure ends joins its transaction, 64 at most`(kind: Lineup.Kind) async throws {
    let lineup = await Lineup(store, first: kind)
    for number in 0..<65 { await lineup.add(kind) { try $0.add(name: "\(number)") } }
    let before = sync.count
    #expect(await lineup.go() == Array(repeating: nil, count: 65))
    #expect(sync.count == before + 2)
    #expect(sets.all.map(\.origin) == (0..<65).map(String.init))
    #expect(sets.all.map(\.lines.count) == Array(repeating: 2, count: 65))
    #expect(try store.allChanges().dropFirst().map(\.cursor) == sets.all.map(\.cursor))
  }

  @Test func `threads and tasks are served in the order in which they came, whoever begins`() async throws {
    for kind in Array(repeating: Lineup.Kind.allCases, count: 10).joined() {
      let lineup = await Lineup(store, first: kind)
      let (before, heard) = (sync.count, sets.count)
      await addWriters(20, to: lineup)
      #expect(await lineup.go() == Array(repeating: nil, count: 20))
      #expect(sync.count == before + 1)
      #expect(sets.all.dropFirst(heard).map(\.origin) == (0..<20).map(String.init))
    }
  }

  @Test func `a writer that comes alone makes one transaction, at once`() async throws {
    for number in 0..<10 {
      let before = sync.count
      try write("\(number)")
      #expect(sync.count == before + 1)
      try await store.write { try $0.add(name: "awaited \(number)") }
      #expect(sync.count == before + 2)
    }
    let before = sync.count
    _ = try await store.write { try $0.userCount }
    #expect(sync.count == before)
  }

  @Test func `each closure runs on the thread that called write, and its caller gets its result`() throws {
    let store = store
    try Threads.run(16) { thread in
      let own = ObjectIdentifier(DeliveryThread.current)
      for step in 0..<20 {
        let name = "\(thread) \(step)"
        let id = try store.write { transaction in
          #expect(ObjectIdentifier(DeliveryThread.current) == own)
          return try transaction.add(name: name)
        }
        #expect(try store.read { try $0.user(id)?.name } == name)
      }
    }
  }

  @Test func `when write returns its set has been delivered, in the order of the log`() async throws {
    let (store, sets) = (store, sets)
    let threads = try Threads.start {
      try Threads.run(16) { thread in
        for step in 0..<20 {
          let origin = "\(thread) \(step)"
          try store.write(origin: origin) { try $0.add(name: origin) }
          #expect(sets.all.contains { $0.origin == origin })
        }
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<100 {
        group.addTask {
          try await store.write(origin: "\(number)") { try $0.add(name: "\(number)") }
          #expect(sets.all.contains { $0.origin == "\(number)" })
        }
      }
      try await group.waitForAll()
    }
    try await Task.detached { try threads.join() }.value
    #expect(sets.count == 420)
    #expect(try store.allChanges().dropFirst().map(\.cursor) == sets.all.map(\.cursor))
  }

  // MARK: Failing

  @Test func `one that throws takes nobody with it, also the first and the last`() async throws {
    let lineup = await Lineup(store, first: .thread) { transaction in
      try transaction.add(name: "half")
      throw Refusal()
    }
    await lineup.add(.thread) { try $0.add(name: "a") }
    await lineup.add(.thread) { transaction in
      try transaction.add(name: "b")
      throw Refusal()
    }
    await lineup.add(.task) { try $0.add(name: "c") }
    await lineup.add(.thread) { transaction in
      try transaction.add(name: "d")
      throw Refusal()
    }
    #expect(await lineup.go() == [nil, "Refusal", nil, "Refusal"])
    #expect(try names() == ["a", "c"])
    #expect(sets.all.map(\.origin) == ["0", "2"])
  }

  @Test func `one that ends the transaction takes those before it along; those after it are written`() async throws {
    let lineup = await Lineup(store, first: .thread)
    await lineup.add(.thread) { try $0.add(name: "a") }
    await lineup.add(.task) { try $0.add(name: "b") }
    await lineup.add(.thread) { transaction in
      try transaction.execute("ROLLBACK")
      throw Refusal()
    }
    await lineup.add(.thread) { try $0.add(name: "c") }
    await lineup.add(.task) { try $0.add(name: "d") }
    #expect(await lineup.go() == ["rolledBackWithGroup", "rolledBackWithGroup", "Refusal", nil, nil])
    #expect(try names() == ["c", "d"])
    #expect(sets.all.map(\.origin) == ["3", "4"])
  }

  @Test func `one whose savepoint cannot be released takes nobody with it, and lends its end to nobody`() async throws {
    let lineup = await Lineup(store, first: .thread)
    await lineup.add(.thread) { try $0.add(name: "a") }
    await lineup.add(.thread) { transaction in
      try transaction.add(name: "b")
      _ = try unsafe RefusedRelease(on: SQLiteSession.own(transaction.session).connection.handle)
    }
    await lineup.add(.task) { try $0.add(name: "c") }
    await lineup.add(.thread) { try $0.add(name: "d") }
    #expect(await lineup.go() == [nil, "noPermission", nil, nil])
    #expect(try names() == ["a", "c", "d"])
    #expect(sets.all.map(\.origin) == ["0", "2", "3"])
    #expect(try store.allChanges().dropFirst().map(\.cursor) == sets.all.map(\.cursor))
  }

  @Test func `a commit of which nobody knows whether it happened is that to all, and tells nobody`() async throws {
    let lineup = await Lineup(store, first: .thread) { _ in throw Refusal() }
    await addWriters(6, to: lineup)
    sync.isFailing = true
    #expect(await lineup.go() == Array(repeating: "commitUnknown", count: 6))
    sync.isFailing = false
    #expect(code { try write("refused") } == .mustReopen)
    #expect(sets.count == 0)
  }

  @Test func `a commit that fails is undone for all, with the reason, and the next ones go on`() async throws {
    let lineup = await Lineup(store, first: .thread)
    await addWriters(6, to: lineup)
    sync.fail(SQLITE_FULL)
    #expect(await lineup.go() == Array(repeating: "rolledBackWithGroup", count: 6))
    #expect(code { try write("alone") } == .diskFull)
    #expect(await awaitedCode { try await writeLater("alone") } == .diskFull)
    sync.fail(SQLITE_OK)
    try write("a")
    #expect(try names() == ["a"])
    #expect(sets.count == 1)
  }

  @Test func `a task that is cancelled in line never runs, and is missed by nobody`() async throws {
    let lineup = await Lineup(store, first: .thread)
    let store = store
    await lineup.add(.thread) { try $0.add(name: "a") }
    let task = Task.detached { try await store.write { try $0.add(name: "never") } }
    while store.waitingWriters < 2 { await Task.yield() }
    await lineup.add(.thread) { try $0.add(name: "b") }
    task.cancel()
    #expect(await lineup.go() == [nil, nil])
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try names() == ["a", "b"])
  }

  @Test func `a write inside the closure of one that shares is refused, and harms nobody`() async throws {
    let store = store
    let lineup = await Lineup(store, first: .thread)
    await lineup.add(.thread) { try $0.add(name: "a") }
    await lineup.add(.thread) { _ in try store.write { _ = try $0.add(name: "nested") } }
    await lineup.add(.task) { _ in _ = try store.read { try $0.userCount } }
    await lineup.add(.thread) { try $0.add(name: "b") }
    #expect(await lineup.go() == [nil, "nested", "nested", nil])
    #expect(try names() == ["a", "b"])
  }

  @Test func `closing refuses all who wait, at once, and lets the one that writes finish`() async throws {
    let lineup = await Lineup(store, first: .thread) { try $0.add(name: "kept") }
    await addWriters(10, to: lineup)
    store.close()
    #expect(await lineup.results() == Array(repeating: "closed", count: 10))
    #expect(code { try store.write { _ in } } == .closed)
    await lineup.go()
    #expect(try folder.shell("SELECT name FROM users WHERE id > 1") == "kept\n")
  }

  // MARK: Listeners that write

  @Test func `a listener that writes gets its turn while the store's thread delivers and a task waits`() async throws {
    let (store, sets) = (store, sets)
    let (listening, goOn) = (Recorder<Void>(), Gate())
    store.listeners.bind("answering", to: .everything) { set in
      guard set.origin == "question" else { return }
      listening.record(())
      goOn.wait()
      try store.write(origin: "answer") { _ = try $0.add(name: "answer") }
    }
    let question = Task.detached { try await store.write(origin: "question") { _ = try $0.add(name: "question") } }
    await listening.heard(1)
    // The store's thread is inside the listener now. A thread has the turn; a task stands before the listener's write.
    let lineup = await Lineup(store, first: .thread)
    await lineup.add(.task) { try $0.add(name: "task") }
    await lineup.add(.thread) { try $0.add(name: "thread") }
    goOn.open()
    while store.waitingWriters < 3 { await Task.yield() }
    #expect(await lineup.go() == [nil, nil])
    try await question.value
    #expect(Set(sets.all.map(\.origin)) == ["question", "answer", "0", "1"])
    #expect(try store.allChanges().dropFirst().map(\.cursor) == sets.all.map(\.cursor))
  }

  @Test func `a listener's write has its transaction to itself, and comes back before others are told`() async throws {
    let (store, sync) = (store, sync)
    let (listening, goOn, commits) = (Recorder<Void>(), Gate(), Recorder<Int>())
    store.listeners.bind("answering", to: .everything) { set in
      guard set.origin == "question" else { return }
      listening.record(())
      goOn.wait()
      try store.write(origin: "answer") { _ = try $0.add(name: "answer") }
      commits.record(sync.count)
    }
    let question = try Threads.start { try store.write(origin: "question") { _ = try $0.add(name: "question") } }
    await listening.heard(1)
    let before = sync.count
    let lineup = await Lineup(store, first: .thread)
    await lineup.add(.thread) { try $0.add(name: "a") }
    goOn.open()
    while store.waitingWriters < 2 { await Task.yield() }
    await lineup.add(.thread) { try $0.add(name: "b") }
    #expect(await lineup.go() == [nil, nil])
    try await Task.detached { try question.join() }.value
    #expect(sync.count == before + 3)
    #expect(commits.count == 1)
    #expect(sets.all.map(\.origin) == ["question", "0", "answer", "1"])
  }

  // MARK: Other processes

  @Test func `a writer that another process keeps waiting too long fails with all who waited as long`() throws {
    let store = try folder.open { $0.busyTimeout = .milliseconds(50) }
    let plain = try folder.plain()
    try plain.execute("BEGIN IMMEDIATE")
    try Threads.run(8) { _ in #expect(code { try store.write { try $0.add(name: "late") } } == .busy) }
    try plain.execute("ROLLBACK")
    try write("a")
    #expect(try names() == ["a"])
  }

  @Test func `another process gets its turn while 64 threads write without end`() throws {
    let (store, folder) = (store, folder)
    let isOver = Lock(false)
    let threads = try Threads.start {
      try Threads.run(64) { thread in
        while !isOver.withLock({ $0 }) { try store.write { try $0.rename(User.ID(1), to: "\(thread)") } }
      }
    }
    defer { isOver.withLock { $0 = true } }
    for number in 0..<3 {
      try folder.shell("PRAGMA busy_timeout = 60000; INSERT INTO users (name) VALUES ('other \(number)')")
    }
    isOver.withLock { $0 = true }
    try threads.join()
    #expect(try names() == ["other 0", "other 1", "other 2"])
  }
}
