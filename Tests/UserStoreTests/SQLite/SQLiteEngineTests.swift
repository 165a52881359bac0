import Foundation
import Testing

@testable import UserStore

/// Which connections a store opens, and when: opening a connection takes as long as checking the file.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct SQLiteEngineTests {
  let folder: Folder

  init() throws {
    folder = try Folder()
    try folder.open().close()
  }

  /// The number of this process's connections to the store's file.
  private func connections() throws -> Int {
    let manager = FileManager.default
    return try manager.contentsOfDirectory(atPath: "/proc/self/fd").count {
      (try? manager.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)) == folder.database
    }
  }

  private func add(to store: UserStore) throws { _ = try store.write { try $0.add(name: "NIX") } }

  @Test func `the connection that checked the file is the first that reads or writes`() throws {
    // Without limits, the first write does not read the log to see whether it is too long.
    func open() throws -> UserStore {
      try folder.open { ($0.watchesOtherProcesses, $0.retention) = (false, .unlimited) }
    }
    var store = try open()
    #expect(try connections() == 1)
    #expect(try store.read { try $0.count() } == 0)
    #expect(try connections() == 1)
    try add(to: store)
    #expect(try connections() == 2)
    store.close()
    #expect(try connections() == 0)

    store = try open()
    try add(to: store)
    #expect(try connections() == 1)
    #expect(try store.read { try $0.count() } == 2)
    #expect(try connections() == 2)
    store.close()
    #expect(try connections() == 0)
  }

  @Test(arguments: [UserStore.Configuration.Durability.full, .normal], [true, false])
  func `each connection is set up for its purpose, whichever is first`(
    _ durability: UserStore.Configuration.Durability, readsFirst: Bool
  ) throws {
    let store = try folder.open { $0.durability = durability }
    func settings(_ session: any Session) throws -> [String?] {
      let connection = SQLiteSession.own(session)
      return try ["query_only", "synchronous"].map { try connection.connection.text("PRAGMA \($0)") }
    }
    if readsFirst { #expect(try store.read { try settings($0.session) }.first == "1") }
    #expect(try store.write { try settings($0.session) } == ["0", durability == .full ? "2" : "1"])
    #expect(try store.read { try settings($0.session) }.first == "1")
  }

  @Test func `a store that has only read copies what others left in the -wal file`() throws {
    // The last connection copies the file too, but it may belong to a process that may only read.
    let other = try folder.plain()
    try other.execute("PRAGMA wal_autocheckpoint = 0; INSERT INTO users (name) VALUES ('NIX')")
    let store = try folder.open { $0.watchesOtherProcesses = false }
    #expect(try store.read { try $0.count() } == 1)
    store.close()
    let copy = try Folder()
    try folder.bytes().write(to: URL(filePath: copy.database))
    #expect(try copy.open().read { try $0.count() } == 1)
    withExtendedLifetime(other) {}
  }

  @Test func `what an undone write found of other programs is found again by the next write`() throws {
    let store = try folder.open { $0.watchesOtherProcesses = false }
    try store.write { try $0.add(name: "NIX") }
    let session = try #require(try store.engine.writers?.take())
    defer { store.engine.writers?.give(back: session) }
    try folder.shell("UPDATE users SET name = 'Zoe'")
    for _ in 0..<2 {
      try session.beginWriting(isWaiting: true)
      #expect(session.writingStart?.isRead == true)
      session.rollBack()
      #expect(session.writingStart == nil)
    }
  }

  @Test func `a first write after the file was deleted finds that it was moved`() throws {
    let store = try folder.open { $0.watchesOtherProcesses = false }
    #expect(try store.read { try $0.count() } == 0)
    Files.remove(folder.database)
    #expect(code { try add(to: store) } == .moved)
  }

  @Test func `when close returns, the watcher's connection is closed`() async throws {
    for _ in 1...10 {
      let store = try folder.open()
      let sets = Recorder<ChangeSet>()
      store.listeners.bind("test", to: .everything) { sets.record($0) }
      try folder.shell("INSERT INTO users (name) VALUES ('NIX')")
      await sets.reached(1)
      await store.close()
      #expect(try connections() == 0)
    }
  }

  @Test func `a watcher that cannot open its connection tries again`() async throws {
    let store = try folder.open { $0.watchesOtherProcesses = false }
    let engine = try #require(store.engine as? SQLiteEngine)
    let file = try #require(engine.file)
    let failures = Lock(3)
    let refused = Recorder<Int>()
    let sets = Recorder<ChangeSet>()
    store.listeners.bind("test", to: .everything) { sets.record($0) }
    let events = try DirectoryEvents(folder: folder.path, names: ["users.db-wal"], usingEvents: true)
    let open = { @Sendable () throws(StoreError) -> any Session in
      let left = failures.withLock { left in
        left -= 1
        return left
      }
      if left >= 0 {
        refused.record(left)
        throw StoreError(.cannotOpen, "no descriptors are left")
      }
      return SQLiteSession(try file.open(.queryOnly), file: file)
    }
    let watcher = Watcher(open, events, store.publication, reader: store.reader)
    try watcher.start()
    await refused.reached(1)
    try folder.shell("INSERT INTO users (name) VALUES ('NIX')")
    await sets.reached(1)
    watcher.stop()
    watcher.join()
    #expect(sets.all.map(\.discontinuity) == [nil])
  }

  @Test func `a file that is replaced before the watcher's first look is reported once`() async throws {
    let store = try folder.open { $0.watchesOtherProcesses = false }
    try await store.write { try $0.add(name: "NIX") }
    let sets = Recorder<ChangeSet>()
    store.listeners.bind("test", to: .everything) { sets.record($0) }
    let opened = Recorder<Int>()
    let open = { @Sendable () throws(StoreError) -> any Session in
      opened.record(1)
      throw StoreError(.moved, "another file is at the path")
    }
    let watcher = Watcher(open, Polls(), store.publication, reader: store.reader)
    try watcher.start()
    await opened.reached(3)
    watcher.stop()
    watcher.join()
    #expect(sets.all.map(\.discontinuity) == [.replaced])
  }

  /// As after a failover to a replica that has not received the write.
  @Test func `a watcher notices that a write of the store was lost, although the log ends as at its last look`()
    async throws
  {
    let store = try folder.open { $0.watchesOtherProcesses = false }
    try await store.write { try $0.add(name: "NIX") }
    let sets = Recorder<ChangeSet>()
    store.listeners.bind("test", to: .everything) { sets.record($0) }
    let engine = try #require(store.engine as? SQLiteEngine)
    let file = try #require(engine.file)
    let polls = Polls()
    let open = { @Sendable () throws(StoreError) -> any Session in
      SQLiteSession(try file.open(.queryOnly), file: file)
    }
    let watcher = Watcher(open, polls, store.publication, reader: store.reader)
    try watcher.start()
    await polls.waits.reached(3)
    let end = try await store.read { try $0.cursor }
    store.publication.skip(to: Cursor(epoch: end.epoch, revision: end.revision.rawValue + 2, nonce: 7))
    await sets.reached(1)
    watcher.stop()
    watcher.join()
    #expect(sets.all.map(\.discontinuity) == [.diverged])
    #expect(store.publication.position == end)
  }

  @Test func `a watcher looks on demand, without an event of the system`() async throws {
    let store = try folder.open { $0.watchesOtherProcesses = false }
    let sets = Recorder<ChangeSet>()
    store.listeners.bind("test", to: .everything) { sets.record($0) }
    let engine = try #require(store.engine as? SQLiteEngine)
    let file = try #require(engine.file)
    let open = { @Sendable () throws(StoreError) -> any Session in
      SQLiteSession(try file.open(.queryOnly), file: file)
    }
    let watcher = Watcher(open, Bell(), store.publication, reader: store.reader)
    try watcher.start()
    try folder.shell("INSERT INTO users (name) VALUES ('NIX')")
    watcher.look()
    await sets.reached(1)
    watcher.stop()
    watcher.join()
    #expect(sets.all.map(\.discontinuity) == [nil])
  }

  /// Reports nothing but `wake`.
  private final class Bell: CommitEvents {
    private let woken = DispatchSemaphore(value: 0)
    var hasEvents: Bool { true }
    var idleLook: Int { 500_000 }

    func wait(microseconds: Int) -> CommitEvent {
      woken.wait()
      return .woken
    }
    func setReportsWrites(_ reportsWrites: Bool) {}
    func wake() { woken.signal() }
    func closeEvents() {}
  }

  /// Reports no events, and records for how long it is asked to wait.
  private final class Polls: CommitEvents {
    let waits = Recorder<Int>()
    var hasEvents: Bool { false }
    var idleLook: Int { 500_000 }

    func wait(microseconds: Int) -> CommitEvent {
      waits.record(microseconds)
      return []
    }
    func setReportsWrites(_ reportsWrites: Bool) {}
    func wake() {}
    func closeEvents() {}
  }

  @Test func `without events, a watcher that cannot open its connection says so, and tries less and less often`()
    async throws
  {
    let errors = Recorder<any Error>()
    let store = try folder.open {
      $0.watchesOtherProcesses = false
      $0.onListenerError = { _, error in errors.record(error) }
    }
    let polls = Polls()
    let open = { @Sendable () throws(StoreError) -> any Session in
      throw StoreError(SystemError(operation: "open users.db", number: EMFILE), otherwise: .cannotOpen)
    }
    let watcher = Watcher(open, polls, store.publication, reader: store.reader)
    try watcher.start()
    await polls.waits.reached(10)
    watcher.stop()
    watcher.join()
    #expect(Array(polls.waits.all.prefix(10)) == [1, 2, 4, 8, 16, 32, 64, 128, 250, 250].map { $0 * 1_000 })
    let reported = errors.all.compactMap { $0 as? StoreError }
    #expect(reported.map(\.code) == [.cannotOpen])
    #expect(reported.map(\.meansNoDescriptors) == [true])
  }
}
