import TestSupport

@testable import UserStore

/// One random run of writes and compactions, checked after each step.
struct CompactionRun {
  let folder: Folder
  private let store: UserStore
  private let plain: PlainConnection
  private let clock = SetClock(1_000)
  private var random: SplitMix64
  /// Every row that was ever written, and every cursor that a consumer may have.
  private var rows: [Row] = []
  private var cursors: [Cursor] = []
  private var horizon: Int64 = 0
  private var count = 0
  /// The steps whose rows are written with a clock that is far ahead.
  private let wrongSteps: Range<Int>

  private struct Row {
    let seq: Int64
    /// The first row of the set, if this row ends one.
    let first: Int64?
    let size: Int64
    let at: Int64
    let line: [PlainValue]
  }

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    let first = Int.random(in: 0..<40, using: &random)
    wrongSteps = first..<first + Int.random(in: 0..<15, using: &random)
    folder = try Folder()
    let clock = clock
    store = try folder.open {
      $0.retention = .unlimited
      $0.watchesOtherProcesses = false
      $0.wallClock = { clock.milliseconds }
    }
    plain = try PlainConnection(folder.database, busyTimeout: 5_000)
    cursors = [try store.read { try $0.cursor }]
    try write(count: 3)
    try recordNewRows()
  }

  mutating func step() throws {
    clock.milliseconds += Int64.random(in: 0..<20, using: &random)
    count += 1
    switch random.choose(0, 0, 0, 1, 1, 2, 2, 3) {
    case 0: try write(count: random.oneIn(12) ? 600 : Int.random(in: 0..<4, using: &random))
    case 1: try writeForeign()
    case 2: try compact()
    default: try compactInSteps()
    }
    try recordNewRows()
    try check()
  }

  private mutating func write(count: Int) throws {
    // Small rows take less of the file than they count.
    let size = random.oneIn(2) ? 1 : Int.random(in: 1..<200, using: &random)
    try store.write { transaction in
      for number in 0..<count { try transaction.add(name: String(repeating: "x", count: size) + "\(number)") }
    }
  }

  private mutating func writeForeign() throws {
    let count = random.oneIn(12) ? 600 : Int.random(in: 1..<4, using: &random)
    try plain.script(
      """
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
      INSERT INTO users (name) SELECT 'foreign ' || i FROM n
      """)
  }

  /// Records the new rows, and the cursor of a reader that has read them.
  private mutating func recordNewRows() throws {
    let last = rows.last?.seq ?? 0
    let time = clock.milliseconds + (wrongSteps.contains(count) ? 1 << 40 : 0)
    try plain.run("UPDATE changes SET at = ? WHERE seq > ?", [.integer(time), .integer(last)])
    let sql = """
      SELECT seq, op, old, at, 64 + \(Self.size("old")) + \(Self.size("new")), user, attribute, old, new
      FROM changes WHERE seq > ? ORDER BY seq
      """
    for row in try plain.run(sql, [.integer(last)]) {
      guard case .integer(let seq) = row[0], case .integer(let at) = row[3], case .integer(let size) = row[4] else {
        throw Mismatch("\(row)")
      }
      var first: Int64?
      if row[1] == 0, case .integer(let value) = row[2] { first = value }
      rows.append(Row(seq: seq, first: first, size: size, at: at, line: Array(row[5...])))
    }
    guard rows.enumerated().allSatisfy({ $1.seq == Int64($0) + 1 }) else { throw Mismatch("a number is missing") }
    let cursor = try store.read { try $0.cursor }
    if cursor != cursors.last { cursors.append(cursor) }
  }

  private static func size(_ column: String) -> String {
    "CASE typeof(\(column)) WHEN 'null' THEN 0 WHEN 'text' THEN length(CAST(\(column) AS BLOB)) ELSE 8 END"
  }

  // MARK: Compaction

  private mutating func compact() throws {
    let (policy, consumers) = (randomPolicy(), try writeConsumers())
    let expected = expectedHorizon(policy, consumers)
    let found = try store.compactionPreview(keeping: policy)
    let done = try store.compact(keeping: policy)
    guard done.horizon.rawValue == expected, found == done else {
      throw Mismatch("\(policy), consumers \(consumers): \(found), \(done), not \(expected) after \(horizon)")
    }
    horizon = expected
    let extent = try plain.extent()
    let head = rows.last!.seq
    guard extent.horizon == horizon, extent.last == head, extent.count == max(1, head - horizon) else {
      throw Mismatch("\(extent) after deleting through \(horizon) of \(head)")
    }
  }

  /// Performs a few compaction steps, each with a policy of its own, as short processes do that leave the rest to others.
  private mutating func compactInSteps() throws {
    let session = try folder.session()
    for _ in 0..<Int.random(in: 1..<8, using: &random) {
      let (policy, consumers) = (randomPolicy(), try writeConsumers())
      let expected = expectedHorizon(policy, consumers)
      let step = try CompactionStep(in: session.extent(assuming: nil), keeping: policy, at: clock.milliseconds, session)
      try session.execute("BEGIN IMMEDIATE")
      guard try step.perform(session), step.rows <= 1_000 else { throw Mismatch("\(step)") }
      try session.execute("COMMIT")
      let extent = try plain.extent()
      // The old horizon may no longer end a set: foreign rows that were written since belong to that set.
      guard extent.horizon == horizon || extent.horizon <= expected && ends.contains(extent.horizon),
        extent.horizon >= horizon,
        extent.last == rows.last!.seq, extent.count == extent.last - extent.first + 1
      else { throw Mismatch("\(extent) after a step of \(policy), \(consumers): \(expected), was \(horizon)") }
      horizon = extent.horizon
    }
  }

  private mutating func writeConsumers() throws -> [Int64] {
    try plain.run("DELETE FROM consumers")
    let consumers = (0..<random.choose(0, 1, 2, 3)).map { _ in
      cursors[Int.random(in: 0..<cursors.count, using: &random)].revision.rawValue
    }
    for (index, consumer) in consumers.enumerated() {
      try plain.run("INSERT INTO consumers SELECT 'c\(index)', epoch, \(consumer), 0, 0, 0 FROM meta")
    }
    return consumers
  }

  private mutating func randomPolicy() -> RetentionPolicy {
    func limits() -> RetentionPolicy.Limits {
      RetentionPolicy.Limits(
        age: random.oneIn(2) ? .milliseconds(Int.random(in: 0..<300, using: &random)) : nil,
        changes: random.oneIn(2) ? Int.random(in: 0..<40, using: &random) * random.choose(1, 1, 40) : nil,
        bytes: random.oneIn(2) ? Int.random(in: 0..<20_000, using: &random) * random.choose(1, 10) : nil)
    }
    var policy = RetentionPolicy(
      limits(), minimumChanges: random.choose(0, 0, 30), consumerLimits: random.oneIn(2) ? .none : limits())
    // Small limits, so that sets of a few rows are huge.
    policy.graceRows = random.choose(0, 1, 10, 50, 10_000)
    policy.readRows = random.choose(7, 40, 300, 4_000)
    return policy
  }

  /// The definition of compaction, written as simply as possible.
  private func expectedHorizon(_ policy: RetentionPolicy, _ consumers: [Int64]) -> Int64 {
    var result = horizon
    for end in ends where end > horizon {
      guard isBeyond(policy.limits, end, policy, after: result) else { break }
      let isNeeded = consumers.contains { $0 >= result && $0 < end }
      if isNeeded, !isBeyond(policy.consumerLimits, end, policy, after: result) { break }
      result = end
    }
    return result
  }

  /// The ends of the sets, as a reader of the present log divides it.
  private var ends: [Int64] {
    var ends: [Int64] = []
    for row in rows {
      guard let first = row.first else { continue }
      if first - 1 > ends.last ?? 0 { ends.append(first - 1) }
      ends.append(row.seq)
    }
    if ends.last != rows.last?.seq { ends.append(rows.last!.seq) }
    return ends
  }

  /// Whether the set is beyond a limit: enough rows follow it, or some follow it and the log is too long with it, or it is
  /// too old.
  private func isBeyond(
    _ limits: RetentionPolicy.Limits, _ end: Int64, _ policy: RetentionPolicy, after start: Int64
  ) -> Bool {
    let (with, after) = (rows.dropFirst(Int(start)), rows.dropFirst(Int(end)))
    let isFollowed = after.count >= max(policy.minimumChanges, policy.graceRows)
    if let changes = limits.changes, after.count >= changes || isFollowed && with.count > changes { return true }
    if let bytes = limits.bytes {
      let (all, rest) = (with.map(\.size).reduce(0, +), after.map(\.size).reduce(0, +))
      if rest >= bytes || isFollowed && all > bytes { return true }
    }
    guard let age = limits.age, after.count >= policy.minimumChanges else { return false }
    return time(of: end) < clock.milliseconds - Int64(age / .milliseconds(1))
  }

  /// The row's own time, or the time of the first row after it that is not from the future.
  private func time(of end: Int64) -> Int64 {
    let now = clock.milliseconds
    return rows.dropFirst(Int(end) - 1).first { $0.at <= now }?.at ?? now
  }

  // MARK: Checks

  private func check() throws {
    for cursor in cursors {
      let revision = cursor.revision.rawValue
      do {
        let found = try store.allChanges(after: cursor).flatMap { try $0.changes.map(\.sequence) }
        let expected = rows.dropFirst(Int(revision)).filter { $0.first == nil }.map(\.seq)
        guard revision >= horizon, found == expected else { throw Mismatch("after \(revision): \(found)") }
      } catch let error as StoreError where error.code == .compacted {
        guard revision < horizon else { throw Mismatch("\(revision) was not deleted, the horizon is \(horizon)") }
      }
    }
    guard cursors.contains(where: { $0.revision.rawValue == horizon }) || horizonIsForeignEnd else {
      throw Mismatch("the horizon \(horizon) is inside a set")
    }
  }

  private var horizonIsForeignEnd: Bool { ends.contains(horizon) }
}
