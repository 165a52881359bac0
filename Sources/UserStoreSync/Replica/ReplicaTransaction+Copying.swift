import UserStore

extension ReplicaTransaction {
  // MARK: Staging

  private static let stage = SQL(
    "write to the replica",
    "INSERT OR REPLACE INTO userstore_staged (user, attribute, value) VALUES (?1, ?2, ?3)")
  private static let unstage = SQL(
    "write to the replica", "DELETE FROM userstore_staged WHERE user = ?1 AND attribute = ?2")
  private static let unstageUser = SQL("write to the replica", "DELETE FROM userstore_staged WHERE user = ?1")
  private static let isStaged = SQL(
    "write to the replica", "SELECT 1 FROM userstore_staged WHERE user = ?1 AND attribute = 'name'")
  private static let insertPurge = SQL(
    "write to the replica", "INSERT OR IGNORE INTO userstore_purges (user) VALUES (?1)")

  /// Takes the first answer of a copy: from here on, the server's log has to be followed.
  mutating func begin(_ server: ServerState) throws(StoreError) {
    (file.identity, file.subject) = (server.identity, server.subject)
    file.copy?.grant = server.grant
    file.copy?.position = server.cursor
    let subset = file.ids?.count
    file.copy?.count = subset ?? server.count
    for id in server.purged { try tables.run(Self.insertPurge, .integer(id)) }
  }

  /// Stages a page of users.
  mutating func stage(_ page: UsersPage) throws(StoreError) {
    guard var copy = file.copy else { return }
    guard page.grant == copy.grant else { return try beginCopy() }
    for user in page.users {
      for (attribute, value) in user.values {
        try tables.run(Self.stage, .integer(user.id), .text(attribute), value)
      }
    }
    copy.done += page.users.count
    copy.target = page.cursor
    copy.last = page.last ?? copy.last
    copy.isStaged = !page.hasMore
    file.copy = copy
  }

  /// Applies sets by value to what is staged, until that is the server's state of the newest page.
  ///
  /// A user that was added meanwhile is staged here, and again with its page.
  mutating func catchUp(_ page: ChangesPage) throws(StoreError) {
    guard let copy = file.copy else { return }
    guard page.grant == copy.grant else { return try beginCopy() }
    for set in page.sets { for row in set.rows { try stage(row) } }
    for row in page.rest { try stage(row) }
    // Nothing of a copy is visible, so that a part of a set can be applied.
    file.copy?.position = page.cursor
    file.copy?.part = page.part
    if let target = page.target { file.copy?.target = target }
  }

  private func stage(_ row: SyncRow) throws(StoreError) {
    switch row {
    case .added(_, _, .null), .updated(_, _, old: .null, new: .null), .event, .pushed: break
    case .purged(let id): try tables.run(Self.insertPurge, .integer(id))
    case .added(let id, .name, let name):
      try tables.run(Self.unstageUser, .integer(id))
      try tables.run(Self.stage, .integer(id), .text("name"), name)
    case .added(let id, let attribute, let value), .updated(let id, let attribute, _, let value):
      if try tables.first(Self.isStaged, .integer(id), columns: 1) == nil { break }
      if value.isNull {
        try tables.run(Self.unstage, .integer(id), .text(attribute.text))
      } else {
        try tables.run(Self.stage, .integer(id), .text(attribute.text), value)
      }
    case .removed(let id, .name): try tables.run(Self.unstageUser, .integer(id))
    case .removed: break
    }
  }

  // MARK: Installing

  // The ids from one through another: one statement for all would need memory for each row that it changes. Of a user that undecided
  // sets touch, the record here is not the server's.
  private static func range(_ user: String) -> String {
    "\(user) BETWEEN ?1 AND ?2 AND NOT EXISTS (SELECT 1 FROM userstore_outbox_rows AS touched WHERE touched.user = \(user))"
  }
  private static let staged = "SELECT 1 FROM userstore_staged AS s WHERE s.user"
  private static let differences = [
    """
    DELETE FROM users WHERE \(range("users.id")) AND NOT EXISTS (\(staged) = users.id AND s.attribute = 'name')
    """,
    """
    DELETE FROM attributes WHERE \(range("user_id"))
      AND NOT EXISTS (\(staged) = user_id AND s.attribute = attributes.name)
    """,
    """
    UPDATE users SET name = (SELECT value FROM userstore_staged WHERE user = users.id AND attribute = 'name')
    WHERE \(range("users.id")) AND name IS NOT
      (SELECT value FROM userstore_staged WHERE user = users.id AND attribute = 'name') COLLATE BINARY
    """,
    """
    UPDATE users SET hair_color = (SELECT value FROM userstore_staged WHERE user = users.id AND attribute = 'hair_color')
    WHERE \(range("users.id")) AND hair_color IS NOT
      (SELECT value FROM userstore_staged WHERE user = users.id AND attribute = 'hair_color') COLLATE BINARY
    """,
    """
    UPDATE attributes SET value = (SELECT s.value FROM userstore_staged AS s WHERE s.user = user_id AND s.attribute = attributes.name)
    WHERE \(range("user_id")) AND EXISTS (\(staged) = user_id AND s.attribute = attributes.name
      AND (s.value IS NOT attributes.value COLLATE BINARY OR typeof(s.value) IS NOT typeof(attributes.value)))
    """,
    """
    INSERT INTO users (id, name, hair_color) SELECT s.user, s.value,
      (SELECT value FROM userstore_staged WHERE user = s.user AND attribute = 'hair_color')
    FROM userstore_staged AS s WHERE \(range("s.user")) AND s.attribute = 'name'
      AND NOT EXISTS (SELECT 1 FROM users WHERE id = s.user) ORDER BY s.user
    """,
    """
    INSERT INTO attributes (user_id, name, value) SELECT s.user, s.attribute, s.value
    FROM userstore_staged AS s WHERE \(range("s.user")) AND s.attribute NOT IN ('name', 'hair_color')
      AND NOT EXISTS (SELECT 1 FROM attributes WHERE user_id = s.user AND name = s.attribute) ORDER BY s.user, s.attribute
    """,
  ].map { SQL("write to the replica", $0) }
  // The greater of the next ids here and there, so that neither range is long.
  private static let selectRange = SQL(
    "write to the replica",
    """
    SELECT min(
      coalesce((SELECT user FROM userstore_staged WHERE attribute = 'name' AND user >= ?1 ORDER BY user LIMIT 1 OFFSET 999), ?2),
      coalesce((SELECT id FROM users WHERE id >= ?1 ORDER BY id LIMIT 1 OFFSET 999), ?2))
    """)
  private static let selectPurges = SQL(
    "write to the replica",
    """
    SELECT DISTINCT user FROM changes WHERE op BETWEEN 1 AND 6 AND user IN (SELECT user FROM userstore_purges)
      AND user NOT IN (SELECT user FROM userstore_staged) AND (new IS NOT NULL OR old IS NOT NULL AND op <> 6)
    """)

  /// Makes the staged users visible, and ends the copy: one set has the differences to what was visible.
  ///
  /// - Returns: Whether users were purged.
  mutating func install() throws(StoreError) -> Bool {
    guard let copy = file.copy, let position = copy.position else { return false }
    var hasPurged = false
    try pull(position, origin: nil) { own throws(StoreError) in
      var start = Int64.min
      while true {
        let end = try own.tables.first(Self.selectRange, .integer(start), .integer(.max), columns: 1)?[0].int64 ?? .max
        for statement in Self.differences { try own.tables.run(statement, .integer(start), .integer(end)) }
        if end == .max { break }
        start = end + 1
      }
      try own.outbox.installBase()
      try own.show(Set(own.outbox.touchedUsers()))
      for row in try own.tables.all(Self.selectPurges, columns: 1) {
        try own.purge(row[0].int64 ?? 0)
        hasPurged = true
      }
    }
    (file.cursor, file.grant, file.copy) = (position, copy.grant, nil)
    for statement in [Self.deleteCopy, Self.deleteStaged, Self.deletePurges] { try tables.run(statement) }
    return hasPurged
  }
}
