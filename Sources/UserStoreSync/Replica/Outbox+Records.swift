import UserStore

extension Outbox {
  private static let changed = "op BETWEEN 1 AND 3"
  // Whether a row counts: an addition has a row for a hair color that is not there, a removal one for each attribute.
  private static let counts = "(attribute = 'name' OR op = 2 OR op = 1 AND new IS NOT NULL)"
  private static let key = "CASE WHEN attribute = 'name' AND op <> 2 THEN 'id' ELSE attribute END"

  private static let selectTouched = SQL(
    "read the outbox", "SELECT 1 FROM userstore_outbox_rows WHERE user = ?1 LIMIT 1")
  private static let selectUsers = SQL(
    "read the outbox", "SELECT DISTINCT user FROM userstore_outbox_rows WHERE user >= ?1 ORDER BY user LIMIT 1000")
  // The rows after one are those of sets that are taken in; the first about an attribute says what was there before.
  private static let insertChangedBase = SQL(
    "write to the outbox",
    """
    INSERT INTO userstore_base (user, attribute, value)
    SELECT user, attribute, old FROM (
      SELECT user, attribute, old, min(seq) FROM changes WHERE seq > ?1 AND \(changed)
        AND NOT EXISTS (SELECT 1 FROM userstore_outbox_rows AS touched WHERE touched.user = changes.user)
      GROUP BY user, attribute)
    WHERE old IS NOT NULL
    """)
  private static let insertOtherBase = SQL(
    "write to the outbox",
    """
    WITH rows AS MATERIALIZED (SELECT DISTINCT user, attribute FROM changes WHERE seq > ?1 AND \(changed)),
      new AS MATERIALIZED (SELECT DISTINCT user FROM rows
        WHERE NOT EXISTS (SELECT 1 FROM userstore_outbox_rows AS touched WHERE touched.user = rows.user))
    INSERT INTO userstore_base (user, attribute, value)
    SELECT id, 'name', name FROM new JOIN users ON id = new.user
      WHERE NOT EXISTS (SELECT 1 FROM rows WHERE rows.user = id AND attribute = 'name')
    UNION ALL SELECT id, 'hair_color', hair_color FROM new JOIN users ON id = new.user
      WHERE hair_color IS NOT NULL AND NOT EXISTS (SELECT 1 FROM rows WHERE rows.user = id AND attribute = 'hair_color')
    UNION ALL SELECT user_id, attributes.name, value FROM new JOIN attributes ON user_id = new.user
      WHERE NOT EXISTS (SELECT 1 FROM rows WHERE rows.user = user_id AND attribute = attributes.name)
    """)
  private static let insertRows = SQL(
    "write to the outbox",
    """
    INSERT INTO userstore_outbox_rows (user, attribute, seq)
    SELECT user, \(key), seq FROM changes WHERE seq BETWEEN ?1 AND ?2 AND \(changed) AND \(counts)
    """)
  private static let selectAdded = SQL(
    "read the outbox", "SELECT DISTINCT user FROM changes WHERE seq BETWEEN ?1 AND ?2 AND op = 1 AND attribute = 'name'"
  )
  private static let selectTouchedUsers = SQL(
    "read the outbox",
    """
    SELECT DISTINCT user FROM changes WHERE seq BETWEEN ?1 AND ?2 AND \(changed)
      AND EXISTS (SELECT 1 FROM userstore_outbox_rows AS touched WHERE touched.user = changes.user)
    """)
  // All three columns of the key: SQLite (3.40) uses only the first one of `(user, attribute, seq) IN (…)`, and would read all rows of
  // the user for each set.
  private static let deleteRows = SQL(
    "write to the outbox",
    """
    DELETE FROM userstore_outbox_rows WHERE seq BETWEEN ?1 AND ?2
      AND user IN (SELECT user FROM changes WHERE seq BETWEEN ?1 AND ?2 AND \(changed))
      AND attribute IN (SELECT \(key) FROM changes WHERE seq BETWEEN ?1 AND ?2 AND \(changed))
    """)
  private static let deleteUserRows = SQL(
    "write to the outbox", "DELETE FROM userstore_outbox_rows WHERE user = ?1")
  private static let selectLast = SQL(
    "read the outbox", "SELECT max(seq) FROM userstore_outbox_rows WHERE user = ?1 AND attribute = ?2")
  private static let selectFirstAttribute = SQL(
    "read the outbox", "SELECT min(attribute) FROM userstore_outbox_rows WHERE user = ?1")
  private static let selectNextAttribute = SQL(
    "read the outbox", "SELECT min(attribute) FROM userstore_outbox_rows WHERE user = ?1 AND attribute > ?2")
  private static let selectRow = SQL("read the outbox", "SELECT op, new FROM changes WHERE seq = ?1")
  private static let selectBase = SQL("read the outbox", "SELECT attribute, value FROM userstore_base WHERE user = ?1")
  private static let putBase = SQL(
    "write to the outbox", "INSERT OR REPLACE INTO userstore_base (user, attribute, value) VALUES (?1, ?2, ?3)")
  private static let deleteBaseValue = SQL(
    "write to the outbox", "DELETE FROM userstore_base WHERE user = ?1 AND attribute = ?2")
  private static let deleteBaseUser = SQL("write to the outbox", "DELETE FROM userstore_base WHERE user = ?1")
  private static let deleteBase = SQL("write to the outbox", "DELETE FROM userstore_base")
  private static let stagedBase = SQL(
    "write to the outbox",
    """
    INSERT INTO userstore_base (user, attribute, value) SELECT user, attribute, value FROM userstore_staged
    WHERE user IN (SELECT user FROM userstore_outbox_rows)
    """)

  // MARK: Rows

  /// Keeps the server's records of users that the rows after one are the first to touch.
  func keepRecords(after start: Int64) throws(StoreError) {
    try tables.run(Self.insertChangedBase, .integer(start))
    try tables.run(Self.insertOtherBase, .integer(start))
  }

  func addRows(_ rows: ClosedRange<Int64>) throws(StoreError) {
    try tables.run(Self.insertRows, .integer(rows.lowerBound), .integer(rows.upperBound))
  }

  /// The users that a set adds.
  func added(in rows: ClosedRange<Int64>) throws(StoreError) -> [Int64] {
    try tables.all(Self.selectAdded, .integer(rows.lowerBound), .integer(rows.upperBound), columns: 1)
      .compactMap { $0[0].int64 }
  }

  /// Removes the rows of a set; returns the users whose records they were on top of.
  func removeRows(of set: Set) throws(StoreError) -> [Int64] {
    let users = try tables.all(Self.selectTouchedUsers, .integer(set.first), .integer(set.last), columns: 1)
    try tables.run(Self.deleteRows, .integer(set.first), .integer(set.last))
    return users.compactMap { $0[0].int64 }
  }

  func removeRows(about user: Int64) throws(StoreError) { try tables.run(Self.deleteUserRows, .integer(user)) }

  func touches(_ user: Int64) throws(StoreError) -> Bool {
    try tables.first(Self.selectTouched, .integer(user), columns: 1) != nil
  }

  /// All users that are touched, in the order of their ids.
  func touchedUsers() throws(StoreError) -> [Int64] {
    var (users, last): ([Int64], Int64?) = ([], nil)
    while true {
      let page = try tables.all(Self.selectUsers, .integer(last.map { $0 + 1 } ?? .min), columns: 1).compactMap {
        $0[0].int64
      }
      users += page
      guard let end = page.last else { return users }
      last = end
    }
  }

  // MARK: Records

  /// The server's record of a touched user.
  func base(of user: Int64) throws(StoreError) -> Record {
    let rows = try tables.all(Self.selectBase, .integer(user), columns: 2)
    if rows.isEmpty { return nil }
    return Dictionary(uniqueKeysWithValues: rows.map { (AttributeName(String(storedValue: $0[0]) ?? ""), $0[1]) })
  }

  /// What is visible of a touched user: the server's record with the rows on top.
  ///
  /// Of each attribute, only the last row counts, and only after the last one that adds or removes the user: a thousand sets about
  /// one user do not make it slow.
  func record(of user: Int64) throws(StoreError) -> Record {
    let start = try lastRow(of: user, "id")
    var record: Record = if let start { start.operation == 1 ? [.name: start.new] : nil } else { try base(of: user) }
    if record == nil { return nil }
    var next = try tables.first(Self.selectFirstAttribute, .integer(user), columns: 1)
    while let attribute = next.flatMap({ String(storedValue: $0[0]) }) {
      if attribute != "id", let row = try lastRow(of: user, attribute), row.seq > start?.seq ?? .min {
        record?[AttributeName(attribute)] = row.new.isNull ? nil : row.new
      }
      next = try tables.first(Self.selectNextAttribute, .integer(user), .text(attribute), columns: 1)
    }
    return record
  }

  private func lastRow(
    of user: Int64, _ attribute: String
  ) throws(StoreError) -> (seq: Int64, operation: Int64, new: StoredValue)? {
    guard let seq = try tables.first(Self.selectLast, .integer(user), .text(attribute), columns: 1)?[0].int64 else {
      return nil
    }
    guard let row = try tables.first(Self.selectRow, .integer(seq), columns: 2) else { throw Self.damaged }
    return (seq, row[0].int64 ?? 0, row[1])
  }

  /// Applies a row of the server's log to the server's record of a touched user.
  func apply(_ row: SyncRow) throws(StoreError) {
    switch row {
    case .added(_, _, .null), .updated(_, _, old: .null, new: .null), .event, .purged, .pushed: break
    case .added(let id, .name, let name):
      try removeBase(of: id)
      try tables.run(Self.putBase, .integer(id), .text("name"), name)
    case .added(let id, let attribute, let value), .updated(let id, let attribute, _, let value):
      if try base(of: id) == nil { break }
      if value.isNull {
        try tables.run(Self.deleteBaseValue, .integer(id), .text(attribute.text))
      } else {
        try tables.run(Self.putBase, .integer(id), .text(attribute.text), value)
      }
    case .removed(let id, .name): try removeBase(of: id)
    case .removed: break
    }
  }

  func removeBase(of user: Int64) throws(StoreError) { try tables.run(Self.deleteBaseUser, .integer(user)) }

  /// Takes the records of a copy as those of the server.
  func installBase() throws(StoreError) {
    try tables.run(Self.deleteBase)
    try tables.run(Self.stagedBase)
  }
}
