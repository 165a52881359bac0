/// A consumer as the database knows it, whether anybody holds its name at present or not.
public struct ConsumerInfo: Sendable {
  /// Its name.
  public let name: String
  /// The end of the last set that it acknowledged, or where it began.
  public let cursor: Cursor
  /// How many changes came after it; nil when the log does not go on from there.
  public let lag: Int?
  /// When it last acknowledged or its name was last taken, in milliseconds since 1970, by the writer's clock.
  public let milliseconds: Int64
}

extension Transaction {
  /// The consumers that keep their position in the store, by name.
  ///
  /// Counting the changes that each lacks takes about a second for ten millions.
  ///
  /// - Returns: all of them, in the order of the names' bytes; acknowledgements that are not written yet do not show.
  /// - Throws: what reading can throw.
  public mutating func consumers() throws(StoreError) -> [ConsumerInfo] {
    let rows = try perform("read the consumers") { connection throws(SQLiteError) in
      try connection.withStatement(ConsumerSQL.all) { statement throws(SQLiteError) in
        var rows: [(name: String, cursor: Cursor, milliseconds: Int64)] = []
        while try statement.step() {
          let cursor = Cursor(
            epoch: statement.integer(1), revision: statement.integer(2), nonce: statement.integer(3))
          rows.append((statement.text(0), cursor, statement.integer(4)))
        }
        return rows
      }
    }
    var consumers: [ConsumerInfo] = []
    for row in rows {
      let lag = try lag(after: row.cursor)
      consumers.append(ConsumerInfo(name: row.name, cursor: row.cursor, lag: lag, milliseconds: row.milliseconds))
    }
    return consumers
  }

  private mutating func lag(after cursor: Cursor) throws(StoreError) -> Int? {
    do { _ = try ChangeLog.verify(cursor, lease.connection) } catch {
      if error.code == .diverged || error.code == .compacted { return nil }
      throw error
    }
    return try perform("count the changes") { connection throws(SQLiteError) in
      try connection.first(ConsumerSQL.count, .integer(cursor.revision.rawValue)) { Int($0.integer(0)) }
    }
  }
}

/// The statements that list consumers.
private enum ConsumerSQL {
  static let all = Query("SELECT name, epoch, seq, nonce, at FROM consumers ORDER BY name")
  static let count = Query("SELECT count(*) FROM changes WHERE seq > ?1 AND op IS NOT 0")
}
