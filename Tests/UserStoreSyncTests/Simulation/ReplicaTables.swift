import TestSupport
import UserStore

/// What a replica's file has before or after a transaction, read with SQL alone.
struct ReplicaTables {
  struct Set {
    let last: Int64
    let first: Int64
    let nonce: Int64
    let row: [PlainValue]

    var result: String? { row[5].utf8.map { String(decoding: $0, as: UTF8.self) } }
    var isEchoed: Bool { row[7] == 1 }
  }

  let lastRow: Int64
  let taken: [PlainValue]
  let producer: PlainValue
  let users: PlainValue
  let answered: PlainValue
  let copy: PlainValue?
  /// The sets of the outbox, in their order.
  let sets: [Set]
  /// Their rows: user, attribute, and number.
  let rows: [[PlainValue]]
  let baseUsers: Swift.Set<Int64>
  let records: Records
  let refused: Swift.Set<Int64>

  init(_ plain: PlainConnection) throws {
    func integers(_ sql: String) throws -> Swift.Set<Int64> {
      Swift.Set(try plain.run(sql).compactMap { if case .integer(let number) = $0[0] { number } else { nil } })
    }
    let state = try plain.run("SELECT taken, seen_nonce, producer, users, answered FROM userstore_replica")[0]
    lastRow = try plain.integer("SELECT max(seq) FROM changes") ?? 0
    (taken, producer, users, answered) = (Array(state[0...1]), state[2], state[3], state[4])
    copy = try plain.value("SELECT id FROM userstore_copy")
    sets = try plain.run(
      "SELECT last, first, nonce, producer, number, result, detail, echoed FROM userstore_outbox ORDER BY last"
    ).compactMap { row in
      guard case .integer(let last) = row[0], case .integer(let first) = row[1], case .integer(let nonce) = row[2]
      else { return nil }
      return Set(last: last, first: first, nonce: nonce, row: row)
    }
    rows = try plain.run("SELECT user, attribute, seq FROM userstore_outbox_rows")
    baseUsers = try integers("SELECT user FROM userstore_base")
    records = try LogCheck.tables(of: plain)
    refused = try integers("SELECT nonce FROM userstore_refusals")
  }

  /// The users that undecided sets touch.
  var touched: Swift.Set<Int64> { users(in: rows) }

  /// The users that a set touches.
  func users(of set: Set) -> Swift.Set<Int64> { users(in: rows(of: set)) }

  func rows(of set: Set) -> [[PlainValue]] {
    rows.filter { if case .integer(set.first...set.last) = $0[2] { true } else { false } }
  }

  private func users(in rows: [[PlainValue]]) -> Swift.Set<Int64> {
    Swift.Set(rows.compactMap { if case .integer(let user) = $0[0] { user } else { nil } })
  }

  /// The sets that were in the outbox then, and are not now.
  func gone(_ now: ReplicaTables) -> [Set] {
    let left = Swift.Set(now.sets.map(\.nonce))
    return sets.filter { !left.contains($0.nonce) }
  }
}

extension PlainConnection {
  /// The record that a table has of a user: the server's of a touched one, or that of a copy.
  func record(of user: Int64, in table: String) throws -> TestSupport.Replica.User? {
    let rows = try run("SELECT attribute, value FROM \(table) WHERE user = \(user)")
    let values = Dictionary(uniqueKeysWithValues: rows.map { ($0[0].utf8 ?? [], $0[1]) })
    guard let name = values[Array("name".utf8)] else { return nil }
    var record = TestSupport.Replica.User(name: name)
    for (attribute, value) in values { record[LoggedChange.Field(attribute)] = value }
    return record
  }

  /// Keeps what is visible of users as the server's records of touched ones.
  func keepBase(_ users: Set<Int64>) throws {
    for user in users {
      try run("INSERT OR IGNORE INTO userstore_base SELECT id, 'name', name FROM users WHERE id = \(user)")
      try run(
        "INSERT OR IGNORE INTO userstore_base SELECT id, 'hair_color', hair_color FROM users WHERE id = \(user) AND hair_color IS NOT NULL"
      )
      try run(
        "INSERT OR IGNORE INTO userstore_base SELECT user_id, name, value FROM attributes WHERE user_id = \(user)")
    }
  }

  /// Makes records visible as the sync does: as one set with a note.
  func show(_ records: [Int64: TestSupport.Replica.User?]) throws {
    let last = try integer("SELECT max(seq) FROM changes") ?? 0
    try script("BEGIN IMMEDIATE; UPDATE userstore_replica SET writing = 1")
    for (user, record) in records { try show(user, record) }
    if try integer("SELECT max(seq) FROM changes") ?? 0 > last {
      try script("INSERT INTO changes (op) VALUES (8); INSERT INTO changes (op, old) VALUES (0, \(last + 1))")
      try takeEverything()
    }
    try script("UPDATE userstore_replica SET writing = 0; COMMIT")
  }

  private func show(_ user: Int64, _ record: TestSupport.Replica.User?) throws {
    guard let record else {
      try run("DELETE FROM users WHERE id = \(user)")
      return
    }
    if try integer("SELECT 1 FROM users WHERE id = \(user)") == nil {
      try run("INSERT INTO users (id, name) VALUES (?, ?)", [.integer(user), record.name])
    }
    try run("UPDATE users SET name = ?, hair_color = ? WHERE id = \(user)", [record.name, record.hairColor])
    for row in try run("SELECT name FROM attributes WHERE user_id = \(user)")
    where record.attributes[row[0].utf8 ?? []] == nil {
      try run("DELETE FROM attributes WHERE user_id = \(user) AND name = ?", [row[0]])
    }
    for (attribute, value) in record.attributes {
      try run(
        "INSERT INTO attributes (user_id, name, value) VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET value = excluded.value",
        [.integer(user), .text(attribute), value])
    }
  }

  /// Lets the replica believe that it has taken in all rows.
  func takeEverything() throws {
    try run(
      "UPDATE userstore_replica SET (taken, seen_nonce) = (SELECT seq, nonce FROM changes ORDER BY seq DESC LIMIT 1) WHERE EXISTS (SELECT 1 FROM changes)"
    )
  }

  /// Removes a set from the outbox as a decision does.
  func remove(_ set: ReplicaTables.Set) throws {
    let users = try ReplicaTables(self).users(of: set)
    try run("DELETE FROM userstore_outbox WHERE last = \(set.last)")
    try run("DELETE FROM userstore_outbox_rows WHERE seq BETWEEN \(set.first) AND \(set.last)")
    let touched = try ReplicaTables(self).touched
    for user in users {
      var records: Records = [:]
      records[user] = try record(of: user, in: "userstore_base")
      for row in try undecidedRows(of: user) { records.put(row) }
      try show([user: records[user]])
      if !touched.contains(user) { try run("DELETE FROM userstore_base WHERE user = \(user)") }
    }
  }

  private func undecidedRows(of user: Int64) throws -> [OwnSets.Row] {
    try run(
      """
      SELECT op, attribute, old, new FROM changes JOIN userstore_outbox ON seq BETWEEN first AND last
      WHERE op BETWEEN 1 AND 3 AND user = \(user) ORDER BY seq
      """
    ).compactMap { row in
      guard case .integer(let op) = row[0] else { return nil }
      return OwnSets.Row(op: op, user: user, attribute: row[1].utf8 ?? [], old: row[2], new: row[3])
    }
  }

  func refuse(_ set: ReplicaTables.Set, _ reason: String) throws {
    try run(
      "INSERT INTO userstore_refusals (last, first, nonce, reason) VALUES (?, ?, ?, ?)",
      [.integer(set.last), .integer(set.first), .integer(set.nonce), .text(Array(reason.utf8))])
  }
}
