import CUserStoreSQLite
import Synchronization
import Testing

@testable import UserStore

/// The promise “group commit”: threads and tasks that wait to write at the same time share a commit.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct SharedCommitTests {
  let folder: Folder
  let store: UserStore
  let sets = Recorder<ChangeSet>()
  /// Counts the commits, because each commit syncs once.
  let sync: FailingSync

  init() throws {
    folder = try Folder()
    try OpenedHandles.watch(folder.database)
    store = try folder.open {
      $0.watchesOtherProcesses = false
      $0.durability = .full
    }
    sync = try unsafe FailingSync(on: OpenedHandles.last(folder.database))
    // One write in advance: the first commit in a new -wal file also syncs the file's header.
    try store.write { try $0.add(name: "NIX") }
    store.listeners.bind("test", to: .everything) { [sets] in sets.record($0) }
  }

  private func names() throws -> [String] {
    try store.read { transaction in try transaction.users().dropFirst().map { try $0.name } }
  }

  /// The synchronous write, also for asynchronous tests.
  private func write(_ name: String) throws { try store.write { _ = try $0.add(name: name) } }

  private func writeLater(_ name: String) async throws { try await store.write { _ = try $0.add(name: name) } }

  /// Adds threads and tasks by turns, each of which adds a user named by its number.
  private func addWriters(_ count: Int, to lineup: Lineup) async {
    for number in 0..<count {
      await lineup.add(number.isMultiple(of: 2) ? .thread : .task) { try $0.add(name: "\(number)") }
    }
  }

  // MARK: Sharing

  @Test(arguments: Lineup.Kind.allCases)
  func `writers that wait when a closure returns join its transaction, at most 64`(kind: Lineup.Kind) async throws {
    let lineup = await Lineup(store, first: kind)
    for number in 0..<65 { await lineup.add(kind) { try $0.add(name: "\(number)") } }
    let before = sync.count
    #expect(await lineup.go() == Array(repeating: nil, count: 65))
    #expect(sync.count == before + 2)
    #expect(sets.all.map(\.origin) == (0..<65).map { "\($0)" })
    #expect(sets.all.map(\.lines.count) == Array(repeating: 2, count: 65))
    #expect(try store.allChanges().dropFirst().map(\.cursor) == sets.all.map(\.cursor))
  }

  @Test func `threads and tasks are served in the order of arrival, whichever is first`() async throws {
    for kind in Array(repeating: Lineup.Kind.allCases, count: 10).joined() {
      await store.writeThreadReturned()
      let lineup = await Lineup(store, first: kind)
      let (commits, delivered) = (sync.count, sets.count)
      await addWriters(20, to: lineup)
      #expect(await lineup.go() == Array(repeating: nil, count: 20))
      #expect(sync.count == commits + 1)
      #expect(sets.all.dropFirst(delivered).map(\.origin) == (0..<20).map { "\($0)" })
    }
  }

  @Test func `a writer that is alone gets its own transaction and does not wait`() async throws {
    for number in 0..<10 {
      let before = sync.count
      try write("\(number)")
      #expect(sync.count == before + 1)
      try await store.write { try $0.add(name: "awaited \(number)") }
      #expect(sync.count == before + 2)
    }
    let before = sync.count
    _ = try await store.write { try $0.count() }
    #expect(sync.count == before)
  }

  @Test func `each closure runs on the thread that called write, and write returns its result`() throws {
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

  @Test func `when write returns, its set has been delivered, in the order of the log`() async throws {
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
    try await threads.joined()
    #expect(sets.count == 420)
    #expect(try store.allChanges().dropFirst().map(\.cursor) == sets.all.map(\.cursor))
  }

  // MARK: Failures

  @Test func `a write that throws does not affect the others, also if it is the first or the last`() async throws {
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

  @Test func `a write that ends the transaction rolls back the writes before it, not those after it`() async throws {
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

  @Test func `a write whose savepoint cannot be released does not affect the others or their sets`() async throws {
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

  @Test func `a commit with an unknown outcome is commitUnknown for all its writers, and no listener is called`()
    async throws
  {
    let lineup = await Lineup(store, first: .thread) { _ in throw Refusal() }
    await addWriters(6, to: lineup)
    sync.isFailing = true
    #expect(await lineup.go() == Array(repeating: "commitUnknown", count: 6))
    sync.isFailing = false
    #expect(code { try write("refused") } == .mustReopen)
    #expect(sets.count == 0)
  }

  @Test func `a commit that fails is rolled back for all its writers, and later writes succeed`() async throws {
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

  @Test func `a task that is canceled while it waits commits with the others, in the order of arrival`() async throws {
    let lineup = await Lineup(store, first: .thread)
    let store = store
    await lineup.add(.thread) { try $0.add(name: "a") }
    let task = Task.detached { try await store.write { try $0.add(name: "canceled") } }
    while store.waitingWriters < 2 { await Task.yield() }
    await lineup.add(.thread) { try $0.add(name: "b") }
    task.cancel()
    #expect(await lineup.go() == [nil, nil])
    _ = try await task.value
    #expect(try names() == ["a", "canceled", "b"])
  }

  @Test func `a write inside the closure of a shared commit is refused, and does not affect the others`() async throws {
    let store = store
    let lineup = await Lineup(store, first: .thread)
    await lineup.add(.thread) { try $0.add(name: "a") }
    await lineup.add(.thread) { _ in try store.write { _ = try $0.add(name: "nested") } }
    await lineup.add(.task) { _ in _ = try store.read { try $0.count() } }
    await lineup.add(.thread) { try $0.add(name: "b") }
    #expect(await lineup.go() == [nil, "nested", "nested", nil])
    #expect(try names() == ["a", "b"])
  }

  @Test func `closing refuses all waiting writers immediately, and lets the present write finish`() async throws {
    let lineup = await Lineup(store, first: .thread) { try $0.add(name: "kept") }
    await addWriters(10, to: lineup)
    await store.close()
    #expect(await lineup.results() == Array(repeating: "closed", count: 10))
    #expect(code { try store.write { _ in } } == .closed)
    await lineup.go()
    #expect(try folder.shell("SELECT name FROM users WHERE id > 1") == "kept\n")
  }

  // MARK: Writes by listeners

  @Test func `a listener can write while the store's thread delivers and a task waits`() async throws {
    let (store, sets) = (store, sets)
    let (listening, mayContinue) = (Recorder<Void>(), Gate())
    store.listeners.bind("answering", to: .everything) { set in
      guard set.origin == "question" else { return }
      listening.record(())
      mayContinue.wait()
      try store.write(origin: "answer") { _ = try $0.add(name: "answer") }
    }
    let question = Task.detached { try await store.write(origin: "question") { _ = try $0.add(name: "question") } }
    await listening.reached(1)
    // The store's thread is inside the listener. A thread has the turn, and a task waits ahead of the listener's write.
    let lineup = await Lineup(store, first: .thread)
    await lineup.add(.task) { try $0.add(name: "task") }
    await lineup.add(.thread) { try $0.add(name: "thread") }
    mayContinue.open()
    while store.waitingWriters < 3 { await Task.yield() }
    #expect(await lineup.go() == [nil, nil])
    try await question.value
    #expect(Set(sets.all.map(\.origin)) == ["question", "answer", "0", "1"])
    #expect(try store.allChanges().dropFirst().map(\.cursor) == sets.all.map(\.cursor))
  }

  @Test func `a listener's write has its own transaction, and returns before other sets are delivered`() async throws {
    let (store, sync) = (store, sync)
    let (listening, mayContinue, commits) = (Recorder<Void>(), Gate(), Recorder<Int>())
    store.listeners.bind("answering", to: .everything) { set in
      guard set.origin == "question" else { return }
      listening.record(())
      mayContinue.wait()
      try store.write(origin: "answer") { _ = try $0.add(name: "answer") }
      commits.record(sync.count)
    }
    let question = try Threads.start { try store.write(origin: "question") { _ = try $0.add(name: "question") } }
    await listening.reached(1)
    let before = sync.count
    let lineup = await Lineup(store, first: .thread)
    await lineup.add(.thread) { try $0.add(name: "a") }
    mayContinue.open()
    while store.waitingWriters < 2 { await Task.yield() }
    await lineup.add(.thread) { try $0.add(name: "b") }
    #expect(await lineup.go() == [nil, nil])
    try await question.joined()
    #expect(sync.count == before + 3)
    #expect(commits.count == 1)
    #expect(sets.all.map(\.origin) == ["question", "0", "answer", "1"])
  }

  // MARK: Other processes

  @Test func `a writer that waits too long for another process fails, and so do those that waited as long`() throws {
    let store = try folder.open { $0.busyTimeout = .milliseconds(50) }
    let plain = try folder.plain()
    try plain.execute("BEGIN IMMEDIATE")
    // All arrive during another turn, which has no transaction. As soon as the first has failed, the lock is free.
    let isTaken = Gate()
    let turn = try Threads.start {
      try store.writer?.withTurn { () throws(StoreError) in
        isTaken.open()
        while store.waitingWriters < 8 { SystemThread.yield() }
      }
    }
    isTaken.wait()
    let isFirst = Lock(true)
    try Threads.run(8) { _ in
      let code = code { try store.write { try $0.add(name: "late") } }
      if isFirst.withLock({ exchange(&$0, with: false) }) { try plain.execute("ROLLBACK") }
      #expect(code == .busy)
    }
    try turn.join()
    try write("a")
    #expect(try names() == ["a"])
  }

  @Test func `another process can write while 64 threads write without a pause`() throws {
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

/// Makes the next RELEASE of a connection fail, as it does when memory is exhausted: an authorizer refuses it once.
///
/// Setting an authorizer makes SQLite prepare every statement again, and it calls the authorizer when it prepares
/// (sqlite.org/c3ref/set_authorizer.html).
@safe private final class RefusedRelease: Sendable {
  private let left = Atomic(1)

  /// - Parameter handle: The handle of the connection, which retains this object.
  init(on handle: OpaquePointer) {
    let refuse:
      @convention(c) (
        UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
        UnsafePointer<CChar>?
      ) -> Int32 = { context, action, operation, _, _, _ in
        guard action == SQLITE_SAVEPOINT, let operation = unsafe operation,
          unsafe String(cString: operation) == "RELEASE"
        else { return SQLITE_OK }
        let refused = unsafe Unmanaged<RefusedRelease>.fromOpaque(context!).takeUnretainedValue()
        return refused.left.subtract(1, ordering: .relaxed).oldValue > 0 ? SQLITE_DENY : SQLITE_OK
      }
    unsafe sqlite3_set_authorizer(handle, refuse, Unmanaged.passRetained(self).toOpaque())
  }

  /// Whether the authorizer has refused a RELEASE.
  var hasRefused: Bool { left.load(ordering: .relaxed) < 1 }
}
