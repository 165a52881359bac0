import Foundation
import TestSupport
import Testing

@testable import UserStore

/// The promise “one file”: after the last store was closed or released, the complete database is the only file.
///
/// The tests repeat their steps, because the result may depend on which thread closes its connection last.
@Suite(.bounded, .serialized) struct ClosingTests {
  private let folder: Folder
  private let path: String

  init() throws {
    folder = try Folder()
    path = folder.path + "/users.db"
  }

  /// Expects that the database is the only file and that it alone has all users.
  private func expectOneFile(users: Int, _ run: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(names == ["users.db"], "run \(run)", sourceLocation: sourceLocation)
    let copy = try Folder()
    try FileManager.default.copyItem(atPath: path, toPath: copy.path + "/copy.db")
    let store = try UserStore(path: copy.path + "/copy.db")
    #expect(try store.read { try $0.count() } == users, "run \(run)", sourceLocation: sourceLocation)
  }

  /// The synchronous write, also for asynchronous tests.
  private func add(to store: UserStore) throws {
    try store.write { _ = try $0.add(name: "NIX") }
  }

  @Test func `one file is left by a store that is released without being closed`() throws {
    for run in 1...Repetitions.count {
      do {
        let store = try UserStore(path: path)
        try store.write { try $0.add(name: "NIX") }
      }
      try expectOneFile(users: run, run)
    }
  }

  @Test func `one file is left after an awaited write and close`() async throws {
    for run in 1...Repetitions.count {
      let store = try UserStore(path: path)
      try await store.write { try $0.add(name: "NIX") }
      await store.close()
      try expectOneFile(users: run, run)
    }
  }

  @Test func `one file is left when the store is closed during an awaited read and an awaited write`() async throws {
    for run in 1...Repetitions.count {
      let store = try UserStore(path: path)
      async let count = try? store.read { try $0.count() }
      async let added = try? store.write { try $0.add(name: "NIX") }
      await store.close()
      _ = await (count, added)
      let users = try await UserStore(path: path).read { try $0.count() }
      try expectOneFile(users: users, run)
    }
  }

  @Test func `one file is left by a store that its own listener releases`() throws {
    for run in 1...Repetitions.count {
      let holder = Lock<UserStore?>(try UserStore(path: path))
      let isReleased = Gate()
      holder.withLock { $0 }?.listeners.bind("last", to: .everything) { _ in
        let store = holder.withLock { $0.take() }
        _ = store
        isReleased.open()
      }
      // Another program writes, so that the watcher delivers and the listener runs on the watcher's thread.
      try folder.shell("INSERT INTO users (name) VALUES ('NIX')")
      isReleased.wait()
      // The thread that released the store may still be closing connections, and nothing else shows when it is done.
      while try FileManager.default.contentsOfDirectory(atPath: folder.path) != ["users.db"] { SystemThread.yield() }
      try expectOneFile(users: run, run)
    }
  }

  @Test func `one file is left by stores that several threads close at the same time`() throws {
    for run in 1...Repetitions.count {
      let stores = try (0..<4).map { _ in try UserStore(path: path) }
      try Threads.run(stores.count) { index in
        _ = try stores[index].write { try $0.add(name: "NIX") }
        stores[index].close()
      }
      try expectOneFile(users: 4 * run, run)
    }
  }

  @Test func `one file is left when a read-only store closes after the writer`() throws {
    let reading: Configuration = {
      var configuration = Configuration()
      configuration.access = .readOnly
      return configuration
    }()
    for run in 1...Repetitions.count {
      let writer = try UserStore(path: path)
      try writer.write { try $0.add(name: "NIX") }
      let reader = try UserStore(path: path, configuration: reading)
      #expect(try reader.read { try $0.count() } == run)
      writer.close()
      reader.close()
      try expectOneFile(users: run, run)
    }
  }

  @Test func `one file is left after a check`() throws {
    try folder.shell("INSERT INTO users (name) VALUES ('NIX')", UserStore(path: path).path)
    _ = try UserStore.check(path: path)
    try expectOneFile(users: 1, 1)
  }

  @Test func `one file is left after checks at the same time`() throws {
    try folder.shell("INSERT INTO users (name) VALUES ('NIX')", UserStore(path: path).path)
    for run in 1...Repetitions.count {
      // As after a crash: a -wal file that nobody has open.
      try folder.python(
        """
        if os.fork() == 0:
          sqlite3.connect(path, isolation_level=None).execute("UPDATE users SET name = name || 'x'")
          os.kill(os.getpid(), signal.SIGKILL)
        os.wait()
        """)
      #expect(FileManager.default.fileExists(atPath: path + "-wal"), "run \(run)")
      try Threads.run(4) { _ in _ = try UserStore.check(path: path) }
      try expectOneFile(users: 1, run)
    }
  }

  @Test func `interrupting a store rolls back the present write, and one file is left`() throws {
    let store = try UserStore(path: path)
    let isInside = Gate()
    let writer = try Threads.start {
      try store.write { users in
        try users.add(name: "NIX")
        isInside.open()
        while true { _ = try users.ids(named: "nobody") }
      }
    }
    isInside.wait()
    store.interruptAndClose()
    #expect(throws: (any Error).self) { try writer.join() }
    try expectOneFile(users: 0, 1)
  }

  @Test func `interrupting a store ends awaited reads of many short statements`() async throws {
    for run in 1...Repetitions.count {
      let store = try UserStore(path: path)
      let (inside, isInside) = AsyncStream.makeStream(of: Void.self)
      async let code: StoreError.Code? = awaitedCode {
        try await store.read { transaction in
          isInside.finish()
          while true { _ = try transaction.ids(named: "nobody") }
        }
      }
      for await _ in inside {}
      await store.interruptAndClose()
      #expect(await code == .closed, "run \(run)")
    }
    try expectOneFile(users: 0, 1)
  }

  @Test func `closing does not wait for a writer of another program`() throws {
    // Longer than the test's own limit.
    let store = try folder.open { $0.busyTimeout = .seconds(600) }
    try add(to: store)
    let other = try folder.plain()
    try other.execute("BEGIN IMMEDIATE")
    store.close()
    try other.execute("INSERT INTO users (name) VALUES ('Zoe'); COMMIT")
    #expect(try folder.open().read { try $0.count() } == 2)
  }

  @Test func `interrupting a store ends a write that waits for another program`() throws {
    let store = try folder.open { $0.busyTimeout = .seconds(600) }
    let other = try folder.plain()
    try other.execute("BEGIN IMMEDIATE")
    let ended = Recorder<StoreError.Code?>()
    let writer = try Threads.start { ended.record(code { try store.write { _ = try $0.add(name: "NIX") } }) }
    // Nothing reports that SQLite has begun to wait. A write that is interrupted before that throws closed.
    while store.writer?.turns.line.withLock({ $0.isTaken }) != true { SystemThread.yield() }
    store.interruptAndClose()
    try writer.join()
    #expect(ended.all == [.busy] || ended.all == [.closed])
    try other.execute("ROLLBACK")
    #expect(try other.text("SELECT count(*) FROM users WHERE name = 'NIX'") == "0")
  }

  @Test func `one file is left when a store is released during a read while another store closes`()
    throws
  {
    for run in 1...Repetitions.count {
      var store: UserStore? = try UserStore(path: path)
      try store?.write { _ = try $0.add(name: "NIX") }
      let other = try UserStore(path: path)
      let isReading = Gate()
      let isReleased = Gate()
      let reader = try #require(store).reader
      let reading = try Threads.start {
        _ = try reader.read { transaction in
          isReading.open()
          isReleased.wait()
          return try transaction.count()
        }
      }
      isReading.wait()
      store = nil
      isReleased.open()
      other.close()
      try reading.join()
      try expectOneFile(users: run, run)
    }
  }

  @Test func `a temporary store that cannot be created leaves no folder`() throws {
    var configuration = Configuration()
    let made = Lock<String?>(nil)
    configuration.fileSystem = { folder in
      made.withLock { $0 = folder }
      return .network("test")
    }
    #expect(code { try UserStore.temporary(configuration: configuration) } == .cannotOpen)
    let folder = try #require(made.withLock { $0 })
    #expect(try Files.kind(of: folder) == .missing)
  }

  @Test func `a temporary store removes its folder, whether it is closed or released`() async throws {
    for run in 1...Repetitions.count {
      var store: UserStore? = try UserStore.temporary()
      let folder = Files.split(try #require(store?.path)).folder
      if run.isMultiple(of: 2) {
        try await store?.write { try $0.add(name: "NIX") }
      } else {
        if let store { try add(to: store) }
      }
      if run.isMultiple(of: 3) { await store?.close() }
      store = nil
      #expect(try Files.kind(of: folder) == .missing, "run \(run)")
    }
  }
}
