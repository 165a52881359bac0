import UserStore

extension PostgresSession {
  private static let selectConsumer = PostgresStatement(
    "read a consumer's position", "SELECT epoch, seq, nonce, holder FROM userstore.consumers WHERE name = $1", .text)
  private static let selectConsumers = PostgresStatement(
    "read the consumers", "SELECT epoch, seq, nonce, at, name FROM userstore.consumers ORDER BY name")
  private static let updateHolder = PostgresStatement(
    "claim a consumer's name",
    "UPDATE userstore.consumers SET holder = $2, at = clock_timestamp() WHERE name = $1", .text, .int8)
  private static let insertConsumer = PostgresStatement(
    "write a consumer's position",
    """
    INSERT INTO userstore.consumers (name, holder, epoch, seq, nonce, at)
    VALUES ($1, $2, $3, $4, $5, clock_timestamp())
    """, .text, .int8, .int8, .int8, .int8)
  private static let updateConsumer = PostgresStatement(
    "write a consumer's position",
    """
    UPDATE userstore.consumers SET epoch = $3, seq = $4, nonce = $5, at = clock_timestamp()
    WHERE name = $1 AND holder = $2
    """, .text, .int8, .int8, .int8, .int8)
  private static let deleteConsumer = PostgresStatement(
    "remove a consumer", "DELETE FROM userstore.consumers WHERE name = $1", .text)

  func consumer(_ name: String) throws(StoreError) -> (cursor: Cursor, fencingToken: Int64)? {
    try first(Self.selectConsumer, .text(name)) { row in (Cursor(row), row.int8(3)) }
  }

  func consumers() throws(StoreError) -> [(name: String, cursor: Cursor, timestamp: Int64)] {
    try all(Self.selectConsumers) { row in
      (row.text(4), Cursor(row), row.timestamptz(3) / 1_000)
    }
  }

  func claimConsumer(_ name: String, fencingToken: Int64, at start: Cursor?) throws(StoreError) -> Bool {
    if try run(Self.updateHolder, .text(name), .int8(fencingToken)).affectedRows > 0 { return true }
    if let start { try write(Self.insertConsumer, name, fencingToken, start) }
    return false
  }

  func moveConsumer(_ name: String, fencingToken: Int64, to cursor: Cursor) throws(StoreError) {
    try write(Self.updateConsumer, name, fencingToken, cursor)
  }

  private func write(
    _ statement: PostgresStatement, _ name: String, _ token: Int64, _ cursor: Cursor
  ) throws(StoreError) {
    _ = try run(
      statement, .text(name), .int8(token), .int8(cursor.epoch), .int8(cursor.revision.rawValue), .int8(cursor.nonce))
  }

  func removeConsumer(_ name: String) throws(StoreError) -> Bool {
    try run(Self.deleteConsumer, .text(name)).affectedRows > 0
  }
}
