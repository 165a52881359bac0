import TestSupport
import UserStore

@testable import UserStoreSync

extension Fault {
  /// Changes a replica's file before a transaction that applies an answer.
  func prepare(_ plain: PlainConnection, for answer: ReplicaAnswer?) throws {
    if self == .pullWithoutTakingIn, case .changes? = answer { try plain.takeEverything() }
  }

  /// Changes a replica's file after a transaction; `then` is what it had before.
  ///
  /// `isKilled`: whether the process ends then, so that what would follow in a second transaction is missing.
  func alter(_ plain: PlainConnection, since then: ReplicaTables, _ answer: ReplicaAnswer?, isKilled: Bool) throws {
    let now = try ReplicaTables(plain)
    switch self {
    case .purgesNotVerified: try plain.run("UPDATE userstore_replica SET target = NULL")
    case .pullWithoutTakingIn: try takeInAgain(plain, then, answer)
    case .foreignRowsJoin: try joinForeignRows(plain, then, now)
    case .baseKeepsOnlyNames:
      for user in now.baseUsers.subtracting(then.baseUsers) where now.records[user] == nil {
        try plain.run("DELETE FROM userstore_base WHERE user = \(user) AND attribute <> 'name'")
      }
    case .ownUsersStayOutside: try plain.run("UPDATE userstore_replica SET users = ?", [then.users])
    case .reversalsTakenIn: try takeInReversal(plain, then)
    case .voidSetsDropped: try dropVoidSets(plain, now)
    case .forkRenamesAll: if now.producer != then.producer { try renameAll(plain, now) }
    case .resultsOutOfOrder: try applyLaterResult(plain, now)
    case .echoCountsByItsChanges: try keepUnchangedUsers(plain, then, now, answer)
    case .decisionsLost where isKilled: try loseDecisions(plain, then, now)
    case .refusalsLost where isKilled:
      for nonce in now.refused.subtracting(then.refused) {
        try plain.run("DELETE FROM userstore_refusals WHERE nonce = \(nonce)")
      }
    case .refusedValuesStay:
      let users = then.gone(now).filter { now.refused.contains($0.nonce) }.flatMap { then.users(of: $0) }
      for user in Set(users).subtracting(now.touched) { try plain.show([user: then.records[user]]) }
    case .readdedUsersAreTheServers:
      let replaced = Set(now.rows.filter { $0[1] == "id" }.map { $0[0] })
      for user in addedUsers(answer).intersection(now.touched).intersection(now.baseUsers)
      where !replaced.contains(.integer(user)) {
        try plain.show([user: plain.record(of: user, in: "userstore_base")])
      }
    case .resultsSurviveCopy: if now.copy != nil, now.copy != then.copy { try putResultsBack(plain, then) }
    case .copyOverOutbox:
      guard then.copy != nil, now.copy == nil else { return }
      for user in now.touched { try plain.show([user: plain.record(of: user, in: "userstore_base")]) }
    case .copyInParts:
      let staged = try plain.run("SELECT DISTINCT user FROM userstore_staged")
      for case .integer(let user) in staged.map({ $0[0] }) where !now.touched.contains(user) {
        try plain.show([user: plain.record(of: user, in: "userstore_staged")])
      }
    default: break
    }
  }

  /// Deletes rows of a replica's log after a compaction.
  func compact(_ plain: PlainConnection) throws {
    guard self == .outboxCompacted, let end = try plain.integer("SELECT max(last) FROM userstore_outbox"),
      try plain.integer("SELECT max(seq) FROM changes") ?? 0 > end
    else { return }
    try plain.run(
      "UPDATE meta SET (horizon, horizon_nonce) = (SELECT seq, nonce FROM changes WHERE seq = \(end)) WHERE horizon < \(end)"
    )
    try plain.run("DELETE FROM changes WHERE seq <= \(end)")
  }

  // MARK: Taking in

  private func takeInAgain(_ plain: PlainConnection, _ then: ReplicaTables, _ answer: ReplicaAnswer?) throws {
    guard case .changes? = answer, then.taken[0] != .integer(then.lastRow) else { return }
    try plain.run("UPDATE userstore_replica SET taken = ?, seen_nonce = ?", then.taken)
  }

  private func joinForeignRows(_ plain: PlainConnection, _ then: ReplicaTables, _ now: ReplicaTables) throws {
    guard now.sets.count > 1, case let (set, new) = (now.sets[now.sets.count - 2], now.sets[now.sets.count - 1]),
      new.last > then.sets.last?.last ?? 0, set.last + 1 == new.first,
      try plain.integer("SELECT count(*) FROM changes WHERE seq IN (\(set.last), \(new.last)) AND op = 0") == 0
    else { return }
    try plain.run("DELETE FROM userstore_outbox WHERE last = \(set.last)")
    try plain.run(
      "UPDATE userstore_outbox SET first = ?, producer = ?, number = ? WHERE last = \(new.last)",
      [set.row[1], set.row[3], set.row[4]])
    try plain.run("UPDATE userstore_replica SET next = next - 1")
  }

  private func takeInReversal(_ plain: PlainConnection, _ then: ReplicaTables) throws {
    let note = try plain.integer("SELECT min(seq) FROM changes WHERE op = 8 AND old IS NULL AND seq > \(then.lastRow)")
    guard let note, let first = try plain.integer("SELECT old FROM changes WHERE seq = \(note + 1)"),
      let nonce = try plain.integer("SELECT nonce FROM changes WHERE seq = \(first - 1)")
    else { return }
    try plain.run("UPDATE changes SET op = 7 WHERE seq = \(note)")
    try plain.run("UPDATE userstore_replica SET taken = \(first - 1), seen_nonce = \(nonce)")
  }

  // MARK: Sending

  private func dropVoidSets(_ plain: PlainConnection, _ now: ReplicaTables) throws {
    for set in now.sets {
      let isVoid = try plain.integer(
        """
        SELECT 1 FROM changes WHERE seq BETWEEN \(set.first) AND \(set.last) AND new IS NULL AND old IS NULL
          AND (op IN (1, 3) AND attribute = 'name' OR op = 2)
        """)
      guard isVoid == 1 else { continue }
      try plain.remove(set)
      try plain.refuse(set, "userRemoved")
    }
  }

  private func renameAll(_ plain: PlainConnection, _ now: ReplicaTables) throws {
    for (index, set) in now.sets.enumerated() {
      try plain.run(
        """
        UPDATE userstore_outbox SET producer = ?, number = \(index + 1), result = NULL, detail = NULL, echoed = 0
        WHERE last = \(set.last)
        """, [now.producer])
    }
    try plain.run("UPDATE userstore_replica SET next = \(now.sets.count + 1), answered = NULL")
  }

  // MARK: Deciding

  private func applyLaterResult(_ plain: PlainConnection, _ now: ReplicaTables) throws {
    guard let first = now.sets.first, first.result == nil, let later = now.sets.first(where: \.isEchoed) else { return }
    try plain.remove(later)
  }

  private func addedUsers(_ answer: ReplicaAnswer?) -> Set<Int64> {
    guard case .changes(let page)? = answer else { return [] }
    return Set(
      page.sets.flatMap(\.rows).compactMap { if case .added(let user, .name, _) = $0 { user } else { nil } })
  }

  private func keepUnchangedUsers(
    _ plain: PlainConnection, _ then: ReplicaTables, _ now: ReplicaTables, _ answer: ReplicaAnswer?
  ) throws {
    guard case .changes(let page)? = answer else { return }
    let gone = then.gone(now)
    for echo in page.sets {
      let changed = Set(
        echo.rows.compactMap { row -> Int64? in
          switch row {
          case .added(let user, _, _), .updated(let user, _, _, _), .removed(let user, _): user
          default: nil
          }
        })
      for case .pushed(let nonce) in echo.rows {
        guard let set = gone.first(where: { $0.nonce == nonce }) else { continue }
        try plain.keepBase(then.users(of: set).subtracting(changed).subtracting(now.touched))
      }
    }
  }

  private func loseDecisions(_ plain: PlainConnection, _ then: ReplicaTables, _ now: ReplicaTables) throws {
    for set in then.gone(now) {
      try plain.keepBase(then.users(of: set).subtracting(now.touched))
      try plain.run(
        "INSERT INTO userstore_outbox (last, first, nonce, producer, number, echoed) VALUES (?, ?, ?, ?, ?, 0)",
        Array(set.row[0...4]))
      try plain.run("DELETE FROM userstore_refusals WHERE nonce = \(set.nonce)")
      for row in then.rows(of: set) { try plain.run("INSERT INTO userstore_outbox_rows VALUES (?, ?, ?)", row) }
    }
  }

  private func putResultsBack(_ plain: PlainConnection, _ then: ReplicaTables) throws {
    for set in then.sets {
      try plain.run(
        "UPDATE userstore_outbox SET result = ?, detail = ?, echoed = ? WHERE last = \(set.last)", Array(set.row[5...7])
      )
    }
    try plain.run("UPDATE userstore_replica SET answered = ?", [then.answered])
  }
}
