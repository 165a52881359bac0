import TestSupport
import Testing

@testable import UserStore

/// Compaction of change sets that are larger than the limits of the log.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct HugeSetTests {
  let folder: Folder
  let plain: PlainConnection

  /// The writer of the huge set; the set of each has 10,000 rows, more than a step reads.
  enum Author: CaseIterable {
    case library, foreign, both
  }

  init() throws {
    folder = try Folder()
    try folder.open().close()
    plain = try PlainConnection(folder.database, busyTimeout: 5_000)
  }

  private static let policy: RetentionPolicy = {
    var policy = RetentionPolicy(.init(changes: 4_000), minimumChanges: 20)
    policy.graceRows = 30
    return policy
  }()

  private func writeHugeSet(_ author: Author) throws {
    if author != .library {
      try plain.script(
        """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
        INSERT INTO users (name) SELECT 'foreign ' || i FROM n
        """)
    }
    let store = try folder.open { $0.retention = .unlimited }
    defer { store.close() }
    try store.write { transaction in
      for number in 0..<(author == .foreign ? 1 : 5_000) { try transaction.add(name: "\(number)") }
    }
  }

  /// Opens the store, writes once, and closes it, as a short process does.
  private func writeOnce(_ policy: RetentionPolicy) throws {
    let store = try folder.open {
      $0.retention = policy
      $0.watchesOtherProcesses = false
    }
    defer { store.close() }
    try store.write { try $0.rename(User.ID(1), to: "name \(plain.position())") }
  }

  private func ends() throws -> Set<Int64> {
    let store = try folder.open { $0.access = .readOnly }
    defer { store.close() }
    return Set(try store.allChanges().map(\.revision.rawValue) + [0])
  }

  // MARK: Automatic compaction

  @Test(arguments: Author.allCases)
  func `processes that write once each delete a huge set together, once enough rows follow it`(
    _ author: Author
  ) throws {
    try writeHugeSet(author)
    let ends = try ends()
    var extent = try plain.extent()
    #expect(extent.count > 10_000)
    for number in 1...60 {
      try writeOnce(Self.policy)
      let next = try plain.extent()
      #expect(extent.count + 2 - next.count <= 1_000, "one write deleted too much")
      #expect(ends.contains(next.horizon) || next.horizon > ends.max()!, "the horizon is inside a set")
      if number < 15, author != .both {
        #expect(next.count > 10_000, "the huge set was deleted before enough rows followed it")
      }
      extent = next
    }
    #expect(extent.count < 4_000, "\(extent)")
    #expect(extent.first == extent.horizon + 1)
    #expect(try folder.shell("PRAGMA integrity_check") == "ok\n")
  }

  @Test(arguments: Author.allCases)
  func `each step reads a part of a huge set, and the next step continues there`(_ author: Author) throws {
    try writeHugeSet(author)
    for _ in 0..<20 { try writeOnce(.unlimited) }
    let session = try folder.session()
    var steps: [LogExtent] = []
    repeat {
      let before = try session.extent(assuming: nil)
      let step = try CompactionStep(in: before, keeping: Self.policy, at: 0, session)
      if step.isEmpty { break }
      #expect(step.after.searched - before.searched <= max(4_000, step.after.horizon.revision.rawValue))
      #expect(step.rows <= 1_000)
      try session.execute("BEGIN IMMEDIATE")
      #expect(try step.perform(session))
      try session.execute("COMMIT")
      steps.append(try session.extent(assuming: nil))
    } while steps.count < 100
    #expect(Array(steps.prefix(2).map(\.searched)) == [4_000, 8_000])
    #expect(steps.count < 50)
    #expect(steps.last?.first == steps.last.map { $0.horizon.revision.rawValue + 1 })
  }

  @Test func `a store with nothing to delete saves no search position`() throws {
    try writeHugeSet(.library)
    for _ in 0..<5 { try writeOnce(Self.policy) }
    let version = try plain.value("SELECT searched FROM meta")
    let before = try plain.position()
    for _ in 0..<5 { try writeOnce(Self.policy) }
    #expect(try plain.value("SELECT searched FROM meta") == version, "the end of the set is found at once")
    #expect(try plain.position() == before + 10)
    #expect(try plain.extent().horizon == 0)
  }

  @Test func `several processes delete a huge set at the same time`() throws {
    try writeHugeSet(.both)
    let folder = folder
    try Threads.run(4) { thread in
      for number in 0..<40 {
        let store = try folder.open { $0.retention = Self.policy }
        try store.write { try $0.rename(User.ID(Int64(thread + 1)), to: "\(thread) \(number)") }
        store.close()
      }
    }
    for _ in 0..<30 { try writeOnce(Self.policy) }
    let extent = try plain.extent()
    #expect(extent.count < 4_000 && extent.first == extent.horizon + 1)
    #expect(extent.count == extent.last - extent.first + 1)
    #expect(try folder.shell("PRAGMA integrity_check") == "ok\n")
  }

  // MARK: Compaction on demand

  @Test(arguments: Author.allCases)
  func `compaction deletes what its preview returned, also after steps that stopped early`(_ author: Author) throws {
    try writeHugeSet(author)
    for _ in 0..<10 { try writeOnce(Self.policy) }
    for _ in 0..<10 { try writeOnce(.unlimited) }
    #expect(try plain.value("SELECT searched > 0 FROM meta") == .integer(1))
    let store = try folder.open { $0.retention = Self.policy }
    let found = try store.compactionPreview()
    #expect(found.sets > 0 && found.changes >= 10_000 && found.bytes > 640_000)
    #expect(try store.compact() == found)
    #expect(try store.compact().sets == 0)
  }

  @Test func `a named consumer holds back a huge set`() throws {
    try writeHugeSet(.library)
    for _ in 0..<40 { try writeOnce(.unlimited) }
    try plain.run("INSERT INTO consumers SELECT 'slow', epoch, 0, 0, 0, 0 FROM meta")
    for _ in 0..<10 { try writeOnce(Self.policy) }
    let store = try folder.open { $0.retention = Self.policy }
    #expect(try store.compactionPreview().isHeldByConsumer)
    #expect(try store.compact().isHeldByConsumer)
    #expect(try plain.extent().horizon == 0)
    var capped = Self.policy
    capped.consumerLimits = .init(changes: 9_000)
    #expect(try store.compact(keeping: capped).horizon.rawValue > 10_000)
  }

  @Test func `a huge set is deleted because of its size in bytes as well, even with few large values`() throws {
    let store = try folder.open { $0.retention = .unlimited }
    let bytes = Attribute<[UInt8]>("bytes")
    let zoe = try store.write { try $0.add(name: "Zoë") }
    let first = try store.read { try $0.cursor }
    try store.write { transaction in
      for number in 0..<60 { try transaction.set(bytes, of: zoe, to: Array(repeating: UInt8(number), count: 100_000)) }
    }
    try store.rename(zoe, times: 3)
    let policy = RetentionPolicy(.init(bytes: 1_000_000))
    #expect(
      try store.compactionPreview(keeping: policy).horizon == first.revision, "the rest would be smaller than the limit"
    )
    var short = policy
    short.graceRows = 6
    let session = try folder.session()
    let step = try CompactionStep(in: session.extent(assuming: nil), keeping: short, at: 0, session)
    #expect(step.isMore && step.after.sized < 70, "a step reads a megabyte")
    let found = try store.compactionPreview(keeping: short)
    #expect(found.sets == 2 && found.bytes > 11_800_000)
    #expect(try store.compact(keeping: short) == found)
    #expect(try plain.extent().count == 6)
  }

  // MARK: Tampering

  @Test(arguments: [
    "searched = 9223372036854775807, sized = 9223372036854775807, size = 9223372036854775807",
    "searched = -9223372036854775808, sized = -9223372036854775808, size = -9223372036854775808",
    "searched = 7, sized = 7, size = 9223372036854775807", "searched = 10001, sized = 10001, size = 1",
    "searched = 10005, measured = 10005, bytes = 1, sized = 10005, size = 281474976710656",
  ])
  func `numbers that were tampered with do not prevent compaction`(_ sql: String) throws {
    try writeHugeSet(.library)
    for _ in 0..<20 { try writeOnce(.unlimited) }
    try plain.run("UPDATE meta SET \(sql)")
    var policy = Self.policy
    policy.limits.bytes = 300_000
    let store = try folder.open { $0.retention = policy }
    let found = try store.compactionPreview()
    #expect(found.horizon.rawValue >= 10_001)
    #expect(try store.compact() == found)
    #expect(try plain.extent().count <= 42)
  }

  @Test func `ends with impossible starts and rows before the first do not make a step longer`() throws {
    try writeHugeSet(.library)
    for _ in 0..<20 { try writeOnce(.unlimited) }
    try plain.script(
      """
      UPDATE changes SET old = -9223372036854775807 - 1 WHERE op = 0;
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
      INSERT INTO changes (seq, op) SELECT -i, 2 FROM n
      """)
    let rows = "SELECT count(*) FROM changes"
    var before = try plain.value(rows)
    for _ in 0..<20 {
      try writeOnce(Self.policy)
      let after = try plain.value(rows)
      if case .integer(let old) = before, case .integer(let new) = after { #expect(old + 2 - new <= 1_000) }
      before = after
    }
    #expect(try plain.extent().horizon >= 10_001)
  }
}
