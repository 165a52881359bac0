import TestSupport
import UserStore

/// What the judge knows of the sets that were written at a replica, from their writing on, without the library.
struct OwnSets {
  struct Row {
    let op: Int64
    let user: Int64
    let attribute: [UInt8]
    let old: PlainValue
    let new: PlainValue
  }

  /// All rows that the application or another program has written.
  private(set) var rows: Set<Int64> = []
  /// Those of them that are in no set of the outbox yet.
  private var loose: Set<Int64> = []
  /// The sets of the outbox.
  private var listed: [Int64: ClosedRange<Int64>] = [:]
  /// How often the server had been restored when it answered about them.
  private var answered: [Int64: Int] = [:]
  /// What was decided, and how often the server had been restored when it answered.
  private var decided: [Int64: (result: String, restores: Int)] = [:]
  var acknowledged: Set<Int64> = []
  /// The users that were added here.
  var added: Set<Int64> = []
  /// Purged users that were added here after the purge had arrived, and the row that did so.
  private(set) var addedAfterPurge: [Int64: Int64] = [:]
  /// Values that the replica has replaced.
  private var gone: Set<WrittenValue> = []

  /// Returns the random numbers of the rows; `cursor` is how far the replica has read the server's log.
  mutating func note(
    _ plain: PlainConnection, after row: Int64, _ server: SimulatedServer, at cursor: Cursor?
  ) throws -> [Int64] {
    var nonces: [Int64] = []
    for found in try plain.run("SELECT seq, op, user, nonce FROM changes WHERE seq > \(row)") {
      guard case .integer(let seq) = found[0], case .integer(let op) = found[1], case .integer(let nonce) = found[3]
      else { continue }
      rows.insert(seq)
      nonces.append(nonce)
      // What was written here may be shown again.
      if case .integer(let user) = found[2] {
        gone = gone.filter { $0.user != user }
        if op == 1 {
          added.insert(user)
          if user > server.largestID {
            throw Wrong("a new user here has the id \(user), which the server can give to another")
          }
          if addedAfterPurge[user] == nil, let cursor, server.hasRead(purgeOf: user, at: cursor) {
            addedAfterPurge[user] = seq
          }
        }
      }
      if [1, 2, 3, 6].contains(op) { loose.insert(seq) }
    }
    return nonces
  }

  /// Whether a set was in the outbox at the last look: its events were delivered when they were posted.
  func hasListed(_ nonce: Int64?) -> Bool { nonce.map { listed[$0] != nil } ?? false }

  mutating func discard() { (loose, listed) = ([], [:]) }

  // MARK: Judging

  /// The rows that are not decided, in order.
  func undecided(_ plain: PlainConnection) throws -> [Row] {
    let found = try plain.run(
      """
      SELECT op, user, attribute, old, new, seq FROM changes WHERE op BETWEEN 1 AND 3 AND (
        seq > (SELECT taken FROM userstore_replica)
        OR EXISTS (SELECT 1 FROM userstore_outbox WHERE seq BETWEEN first AND last)) ORDER BY seq
      """)
    return try found.compactMap { row in
      guard case .integer(let op) = row[0], case .integer(let user) = row[1], case .integer(let seq) = row[5] else {
        throw Wrong("a malformed row")
      }
      return rows.contains(seq) ? Row(op: op, user: user, attribute: row[2].utf8 ?? [], old: row[3], new: row[4]) : nil
    }
  }

  /// Each row that was written is in one set of the outbox until the server has decided, and then in none.
  mutating func judgeDecisions(
    _ plain: PlainConnection, _ moment: SimulatedServer.Moment, _ server: SimulatedServer, restores: Int
  ) throws {
    let taken = try plain.integer("SELECT taken FROM userstore_replica") ?? 0
    var sets: [Int64: ClosedRange<Int64>] = [:]
    for row in try plain.run("SELECT nonce, first, last, result FROM userstore_outbox") {
      guard case .integer(let nonce) = row[0], case .integer(let first) = row[1], case .integer(let last) = row[2]
      else {
        throw Wrong("a malformed set")
      }
      guard try plain.integer("SELECT count(*) FROM changes WHERE seq BETWEEN \(first) AND \(last)") == last - first + 1
      else {
        throw Wrong("rows of the undecided set \(nonce) are gone")
      }
      guard (first...last).allSatisfy({ rows.contains($0) }) else {
        throw Wrong("rows \(first) to \(last) are to be sent, and nobody has written them here")
      }
      if let known = listed[nonce], known != first...last {
        throw Wrong("the set \(nonce) was \(known), and is \(row)")
      }
      sets[nonce] = first...last
      answered[nonce] = row[3] == .null ? nil : answered[nonce] ?? restores
      loose.subtract(first...last)
    }
    if let lost = loose.first(where: { $0 <= taken }) { throw Wrong("row \(lost) will never be sent") }
    for (nonce, rows) in listed where sets[nonce] == nil {
      if let earlier = sets.first(where: { listed[$0.key] != nil && $0.value.upperBound < rows.lowerBound }) {
        throw Wrong("the set \(nonce) is decided before the earlier set \(earlier.key)")
      }
      try judgeDecision(nonce, plain, moment, server, restores: answered.removeValue(forKey: nonce) ?? restores)
    }
    listed = sets
  }

  private mutating func judgeDecision(
    _ nonce: Int64, _ plain: PlainConnection, _ moment: SimulatedServer.Moment, _ server: SimulatedServer, restores: Int
  ) throws {
    let reason = try plain.text("SELECT reason FROM userstore_refusals WHERE nonce = \(nonce)")
    if let reason, reason == "accepted" { throw Wrong("the set \(nonce) is refused because it is accepted") }
    let result = reason ?? "accepted"
    guard server.everDecided.contains(nonce) || result == "expired" else {
      throw Wrong("the set \(nonce) is \(result) here, and the server has not decided it")
    }
    guard decided.updateValue((result, restores), forKey: nonce) == nil else {
      throw Wrong("the set \(nonce) is decided twice")
    }
    if result == "accepted", !moment.applied.contains(nonce), !server.unchanged.contains(nonce) {
      throw Wrong("the set \(nonce) counts as accepted, and the server's records here do not contain it")
    }
  }

  /// A value that the replica has replaced comes back only if the server has set it again, or the user was gone, or it was written here.
  mutating func judgeFlicker(from old: Records, to new: Records, _ values: Set<WrittenValue>?) throws {
    guard let values else {
      gone = []
      return
    }
    for (user, record) in new where old[user] != record {
      guard let before = old[user] else {
        gone = gone.filter { $0.user != user }
        continue
      }
      for attribute in Set(record.attributes.keys).union(before.attributes.keys) {
        let (was, value) = (before.attributes[attribute], record.attributes[attribute])
        if was == value { continue }
        if let value {
          let written = WrittenValue(user: user, attribute: attribute, value: value)
          if gone.contains(written), !values.contains(written) { throw Wrong("\(written) flickers back") }
        }
        if case .integer(1_000...)? = was {
          gone.insert(WrittenValue(user: user, attribute: attribute, value: was!))
        }
      }
    }
    gone = gone.filter { new[$0.user] != nil }
  }

  func judgeResults(_ plain: PlainConnection, _ server: SimulatedServer) throws {
    let refusals = Set(
      try plain.run("SELECT nonce FROM userstore_refusals").compactMap { row -> Int64? in
        if case .integer(let nonce) = row[0] { nonce } else { nil }
      })
    for (nonce, (result, restores)) in decided {
      let isReported = refusals.contains(nonce) || acknowledged.contains(nonce)
      if (result == "accepted") == isReported {
        throw Wrong("the set \(nonce) is \(result), and reported: \(isReported)")
      }
      guard restores == server.restores, result != "expired", let decision = server.decisions[nonce] else { continue }
      if decision != result { throw Wrong("the set \(nonce) is \(result) here, and \(decision) at the server") }
    }
  }
}

extension Records {
  /// Puts a row that is not decided on top of the server's records.
  mutating func put(_ row: OwnSets.Row) {
    let field = LoggedChange.Field(row.attribute)
    switch (row.op, field) {
    case (1, .name) where row.new != .null: self[row.user] = TestSupport.Replica.User(name: row.new)
    case (3, .name) where row.old != .null: self[row.user] = nil
    case (2, _) where row.old == .null && row.new == .null: break
    case (1, .hairColor) where row.new == .null: break
    case (1, .attribute), (1, .hairColor), (2, _): self[row.user]?[field] = row.new
    default: break
    }
  }
}
