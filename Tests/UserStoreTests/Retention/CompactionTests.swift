import TestSupport
import Testing

@testable import UserStore

/// Compaction: which change sets are deleted, which stay, and how readers are notified.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct CompactionTests {
  let folder: Folder
  let store: UserStore
  let zoe: User.ID

  init() throws {
    folder = try Folder()
    store = try folder.open { $0.retention = .unlimited }
    zoe = try store.write { try $0.add(name: "0") }
  }

  @Test func `sets beyond the limit are deleted, and an older cursor gets an error that names the horizon`() throws {
    try store.rename(zoe, times: 20)
    let all = try store.allChanges()
    let compaction = try store.compact(keeping: .rows(10))
    #expect(compaction.sets == 16 && compaction.changes == 17)
    #expect(compaction.horizon == all[15].revision)
    let error = #expect(throws: StoreError.self) { try store.page(after: all[14].cursor) }
    #expect(error?.code == .compacted)
    #expect(error?.message.contains("starts after \(all[15].revision)") == true)
    #expect(try store.allChanges(after: all[15].cursor).map(\.cursor) == all.suffix(5).map(\.cursor))
    #expect(try store.allChanges().map(\.lines) == all.suffix(5).map(\.lines))
    #expect(try store.compact(keeping: .rows(10)).sets == 0)
    #expect(try folder.shell("PRAGMA integrity_check") == "ok\n")
  }

  @Test(arguments: [true, false])
  func `the newest row stays, and no revision is reused`(_ endsForeign: Bool) throws {
    try store.rename(zoe, times: 3)
    if endsForeign { try folder.shell("UPDATE users SET name = 'foreign'") }
    let head = try store.read { try $0.cursor }
    try store.compact(keeping: .rows(0))
    #expect(try store.read { try $0.cursor } == head)
    let last = head.revision.rawValue
    #expect(try PlainConnection(folder.database).extent() == (last, last, 1, last))
    #expect(try store.page(after: head).isEmpty)
    try store.compact(keeping: .rows(0))
    try store.write { try $0.rename(zoe, to: "next") }
    let sets = try store.allChanges(after: head)
    #expect(try sets.map { try $0.changes.map(\.sequence) } == [[last + 1]])
    #expect(try store.allChanges().map(\.cursor) == sets.map(\.cursor))
  }

  /// Imitates pages that contradict each other: in such a file, which a fuzzer found, compaction never ended.
  @Test(arguments: ["", "CREATE TRIGGER stays BEFORE DELETE ON changes BEGIN SELECT RAISE(IGNORE); END"])
  func `rows that are counted but cannot be found or deleted are damage`(_ stays: String) throws {
    store.close()
    let session = try folder.session()
    let value = stays.isEmpty ? "CAST(seq AS TEXT)" : "seq"
    try session.execute(
      """
      ALTER TABLE changes RENAME TO gone; CREATE TABLE changes (seq, op, user, attribute, old, new, nonce, at);
      WITH RECURSIVE n(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n WHERE seq < 6)
      INSERT INTO changes (seq, op, nonce) SELECT \(value), 0, 1 FROM n;
      UPDATE meta SET horizon = 4, horizon_nonce = 1; \(stays)
      """)
    let error = #expect(throws: StoreError.self) {
      let step = try CompactionStep(in: session.extent(assuming: nil), keeping: .rows(0), at: 0, session)
      _ = try step.perform(session)
    }
    #expect(error?.code == .corrupt)
  }

  @Test(arguments: ["CAST(old AS TEXT)", "NULL", "seq + 1", "-9223372036854775808"])
  func `compaction finds the same sets as a reader, whatever the end of a huge set says`(_ first: String) throws {
    try store.compact(keeping: .rows(0))
    try store.write { transaction in for number in 0..<600 { try transaction.add(name: "\(number)") } }
    try folder.shell("UPDATE changes SET old = \(first) WHERE seq = (SELECT max(seq) FROM changes)")
    let session = try folder.session()
    let ends = try SetEnds(of: session.extent(assuming: nil), limit: 10_000, session).ends
    #expect(try store.allChanges().map(\.revision.rawValue) == ends.map(\.sequence))
    #expect(!ends.isEmpty)
  }

  @Test func `a preview returns what compaction would delete, and deletes nothing`() throws {
    try store.rename(zoe, times: 3_000)
    let before = try PlainConnection(folder.database).extent()
    let found = try store.compactionPreview(keeping: .rows(100))
    #expect(try PlainConnection(folder.database).extent() == before)
    #expect(try store.compact(keeping: .rows(100)) == found)
    #expect(found.sets == 2_951)
  }

  @Test func `each step deletes at most a thousand rows, even of a huge set`() throws {
    try store.rename(zoe, times: 1_500)
    try store.write { transaction in for number in 0..<2_500 { try transaction.add(name: "\(number)") } }
    try folder.shell("UPDATE users SET hair_color = '#ffffff'")
    try store.rename(zoe, times: 10)
    let ends = Set(try store.allChanges().map(\.revision.rawValue))
    store.close()
    let session = try folder.session()
    let plain = try PlainConnection(folder.database)
    var steps: [Int64] = []
    while true {
      try session.execute("BEGIN")
      let step = try CompactionStep(in: session.extent(assuming: nil), keeping: .rows(20), at: 0, session)
      try session.execute("COMMIT")
      let before = try plain.extent()
      try session.execute("BEGIN IMMEDIATE")
      #expect(try step.perform(session))
      try session.execute("COMMIT")
      let after = try plain.extent()
      steps.append(before.count - after.count)
      #expect(ends.contains(after.horizon), "the horizon is inside a set")
      #expect(after.count == after.last - after.first + 1, "a gap")
      if !step.isMore { break }
    }
    #expect(steps.allSatisfy { $0 <= 1_000 } && steps.count > 10, "\(steps)")
    #expect(steps.reduce(0, +) == ends.max()! - 20)
  }

  @Test func `an outdated step is not performed`() throws {
    try store.rename(zoe, times: 20)
    let session = try folder.session()
    let step = try CompactionStep(in: session.extent(assuming: nil), keeping: .rows(10), at: 0, session)
    try store.compact(keeping: .rows(20))
    #expect(try !step.perform(session))
    let next = try CompactionStep(in: session.extent(assuming: nil), keeping: .rows(10), at: 0, session)
    try insertConsumer(at: store.page(after: nil)[0].cursor)
    #expect(try !next.perform(session), "a consumer was created since")
  }

  // MARK: Limits

  /// Opens a store without limits in a new folder, with a clock that the test sets.
  private func openTimed(at milliseconds: Int64) throws -> (folder: Folder, store: UserStore, clock: SetClock) {
    let (folder, clock) = (try Folder(), SetClock(milliseconds))
    let store = try folder.open {
      $0.retention = .unlimited
      $0.wallClock = { clock.milliseconds }
    }
    return (folder, store, clock)
  }

  @Test func `changes that are too old are deleted, except for the minimum number`() throws {
    let (folder, store, clock) = try openTimed(at: 0)
    let zoe = try store.write { try $0.add(name: "0") }
    try store.rename(zoe, times: 9)
    try folder.shell("UPDATE changes SET at = seq * 1000")
    let ends = try store.allChanges().map(\.revision.rawValue)
    func compact(age: Int, minimum: Int = 0) throws -> Int64 {
      try store.compact(
        keeping: RetentionPolicy(.init(age: .seconds(age)), minimumChanges: minimum)
      ).horizon.rawValue
    }
    #expect(try compact(age: 1) == 0, "the clock is before all changes")
    clock.milliseconds = 11_000
    #expect(ends.prefix(5) == [3, 5, 7, 9, 11])
    #expect(try compact(age: 6) == 3)
    #expect(try compact(age: 5, minimum: 17) == 3)
    #expect(try compact(age: 5) == 5)
    clock.milliseconds = .max
    #expect(try compact(age: 1, minimum: 8) == 13)
    #expect(try compact(age: .max) == 13)
  }

  @Test func `writes with a clock that is ten years ahead are as old as the next writes with the right time`() throws {
    let (folder, store, clock) = try openTimed(at: 0)
    let zoe = try store.write { try $0.add(name: "0") }
    try store.rename(zoe, times: 400)
    let ends = try store.allChanges().map(\.revision.rawValue)
    // The first write, a range in the middle, and the newest write.
    let wrong = "at + 315360000000"
    try folder.shell(
      """
      UPDATE changes SET at = seq * 1000; UPDATE changes SET at = \(wrong) WHERE seq <= 3;
      UPDATE changes SET at = \(wrong) WHERE seq BETWEEN 100 AND 603; UPDATE changes SET at = \(wrong) WHERE seq = 803
      """)
    func compact(age: Int) throws -> Int64 {
      let policy = RetentionPolicy(.init(age: .seconds(age)))
      let found = try store.compactionPreview(keeping: policy)
      #expect(try store.compact(keeping: policy) == found)
      return found.horizon.rawValue
    }
    clock.milliseconds = 803_000
    #expect(try compact(age: 800) == 0)
    #expect(try compact(age: 797) == 5, "the first write is as old as the second")
    #expect(try compact(age: 300) == 99, "the range in the middle is as old as row 604")
    #expect(try compact(age: 198) == 603)
    #expect(try compact(age: 1) == 801, "no write follows the newest one")
    #expect(ends.contains(99))
    clock.milliseconds = .max
    #expect(try compact(age: 1) == 803)
  }

  @Test func `if only the newest row has the right time, all before it are as old`() throws {
    let (folder, store, clock) = try openTimed(at: 0)
    try store.rename(try store.write { try $0.add(name: "0") }, times: 20)
    let ends = try store.allChanges().map(\.revision.rawValue)
    try folder.shell(
      "UPDATE changes SET at = 1000; UPDATE changes SET at = 315360000000 WHERE seq < (SELECT max(seq) FROM changes)")
    clock.milliseconds = 11_000
    #expect(try store.compact(keeping: RetentionPolicy(.init(age: .seconds(5)))).horizon.rawValue == ends.last)
  }

  @Test func `a time from the past does not age the changes before it`() throws {
    let (folder, store, _) = try openTimed(at: 1_000_000)
    try store.rename(try store.write { try $0.add(name: "0") }, times: 20)
    try folder.shell("UPDATE changes SET at = 1000000; UPDATE changes SET at = 0 WHERE seq > 20")
    #expect(try store.compact(keeping: RetentionPolicy(.init(age: .seconds(1)))).sets == 0)
  }

  @Test func `the log stays within a size, and rows are counted once`() throws {
    let bytes = Attribute<[UInt8]>("bytes")
    for number in 0..<60 {
      try store.write { try $0.set(bytes, of: zoe, to: Array(repeating: UInt8(number), count: 50_000)) }
    }
    let policy = RetentionPolicy(.init(bytes: 1_000_000))
    try store.compact(keeping: policy)
    let plain = try PlainConnection(folder.database)
    let sum = "SELECT sum(64 + coalesce(length(old), 0) + coalesce(length(new), 0)) FROM changes WHERE op <> 0"
    let size = try #require(try plain.value(sum))
    guard case .integer(let size) = size else { throw Mismatch("\(size)") }
    #expect((1_000_000..<1_150_000).contains(size))
    let counted = try plain.run("SELECT bytes, measured FROM meta")[0]
    try store.compact(keeping: policy)
    #expect(try plain.run("SELECT bytes, measured FROM meta")[0] == counted)
    let exact = "SELECT sum(64 + CASE op WHEN 0 THEN 8 ELSE length(old) + length(new) END) FROM changes"
    #expect(try plain.value(exact) == counted[0])
  }

  @Test func `a log of small rows, which takes less of the file than its size, stays within a size`() throws {
    let step = Attribute<Int>("step")
    try store.write { transaction in for number in 0..<3_000 { try transaction.set(step, of: zoe, to: number) } }
    try store.rename(zoe, times: 1)
    let (size, used) = (
      "SELECT count(*) * 64 FROM changes", "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
    )
    let plain = try PlainConnection(folder.database)
    guard case .integer(let size) = try plain.value(size), case .integer(let used) = try plain.value(used) else {
      throw Mismatch("no size")
    }
    #expect(used < size)
    var policy = RetentionPolicy(.init(bytes: Int(size)))
    policy.graceRows = 1
    #expect(try store.compact(keeping: policy).sets > 0)
  }

  @Test func `a log with missing rows is not compacted, and throws diverged`() throws {
    try store.rename(zoe, times: 5)
    try folder.shell("DELETE FROM changes WHERE seq = 4")
    #expect(code { try store.compact(keeping: .rows(0)) } == .diverged)
    #expect(try PlainConnection(folder.database).extent().horizon == 0)
  }

  // MARK: Consumers

  private func insertConsumer(at cursor: Cursor, name: String = "sync") throws {
    try folder.shell(
      """
      INSERT OR REPLACE INTO consumers
      VALUES ('\(name)', \(cursor.epoch), \(cursor.revision), \(cursor.nonce), 0, 0)
      """)
  }

  @Test func `a named consumer holds back the sets it needs, up to a limit`() throws {
    try store.rename(zoe, times: 50)
    let all = try store.allChanges()
    try insertConsumer(at: all[5].cursor)
    try insertConsumer(at: all[20].cursor, name: "other")
    try insertConsumer(at: all[40].cursor, name: "near")
    let held = try store.compact(keeping: .rows(4))
    #expect(held.horizon == all[5].revision && held.isHeldByConsumer)
    #expect(try store.page(after: all[5].cursor).count == 45)
    let capped = RetentionPolicy(.init(changes: 4), consumerLimits: .init(changes: 40))
    let cut = try store.compact(keeping: capped)
    #expect(
      cut.horizon == all[40].revision && cut.isHeldByConsumer, "two consumers are too far behind to hold anything back")
    #expect(code { try store.page(after: all[5].cursor) } == .compacted)
    #expect(try store.page(after: all[40].cursor).count == 10)
    #expect(try store.compact(keeping: .rows(4)).sets == 0)
  }

  @Test func `a consumer that is too far behind holds nothing back, even if counting takes steps`() throws {
    try insertConsumer(at: try store.read { try $0.cursor })
    for round in 0..<3 {
      try store.write { for number in 0..<600 { try $0.add(name: "\(round) \(number)") } }
    }
    // 150 of 230 KB follow the first set. The first steps count less of them than the consumer's limit.
    let policy = RetentionPolicy(.init(bytes: 1_000), consumerLimits: .init(bytes: 100_000))
    let found = try store.compactionPreview(keeping: policy)
    #expect(!found.isHeldByConsumer)
    #expect(try store.compact(keeping: policy) == found)
  }

  @Test func `a consumer of another epoch holds nothing back`() throws {
    try store.rename(zoe, times: 10)
    let cursor = try store.allChanges()[2].cursor
    try insertConsumer(at: Cursor(epoch: cursor.epoch + 1, revision: cursor.revision.rawValue, nonce: cursor.nonce))
    #expect(try !store.compact(keeping: .rows(0)).isHeldByConsumer)
    #expect(try PlainConnection(folder.database).extent().count == 1)
  }

  // MARK: Readers that are behind

  @Test func `a feed behind the horizon fails, and a feed at the horizon continues`() async throws {
    try store.rename(zoe, times: 10)
    let all = try store.allChanges()
    var behind = store.changeSets(after: all[2].cursor).makeAsyncIterator()
    var atHorizon = store.changeSets(after: all[8].cursor).makeAsyncIterator()
    let compaction = try await store.compact(keeping: .rows(4))
    #expect(compaction.horizon == all[8].revision)
    #expect(await awaitedCode { try await behind.next() } == .compacted)
    #expect(try await atHorizon.next()?.cursor == all[9].cursor)
  }

  @Test func `iterating a huge set throws compacted if the set is deleted meanwhile, after some changes`() throws {
    let before = try store.read { try $0.cursor }
    try store.write { transaction in for number in 0..<2_000 { try transaction.add(name: "\(number)") } }
    let set = try store.allChanges(after: before)[0]
    var delivered = 0
    #expect(
      code {
        try set.forEach { _ in
          delivered += 1
          if delivered == 10 { _ = try? store.compact(keeping: .rows(0)) }
        }
      } == .compacted)
    #expect(delivered >= 10 && delivered < 4_000)
  }

  @Test func `a watcher that is behind is reset with the code compacted, and reads its values again`() throws {
    let watching = try folder.open()
    let name = try watching.listenable(.name, of: zoe)
    let received = Recorder<String?>()
    let resets = Recorder<StoreError.Code>()
    let (isReceived, mayContinue) = (Gate(), Gate())
    name.bind("screen") { value in
      received.record(value)
      if value == "first" {
        isReceived.open()
        mayContinue.wait()
      }
    }
    watching.listeners.bind("all", to: .everything) { set in if let reset = set.discontinuity { resets.record(reset) } }
    try store.write { try $0.rename(zoe, to: "first") }
    isReceived.wait()
    try store.rename(zoe, times: 10)
    try store.compact(keeping: .rows(0))
    mayContinue.open()
    resets.wait(for: 1)
    received.wait { $0.last == "name 9" }
    #expect(resets.all == [.compacted])
    #expect(name.value == "name 9")
    #expect(received.all == ["first", "name 9"])
  }

  @Test func `a listenable whose huge set was deleted before its delivery reads the present value`() throws {
    let errors = Recorder<String?>()
    let folder = try Folder()
    let store = try folder.open {
      $0.retention = .unlimited
      $0.onListenerError = { name, _ in errors.record(name) }
    }
    let zoe = try store.write { try $0.add(name: "0") }
    let name = try store.listenable(.name, of: zoe)
    let received = Recorder<String?>()
    let (isReceived, mayContinue) = (Gate(), Gate())
    name.bind("screen") { value in
      received.record(value)
      if value == "first" {
        isReceived.open()
        mayContinue.wait()
      }
    }
    store.listeners.bind("reads it", to: .everything) { set in _ = try set.changes }
    let first = try Threads.start { _ = try store.write { try $0.rename(zoe, to: "first") } }
    isReceived.wait()
    let second = try Threads.start {
      try store.write { transaction throws in
        try transaction.rename(zoe, to: "second")
        for number in 0..<2_000 { try transaction.add(name: "\(number)") }
      }
    }
    while try store.read({ try $0.user(zoe)?.name }) != "second" {}
    try store.compact(keeping: .rows(0))
    mayContinue.open()
    try first.join()
    try second.join()
    #expect(received.all == ["first", "second"])
    #expect(name.value == "second")
    #expect(errors.all == ["reads it"], "the listener that reads the changes gets the error")
  }

  // MARK: Where compaction is allowed

  @Test func `compaction is refused inside a transaction, in a read-only store, and after closing`() async throws {
    #expect(code { try store.write { _ in _ = try store.compact() } } == .nested)
    #expect(code { try store.read { _ in _ = try store.compact() } } == .nested)
    let reading = try folder.open { $0.access = .readOnly }
    #expect(code { try reading.compact() } == .readOnly)
    #expect(try await reading.compactionPreview(keeping: .rows(0)).sets == 1)
    await store.close()
    #expect(code { try store.compact() } == .closed)
    #expect(await awaitedCode { try await store.compact() } == .closed)
  }

  @Test func `compaction works the same in memory`() async throws {
    let store = try UserStore.forTests()
    let zoe = try await store.write { try $0.add(name: "0") }
    try store.rename(zoe, times: 10)
    let cursor = try await store.read { try $0.cursor }
    #expect(try await store.compact(keeping: .rows(0)).sets == 11)
    #expect(try await store.page(after: cursor).isEmpty)
    #expect(try await store.page(after: nil).isEmpty)
  }

  @Test func `a canceled compaction ends between two steps, and keeps the steps that are done`() async throws {
    try store.rename(zoe, times: 3_000)
    #expect(throws: CancellationError.self) { try store.writer?.compact(keeping: .rows(0)) { true } }
    let extent = try PlainConnection(folder.database).extent()
    #expect(extent.count > 4_000 && extent.first > 1)
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await store.compact(keeping: .rows(0))
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try PlainConnection(folder.database).extent().first == extent.first)
    #expect(try await store.compact(keeping: .rows(0)).horizon.rawValue == extent.last)
  }
}
