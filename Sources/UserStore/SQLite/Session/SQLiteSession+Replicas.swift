extension SQLiteSession: ReplicatedSession {
  // MARK: For a server

  private static let selectIdentity = SQL("read the log", "SELECT identity FROM userstore_server")
  private static let selectPurged = SQL("read the log", "SELECT user FROM userstore_purged ORDER BY user")
  private static let selectDecision = SQL(
    "read a decision", "SELECT result, detail FROM userstore_decisions WHERE nonce = ?1")
  private static let selectNumber = SQL(
    "read a decision",
    """
    SELECT EXISTS (SELECT 1 FROM userstore_producers WHERE producer = ?1 AND forgotten >= ?2),
      EXISTS (SELECT 1 FROM userstore_decisions WHERE producer = ?1 AND number = ?2)
    """)
  private static let insertDecision = SQL(
    "store a decision",
    "INSERT INTO userstore_decisions (nonce, producer, number, result, detail, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
  // Not those below 1, which other copies of the replica's file may send later, under other names. Only the first ones are read, and
  // nearly always only the first one: a replica may have sent a hundred thousand sets.
  private static let selectForgotten = SQL(
    "forget decisions",
    """
    SELECT CASE WHEN (SELECT at FROM userstore_decisions WHERE producer = ?1 AND number > 0 ORDER BY number LIMIT 1) < ?3 THEN
      (SELECT max(number) FROM
        (SELECT number, at FROM userstore_decisions WHERE producer = ?1 AND number BETWEEN 1 AND ?2 ORDER BY number LIMIT 1000)
        WHERE at < ?3)
    END
    """)
  private static let forget = SQL(
    "forget decisions", "DELETE FROM userstore_decisions WHERE producer = ?1 AND number BETWEEN 1 AND ?2")
  private static let noteForgotten = SQL(
    "forget decisions",
    """
    INSERT INTO userstore_producers (producer, forgotten) VALUES (?1, ?2)
    ON CONFLICT (producer) DO UPDATE SET forgotten = max(forgotten, excluded.forgotten)
    """)

  func serveReplicas() throws(StoreError) {
    _ = try SchemaPart.server.create(on: connection)
    try keepDecisions()
  }

  func replication() throws(StoreError) -> (identity: Int64, purged: [Int64])? {
    guard try SchemaPart.server.exists(on: connection),
      let identity = try connection.first(Self.selectIdentity, make: { $0.integer(0) })
    else { return nil }
    return (identity, try connection.all(Self.selectPurged) { $0.integer(0) })
  }

  func decides() throws(StoreError) -> Bool { try SchemaPart.decisions.exists(on: connection) }

  func keepDecisions() throws(StoreError) { _ = try SchemaPart.decisions.create(on: connection) }

  func decisions(
    about sets: [(number: Int64, nonce: Int64)], of producer: Int64
  ) throws(StoreError) -> [Decision?] {
    var found: [Decision?] = []
    for (number, nonce) in sets {
      let known = try connection.first(Self.selectDecision, .integer(nonce)) {
        Decision($0.text(0), detail: $0.textOrNil(1))
      }
      let taken = try connection.first(Self.selectNumber, .integer(producer), .integer(number)) {
        $0.integer(0) == 1 ? Decision.expired : $0.integer(1) == 1 ? .forked : nil
      }
      found.append(known ?? taken ?? nil)
    }
    return found
  }

  func store(
    _ decisions: [(number: Int64, nonce: Int64, decision: Decision)], of producer: Int64
  ) throws(StoreError) {
    let now = StoredValue.integer(WallClock.milliseconds)
    for (number, nonce, decision) in decisions {
      try connection.run(
        Self.insertDecision, .integer(nonce), .integer(producer), .integer(number), .text(decision.result),
        decision.detail.map { .text($0) } ?? .null, now)
    }
  }

  func forgetDecisions(of producer: Int64, through number: Int64, before time: Int64) throws(StoreError) {
    let last = try connection.first(Self.selectForgotten, .integer(producer), .integer(number), .integer(time)) {
      $0.integerOrNil(0)
    }
    guard let last, let last else { return }
    try connection.run(Self.forget, .integer(producer), .integer(last))
    try connection.run(Self.noteForgotten, .integer(producer), .integer(last))
  }

  // MARK: For a replica

  private static let selectWrites = SQL("read the replica", "SELECT writes FROM userstore_replica")
  private static let selectUndecided = SQL(
    "read the replica",
    """
    SELECT EXISTS (SELECT 1 FROM userstore_outbox_rows WHERE user = ?1)
      OR EXISTS (SELECT 1 FROM changes WHERE seq > (SELECT taken FROM userstore_replica) AND user = ?1 AND op BETWEEN 1 AND 3)
    """)
  private static let selectHeld = SQL(
    "read the replica",
    """
    SELECT min((SELECT taken FROM userstore_replica),
      coalesce((SELECT first FROM userstore_outbox ORDER BY last LIMIT 1), \(Int64.max)),
      coalesce((SELECT first FROM userstore_refusals ORDER BY last LIMIT 1), \(Int64.max)))
    """)

  func followsServer() throws(StoreError) -> Bool { try SchemaPart.replica.exists(on: connection) }

  func takesWrites() throws(StoreError) -> Bool {
    guard try SchemaPart.outbox.exists(on: connection) else { return false }
    return try connection.first(Self.selectWrites) { $0.integer(0) == 1 } ?? false
  }

  func requireDecided(_ user: User.ID) throws(StoreError) {
    guard try SchemaPart.outbox.exists(on: connection),
      try connection.first(Self.selectUndecided, .integer(user.rawValue), make: { $0.integer(0) == 1 }) == true
    else { return }
    throw StoreError(
      .stillReferenced, "user \(user) cannot be purged: the server has not yet decided about changes of this user")
  }

  /// The first row that a replica needs, so that no compaction deletes it; nil if there is none.
  func firstHeldRow() throws(StoreError) -> Int64? {
    guard try SchemaPart.outbox.exists(on: connection) else { return nil }
    return try connection.first(Self.selectHeld) { $0.integerOrNil(0) } ?? nil
  }
}
