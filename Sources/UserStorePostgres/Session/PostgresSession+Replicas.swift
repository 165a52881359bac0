import UserStore

extension PostgresSession: ReplicatedSession {
  private static let hasServer = PostgresStatement("read the log", "SELECT to_regclass('userstore.server') IS NOT NULL")
  private static let selectIdentity = PostgresStatement("read the log", "SELECT identity FROM userstore.server")
  private static let selectPurged = PostgresStatement(
    "read the log", "SELECT user_id FROM userstore.purged ORDER BY user_id")
  private static let serveReplicas = PostgresStatement("serve replicas", "SELECT userstore.serve_replicas()")
  private static let hasDecisions = PostgresStatement(
    "read a decision", "SELECT to_regclass('userstore.decisions') IS NOT NULL")
  private static let selectDecisions = PostgresStatement(
    "read a decision",
    """
    SELECT d.result, d.detail, EXISTS (SELECT FROM userstore.producers p WHERE p.producer = $1 AND p.forgotten >= a.number),
      EXISTS (SELECT FROM userstore.decisions t WHERE t.producer = $1 AND t.number = a.number)
    FROM ROWS FROM (pg_catalog.unnest($2::text::int8[]), pg_catalog.unnest($3::text::int8[]))
      WITH ORDINALITY a(number, nonce, place)
    LEFT JOIN userstore.decisions d ON d.nonce = a.nonce ORDER BY a.place
    """, .int8, .text, .text)
  private static let storeDecisions = PostgresStatement(
    "store a decision", "SELECT FROM userstore.store_decisions($1, $2::text::jsonb)", .int8, .text)
  // Only the first ones are read, and nearly always only the first one: a replica may have sent a hundred thousand sets. The function
  // reads through the last one.
  private static let selectForgotten = PostgresStatement(
    "forget decisions",
    """
    SELECT CASE WHEN (SELECT at FROM userstore.decisions WHERE producer = $1 AND number > 0 ORDER BY number LIMIT 1) < $3 THEN
      (SELECT max(d.number) FROM
        (SELECT number, at FROM userstore.decisions WHERE producer = $1 AND number BETWEEN 1 AND $2 ORDER BY number LIMIT 1000) d
        WHERE d.at < $3)
    END
    """, .int8, .int8, .int8)
  private static let forgetDecisions = PostgresStatement(
    "forget decisions", "SELECT FROM userstore.forget_decisions($1, $2, $3)", .int8, .int8, .int8)

  func serveReplicas() throws(StoreError) {
    do throws(StoreError) { try run(Self.serveReplicas) } catch
      where error.postgres?.kind == .server(.undefinedFunction)
    {
      throw .needsMigration("tables for replicas", error)
    }
  }

  func replication() throws(StoreError) -> (identity: Int64, purged: [Int64])? {
    let hasTables = try first(Self.hasServer) { $0.bool(0) } == true
    guard hasTables, let identity = try first(Self.selectIdentity, make: { $0.int8(0) }) else { return nil }
    return (identity, try all(Self.selectPurged) { $0.int8(0) })
  }

  // MARK: Decisions

  func decides() throws(StoreError) -> Bool { try first(Self.hasDecisions) { $0.bool(0) } == true }

  func keepDecisions() throws(StoreError) {
    if try !decides() { throw .needsMigration("table for decisions") }
  }

  func decisions(
    about sets: [(number: Int64, nonce: Int64)], of producer: Int64
  ) throws(StoreError) -> [Decision?] {
    let (numbers, nonces) = (Self.list(sets.map(\.number)), Self.list(sets.map(\.nonce)))
    return try all(Self.selectDecisions, .int8(producer), .text(numbers), .text(nonces)) { row in
      if let result = row.textOrNil(0) { return Decision(result, detail: row.textOrNil(1)) }
      return row.bool(2) ? .expired : row.bool(3) ? .forked : nil
    }
  }

  func store(
    _ decisions: [(number: Int64, nonce: Int64, decision: Decision)], of producer: Int64
  ) throws(StoreError) {
    if decisions.isEmpty { return }
    let rows = decisions.map { number, nonce, decision in
      JSON.list([
        .integer(number), .integer(nonce), .text(decision.result), decision.detail.map { .text($0) } ?? .null,
      ])
    }
    try run(Self.storeDecisions, .int8(producer), .text(JSON.list(rows).description))
  }

  func forgetDecisions(of producer: Int64, through number: Int64, before time: Int64) throws(StoreError) {
    let last = try first(Self.selectForgotten, .int8(producer), .int8(number), .int8(time)) { $0.int8OrNil(0) }
    guard let last, let last else { return }
    try run(Self.forgetDecisions, .int8(producer), .int8(last), .int8(time))
  }

  // MARK: Only a store in a file can be a replica

  func followsServer() -> Bool { false }

  func takesWrites() -> Bool { false }

  func requireDecided(_ user: User.ID) {}
}
