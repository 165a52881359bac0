extension SQLiteSession {
  private static let now = "CAST((julianday('now') - 2440587.5) * 86400000.0 + 0.5 AS INTEGER)"
  private static let selectConsumer = SQL(
    "read a consumer's position", "SELECT epoch, seq, nonce, holder FROM consumers WHERE name = ?1")
  private static let selectConsumers = SQL(
    "read the consumers", "SELECT epoch, seq, nonce, at, name FROM consumers ORDER BY name")
  private static let updateHolder = SQL(
    "claim a consumer's name", "UPDATE consumers SET holder = ?2, at = \(now) WHERE name = ?1")
  private static let insertConsumer = SQL(
    "write a consumer's position",
    "INSERT INTO consumers (name, holder, epoch, seq, nonce, at) VALUES (?1, ?2, ?3, ?4, ?5, \(now))")
  private static let updateConsumer = SQL(
    "write a consumer's position",
    "UPDATE consumers SET epoch = ?3, seq = ?4, nonce = ?5, at = \(now) WHERE name = ?1 AND holder = ?2")
  private static let deleteConsumer = SQL("remove a consumer", "DELETE FROM consumers WHERE name = ?1")

  func consumer(_ name: String) throws(StoreError) -> (cursor: Cursor, fencingToken: Int64)? {
    try connection.first(Self.selectConsumer, .text(name)) { (Cursor($0), $0.integer(3)) }
  }

  func consumers() throws(StoreError) -> [(name: String, cursor: Cursor, timestamp: Int64)] {
    try connection.all(Self.selectConsumers) { ($0.text(4), Cursor($0), $0.integer(3)) }
  }

  func claimConsumer(_ name: String, fencingToken: Int64, at start: Cursor?) throws(StoreError) -> Bool {
    try connection.run(Self.updateHolder, .text(name), .integer(fencingToken))
    if connection.changedRows > 0 { return true }
    if let start { try write(Self.insertConsumer, name, fencingToken, start) }
    return false
  }

  func moveConsumer(_ name: String, fencingToken: Int64, to cursor: Cursor) throws(StoreError) {
    try write(Self.updateConsumer, name, fencingToken, cursor)
  }

  private func write(_ query: SQL, _ name: String, _ token: Int64, _ cursor: Cursor) throws(StoreError) {
    try connection.run(
      query, .text(name), .integer(token), .integer(cursor.epoch), .integer(cursor.revision.rawValue),
      .integer(cursor.nonce))
  }

  func removeConsumer(_ name: String) throws(StoreError) -> Bool {
    try connection.run(Self.deleteConsumer, .text(name))
    return connection.changedRows > 0
  }
}
