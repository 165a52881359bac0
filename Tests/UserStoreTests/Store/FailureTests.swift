import CUserStoreSQLite
import Foundation
import TestSupport
import Testing

@testable import UserStore

/// Failures under an open store: each has a clear error code and loses nothing, and the store continues if it can.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct FailureTests {
  let folder: Folder

  init() throws {
    folder = try Folder()
  }

  // MARK: Locks

  @Test(arguments: [0, 20])
  func `a write that waits too long for a lock is busy, and later writes succeed`(_ milliseconds: Int) async throws {
    let store = try folder.open { $0.busyTimeout = .milliseconds(milliseconds) }
    let sets = Recorder<ChangeSet>()
    store.listeners.bind("test", to: .everything) { sets.record($0) }
    let other = try folder.plain()
    try other.execute("BEGIN IMMEDIATE")
    #expect(code { try store.write { try $0.add(name: "a") } } == .busy)
    #expect(await awaitedCode { try await store.write { try $0.add(name: "a") } } == .busy)
    #expect(try await store.read { try $0.count() } == 0)
    try other.execute("COMMIT")
    try await store.write { try $0.add(name: "b") }
    #expect(sets.all.map(\.lines.first) == ["added 1 name - 'b'"])
  }

  @Test func `a write waits for a lock that is released in time`() throws {
    let store = try folder.open()
    let folder = folder
    let (held, mayContinue) = (Gate(), Gate())
    let holder = try Threads.start {
      let other = try folder.plain()
      try other.execute("BEGIN IMMEDIATE; INSERT INTO users (name) VALUES ('first')")
      held.open()
      mayContinue.wait()
      try other.execute("COMMIT")
    }
    held.wait()
    let writer = try Threads.start { try store.write { transaction throws in #expect(try transaction.count() == 1) } }
    mayContinue.open()
    try holder.join()
    try writer.join()
  }

  @Test func `opening a locked file throws busy`() throws {
    try folder.open().close()
    try folder.shell("PRAGMA journal_mode = DELETE")
    let other = try folder.plain()
    try other.execute("BEGIN EXCLUSIVE")
    #expect(code { try folder.open { $0.busyTimeout = .milliseconds(20) } } == .busy)
    try other.execute("COMMIT")
    try folder.open().write { try $0.add(name: "a") }
  }

  // The numbers of sqlite.org/rescode.html.
  @Test(
    arguments: [(15, .busy), (8, .readOnly), (1288, .noPermission), (1544, .noPermission), (1032, .moved)]
      as [(Int32, StoreError.Code)])
  func `SQLite's errors of locks and rights have their codes`(number: Int32, code: StoreError.Code) {
    #expect(StoreError.Code(SQLiteError(code: ResultCode(rawValue: number), message: "")) == code)
  }

  @Test func `the system's reason is given if there is one`() {
    func message(_ number: Int32) -> String {
      StoreError(SQLiteError(code: .cannotOpen, message: "unable to open", systemNumber: number), "open it").message
    }
    #expect(message(0) == "cannot open it: unable to open")
    #expect(message(ENOENT) == "cannot open it: unable to open: No such file or directory")
  }

  // MARK: Memory

  // In a process of its own, because the limit is global.

  @Test func `a store can be opened after an attempt that ran out of memory`() async {
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      // Some limits are high enough to open the file, because the schema is compared late.
      for limit in stride(from: 20_000, through: 400_000, by: 5_000) as StrideThrough<Int64> {
        sqlite3_hard_heap_limit64(limit)
        do { try folder.open().close() } catch let error as StoreError { #expect(error.code == .outOfMemory) }
      }
      sqlite3_hard_heap_limit64(0)
      try folder.open().write { try $0.add(name: "a") }
    }
  }

  #if os(Linux)
    @Test(.disabled(if: Sanitizer.isAny, "a sanitizer reserves memory"))
    func `an awaited write whose thread cannot be started throws, and a later one succeeds`() async {
      await #expect(processExitsWith: .success) {
        let folder = try Folder()
        let store = try folder.open { $0.watchesOtherProcesses = false }
        var limit = rlimit()
        unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
        var before = limit
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        // Less than the stack of a thread.
        limit.rlim_cur = (UInt(pages[0]) ?? 0) * UInt(getpagesize()) + 4 << 20
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
        do {
          try await store.write { try $0.add(name: "a") }
          Issue.record("the thread was started")
        } catch let error as StoreError {
          #expect(error.code == .unexpected && error.message.contains("start a thread"), "\(error)")
        }
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &before)
        try await store.write { try $0.add(name: "b") }
        #expect(try await store.read { try $0.users().map { try $0.name } } == ["b"])
        await store.close()
      }
    }
  #endif

  // MARK: The file disappears

  enum Loss: CaseIterable {
    case moved, deleted, replaced
  }

  private func lose(_ how: Loss) throws {
    let manager = FileManager.default
    switch how {
    case .moved: try manager.moveItem(atPath: folder.database, toPath: folder.path + "/elsewhere.db")
    case .deleted: for end in ["", "-wal", "-shm"] { try manager.removeItem(atPath: folder.database + end) }
    case .replaced:
      let other = try UserStore(path: folder.path + "/other.db")
      try other.write { try $0.add(name: "other") }
      other.close()
      try manager.removeItem(atPath: folder.database)
      try manager.moveItem(atPath: folder.path + "/other.db", toPath: folder.database)
    }
  }

  @Test(arguments: Loss.allCases)
  func `when its file is moved, deleted or replaced, a store refuses writes and notifies readers`(_ how: Loss)
    async throws
  {
    let store = try folder.open()
    try await store.write { try $0.add(name: "a") }
    let cursor = try await store.read { try $0.cursor }
    let resets = Recorder<StoreError.Code?>()
    store.listeners.bind("test", to: .everything) { resets.record($0.discontinuity) }
    let feed = Task { await awaitedCode { for try await _ in store.changeSets(after: cursor) {} } }
    try lose(how)
    await resets.reached(1)
    #expect(resets.all == [.replaced])
    #expect(await feed.value == .replaced)
    #expect(code { try store.write { try $0.add(name: "b") } } == .moved)
    #expect(await awaitedCode { try await store.write { try $0.add(name: "b") } } == .moved)
    #expect(code { try store.page(after: cursor) } == .replaced)
  }

  @Test func `a write throws moved if its file is moved before the commit, and nothing is delivered`() throws {
    let store = try folder.open { $0.watchesOtherProcesses = false }
    let sets = Recorder<ChangeSet>()
    store.listeners.bind("test", to: .everything) { sets.record($0) }
    let code = code {
      try store.write { transaction in
        try transaction.add(name: "a")
        try lose(.moved)
      }
    }
    #expect(code == .moved)
    #expect(sets.count == 0)
  }

  // MARK: The disk

  @Test func `a commit with an unknown outcome throws commitUnknown, and the store must be reopened`() async throws {
    try OpenedHandles.watch(folder.database)
    let store = try folder.open {
      $0.durability = .full
      $0.watchesOtherProcesses = false
    }
    let sync = try unsafe FailingSync(on: OpenedHandles.last(folder.database))
    try await store.write { try $0.add(name: "kept") }
    let sets = Recorder<ChangeSet>()
    store.listeners.bind("test", to: .everything) { sets.record($0) }
    sync.isFailing = true
    #expect(code { try store.write { try $0.add(name: "unknown") } } == .commitUnknown)
    sync.isFailing = false
    #expect(code { try store.write { try $0.add(name: "refused") } } == .mustReopen)
    #expect(await awaitedCode { try await store.write { try $0.add(name: "refused") } } == .mustReopen)
    #expect(sets.count == 0)
    #expect(try await store.read { try $0.count() } == 1)
    await store.close()
    try await folder.open().write { try $0.add(name: "again") }
    #expect(try folder.shell("PRAGMA integrity_check; SELECT name FROM users LIMIT 1") == "ok\nkept\n")
  }

  @Test func `all writers that share a commit with an unknown outcome get commitUnknown`() async throws {
    try OpenedHandles.watch(folder.database)
    let store = try folder.open {
      $0.durability = .full
      $0.watchesOtherProcesses = false
    }
    let sync = try unsafe FailingSync(on: OpenedHandles.last(folder.database))
    let (holding, mayContinue) = (Recorder<Void>(), Gate())
    let first = Task {
      await awaitedCode {
        try await store.write { transaction in
          holding.record(())
          mayContinue.wait()
          throw StoreError(.conflict, "")
        }
      }
    }
    await holding.reached(1)
    let others = (0..<3).map { number in
      Task { await awaitedCode { try await store.write { try $0.add(name: "\(number)") } } }
    }
    while store.waitingWriters != 3 { await Task.yield() }
    sync.isFailing = true
    mayContinue.open()
    #expect(await first.value == .conflict)
    for other in others { #expect(await other.value == .commitUnknown) }
  }

  @Test(.enabled(if: geteuid() == 0, "mounting a small file system requires root"))
  func `writes to a full disk throw diskFull, nothing is lost, and writes succeed when there is space`() async throws {
    let disk = folder.path + "/disk"
    try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: false)
    try Program.run("mount", ["-t", "tmpfs", "-o", "size=400k", "tmpfs", disk])
    defer { _ = try? Program.run("umount", ["-l", disk]) }
    let store = try UserStore(path: disk + "/users.db")
    let sets = Recorder<ChangeSet>()
    store.listeners.bind("test", to: .everything) { sets.record($0) }
    let blob = Attribute<[UInt8]>("blob")
    let zoe = try await store.write { try $0.add(name: "a") }
    let big = Array(repeating: 1 as UInt8, count: 300_000)
    #expect(code { try store.write { try $0.set(blob, of: zoe, to: big) } } == .diskFull)
    #expect(await awaitedCode { try await store.write { try $0.set(blob, of: zoe, to: big) } } == .diskFull)
    #expect(try await store.read { try $0.value(blob, of: zoe) } == nil)
    #expect(sets.count == 1)
    try Program.run("mount", ["-o", "remount,size=8m", disk])
    try await store.write { try $0.set(blob, of: zoe, to: big) }
    #expect(sets.count == 2)
    await store.close()
    #expect(try folder.shell("PRAGMA integrity_check", disk + "/users.db") == "ok\n")
    try Program.run("mount", ["-o", "remount,size=1m", disk])
  }

  @Test func `a read-only store refuses writes and never changes the file`() throws {
    let writer = try folder.open()
    try writer.write { try $0.add(name: "a") }
    writer.close()
    let bytes = try Data(contentsOf: URL(filePath: folder.database))
    let store = try folder.open { $0.access = .readOnly }
    #expect(try store.read { try $0.count() } == 1)
    #expect(code { try store.write { try $0.add(name: "b") } } == .readOnly)
    #expect(try store.listenable(.name, of: User.ID(1)).value == "a")
    store.close()
    #expect(try Data(contentsOf: URL(filePath: folder.database)) == bytes)
  }
}
