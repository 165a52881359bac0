import Foundation
import Testing

@testable import UserStore

/// A long operation that is stopped at any of the moments at which it asks whether to go on.
@Suite(.bounded, .serialized, .timeLimit(.minutes(10))) struct StoppedOperationTests {
  let folder: Folder
  let store: UserStore

  init() throws {
    folder = try Folder()
    store = try folder.open {
      $0.retention = .unlimited
      // Longer than any test waits.
      $0.busyTimeout = .seconds(240)
    }
  }

  /// Adds users with an age, and removes the first after `count` changes of its age.
  private func fill(_ users: Int, changes count: Int) throws -> User.ID {
    try store.write { transaction in
      for number in 0..<users {
        try transaction.set(.age, of: transaction.add(name: "user \(number)"), to: number)
      }
      let first = User.ID(1)
      for number in 0..<count { try transaction.set(.age, of: first, to: -number) }
      try transaction.remove(first)
      return first
    }
  }

  /// Runs an operation that is stopped at the first question, then one that is stopped at the second, and so on, until one is
  /// not stopped; `check` is called after each.
  private func stopAtEach(
    atLeast expected: Int, _ operation: (_ isCancelled: @escaping () -> Bool) throws -> Void,
    check: (_ isComplete: Bool) throws -> Void
  ) throws {
    var stops = 0
    while true {
      var questions = 0
      let limit = stops
      do {
        try operation {
          questions += 1
          return questions > limit
        }
        break
      } catch {
        // SQLite's statements are interrupted with `closed`, which the awaited form turns into the first.
        #expect(error is CancellationError || StoreError.Code.closed ~= error, "\(error)")
      }
      stops += 1
      try check(false)
    }
    try check(true)
    #expect(stops >= expected, "the operation asked \(stops) times")
  }

  @Test(.sqlite) func `a backup that is stopped leaves the files as they were`() throws {
    _ = try fill(4_000, changes: 0)
    let target = try folder.file("backup.db", holding: "old")
    try stopAtEach(atLeast: 4) { isCancelled in
      _ = try store.backup(to: target, replacing: true, ignoringProblems: false, isCancelled: isCancelled) { _ in }
    } check: { isComplete throws in
      #expect(try folder.files() == ["backup.db"])
      #expect(try (folder.bytes(target) == Data("old".utf8)) == !isComplete)
    }
    #expect(try UserStore.check(path: target).allSatisfy { $0.severity != .problem })
  }

  @Test(.sqlite) func `a restore that is stopped changes nothing`() throws {
    _ = try fill(4_000, changes: 0)
    let backup = folder.path + "/backup.db"
    try store.backup(to: backup)
    let zoe = try store.write { try $0.add(name: "Zoë") }
    let before = try store.read { (try $0.cursor, try $0.count()) }
    try stopAtEach(atLeast: 4) { isCancelled in
      try store.restore(from: backup, while: { !isCancelled() }, progress: { _ in })
    } check: { isComplete throws in
      let after = try store.read { (try $0.cursor, try $0.count()) }
      if !isComplete { #expect(after == before) }
      #expect(try store.read { try $0.user(zoe) == nil } == isComplete)
      // The next write is not hindered.
      try store.write { _ in }
    }
    #expect(try store.check().allSatisfy { $0.severity != .problem })
  }

  @Test(arguments: [AttributeIndex(on: "age"), AttributeIndex(on: "age", .uniqueIgnoringCase)])
  func `an index that is stopped is not there`(_ index: AttributeIndex) throws {
    // A server is asked to stop when its one statement has ended, however many users there are.
    _ = try fill(TestEngine.isPostgres ? 400 : 40_000, changes: 0)
    try stopAtEach(atLeast: TestEngine.isPostgres ? 1 : 2) { isCancelled in
      _ = try store.addIndex(index) { !isCancelled() }
    } check: { isComplete throws in
      let indexes = try store.read { try $0.indexes + $0.uniqueAttributes.map(\.attribute) }
      #expect(indexes == (isComplete ? [index.attribute] : []))
    }
  }

  @Test func `a compaction that is stopped keeps whole sets, and another one deletes the rest`() throws {
    let user = try store.write { try $0.add(name: "Zoë") }
    try store.rename(user, times: 2_500)
    var ends = Set(try store.allChanges().map(\.cursor))
    ends.insert(try store.read { try $0.oldestCursor })
    let writer = try #require(store.writer)
    var last = try store.read { try $0.oldestCursor }
    try stopAtEach(atLeast: 2) { isCancelled in
      _ = try writer.compact(keeping: .rows(0), isCancelled: isCancelled)
    } check: { isComplete throws in
      let oldest = try store.read { try $0.oldestCursor }
      #expect(ends.contains(oldest) && oldest.revision >= last.revision)
      last = oldest
    }
    #expect(try store.read { try $0.user(user)?.name } == "name 2499")
  }

  @Test func `a purge that is stopped has erased whole steps, and another one erases the rest`() throws {
    let user = try fill(10, changes: 3_500)
    let writer = try #require(store.writer)
    func values() throws -> Int {
      try store.allChanges().reduce(0) { count, set in
        try count + set.changes.count { $0.user == user && !($0.old.isNull && $0.new.isNull) }
      }
    }
    var last = try values()
    try stopAtEach(atLeast: 1) { isCancelled in
      _ = try writer.purge(user, vacuums: false, isCancelled: isCancelled)
    } check: { isComplete throws in
      let now = try values()
      #expect(isComplete ? now == 0 : now < last)
      last = now
    }
  }

  @Test(.sqlite) func `a check that is stopped says nothing, and the store is read as before`() throws {
    _ = try fill(4_000, changes: 0)
    try stopAtEach(atLeast: 2) { isCancelled in
      _ = try store.check { !isCancelled() }
    } check: { _ throws in
      #expect(try store.read { try $0.count() } == 3_999)
    }
  }

  @Test(.sqlite) func `an awaited form that is canceled while another program holds the lock throws CancellationError`()
    async throws
  {
    _ = try fill(20_000, changes: 0)
    let (store, backup) = (store, folder.path + "/backup.db")
    try await store.backup(to: backup)
    let before = try await store.read { try $0.cursor }
    let other = try folder.plain()
    for operation: @Sendable () async throws -> Void in [
      { try await store.restore(from: backup) }, { _ = try await store.addIndex(on: "age") },
    ] {
      try other.execute("BEGIN IMMEDIATE")
      let task = Task { try await operation() }
      for _ in 0..<1_000 { await Task.yield() }
      task.cancel()
      try other.execute("ROLLBACK")
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    #expect(try await store.read { try $0.indexes } == [])
    #expect(try await store.read { try $0.cursor } == before)
  }
}
