import TestSupport

@testable import UserStore

/// One random run of writes and compactions, checked after each step.
struct CompactionRun {
  let folder: Folder
  private let store: UserStore
  private let plain: PlainConnection
  private let clock = SetClock(1_000)
  private var random: SplitMix64
  /// Every row that ever was, and every cursor that a consumer may have.
  private var rows: [Row] = []
  private var cursors: [Cursor] = []
  private var horizon: Int64 = 0

  private struct Row {
    let seq: Int64
    /// In the row of an end: the first row of its set.
    let first: Int64?
    let size: Int64
    let at: Int64
    let line: [PlainValue]
  }

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    folder = try Folder()
    let clock = clock
    store = try folder.open {
      $0.history = .unlimited
      $0.watchesOtherProcesses = false
      $0.wallClock = { clock.milliseconds }
    }
    plain = try PlainConnection(folder.database, busyTimeout: 5_000)
    cursors = [try store.read { try $0.cursor }]
    try write(count: 3)
    try learn()
  }

  mutating func step() throws {
    clock.milliseconds += Int64.random(in: 0..<20, using: &random)
    switch random.choose(0, 0, 0, 1, 1, 2, 2) {
    case 0: try write(count: random.oneIn(12) ? 600 : Int.random(in: 0..<4, using: &random))
    case 1: try writeForeign()
    default: try compact()
    }
    try learn()
    try check()
  }

  private mutating func write(count: Int) throws {
    let size = Int.random(in: 1..<200, using: &random)
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

  /// The rows that came, and the cursor that somebody who has read them has.
  private mutating func learn() throws {
    let last = rows.last?.seq ?? 0
    try plain.run("UPDATE changes SET at = ? WHERE seq > ?", [.integer(clock.milliseconds), .integer(last)])
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
    let policy = randomPolicy()
    try plain.run("DELETE FROM consumers")
    let consumers = (0..<random.choose(0, 1, 2, 3)).map { _ in
      cursors[Int.random(in: 0..<cursors.count, using: &random)].revision.rawValue
    }
    for (index, consumer) in consumers.enumerated() {
      try plain.run("INSERT INTO consumers SELECT 'c\(index)', epoch, \(consumer), 0, 0, 0 FROM meta")
    }
    let expected = expectedHorizon(policy, consumers)
    let found = try store.compactable(keeping: policy)
    let done = try store.compact(keeping: policy)
    guard done.horizon.rawValue == expected, found == done else {
      throw Mismatch("\(policy), consumers \(consumers): \(found), \(done), not \(expected) after \(horizon)")
    }
    horizon = expected
    let extent = try plain.extent()
    let head = rows.last!.seq
    guard extent.horizon == horizon, extent.last == head, extent.count == max(1, head - horizon) else {
      throw Mismatch("\(extent) after forgetting through \(horizon) of \(head)")
    }
  }

  private mutating func randomPolicy() -> HistoryPolicy {
    func limits() -> HistoryPolicy.Limits {
      HistoryPolicy.Limits(
        age: random.oneIn(2) ? .milliseconds(Int.random(in: 0..<300, using: &random)) : nil,
        changes: random.oneIn(2) ? Int.random(in: 0..<40, using: &random) * random.choose(1, 1, 40) : nil,
        bytes: random.oneIn(2) ? Int.random(in: 0..<20_000, using: &random) * random.choose(1, 10) : nil)
    }
    return HistoryPolicy(
      limits(), minimumChanges: random.choose(0, 0, 30), consumerLimits: random.oneIn(2) ? .none : limits())
  }

  /// The definition, in the plainest words.
  private func expectedHorizon(_ policy: HistoryPolicy, _ consumers: [Int64]) -> Int64 {
    var result = horizon
    for end in ends where end > horizon {
      guard isBeyond(policy.limits, end, policy) else { break }
      let isNeeded = consumers.contains { $0 >= result && $0 < end }
      if isNeeded, !isBeyond(policy.consumerLimits, end, policy) { break }
      result = end
    }
    return result
  }

  /// Where sets end for somebody who reads the log now.
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

  private func isBeyond(_ limits: HistoryPolicy.Limits, _ end: Int64, _ policy: HistoryPolicy) -> Bool {
    let after = rows.dropFirst(Int(end))
    if let changes = limits.changes, after.count >= changes { return true }
    if let bytes = limits.bytes, after.map(\.size).reduce(0, +) >= bytes { return true }
    guard let age = limits.age, after.count >= policy.minimumChanges else { return false }
    return rows[Int(end) - 1].at < clock.milliseconds - Int64(age / .milliseconds(1))
  }

  // MARK: Checks

  private func check() throws {
    for cursor in cursors {
      let revision = cursor.revision.rawValue
      do {
        let told = try store.allChanges(after: cursor).flatMap { try $0.changes.map(\.sequence) }
        let expected = rows.dropFirst(Int(revision)).filter { $0.first == nil }.map(\.seq)
        guard revision >= horizon, told == expected else { throw Mismatch("after \(revision): \(told)") }
      } catch let error as StoreError where error.code == .compacted {
        guard revision < horizon else { throw Mismatch("\(revision) was not forgotten, the horizon is \(horizon)") }
      }
    }
    guard cursors.contains(where: { $0.revision.rawValue == horizon }) || horizonIsForeignEnd else {
      throw Mismatch("the horizon \(horizon) is inside a set")
    }
  }

  private var horizonIsForeignEnd: Bool { ends.contains(horizon) }
}
