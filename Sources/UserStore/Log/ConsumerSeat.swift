/// A consumer's row in the database, as one holder of the name sees it.
///
/// Whoever takes the name draws a number, and acts only as long as that stands in the row: nothing has to be asked of,
/// or told to, the holder before, who may be in a process that hangs.
struct ConsumerSeat: Sendable {
  let name: String
  private let holder = Int64.random(in: .min ... .max)

  private static let now = "CAST((julianday('now') - 2440587.5) * 86400000.0 + 0.5 AS INTEGER)"
  private static let selectRow = Query("SELECT epoch, seq, nonce, holder FROM consumers WHERE name = ?1")
  private static let updateHolder = Query("UPDATE consumers SET holder = ?2, at = \(now) WHERE name = ?1")
  private static let insert = Query(
    "INSERT INTO consumers (name, holder, epoch, seq, nonce, at) VALUES (?1, ?2, ?3, ?4, ?5, \(now))")
  private static let updatePosition = Query(
    "UPDATE consumers SET epoch = ?3, seq = ?4, nonce = ?5, at = \(now) WHERE name = ?1 AND holder = ?2")
  private static let delete = Query("DELETE FROM consumers WHERE name = ?1")

  /// Takes the name from whoever has it; a new name begins at `start`.
  static func take(
    _ name: String, from start: Consumer.Start, in transaction: inout WriteTransaction
  ) throws(StoreError) -> ConsumerSeat {
    let seat = ConsumerSeat(name: name)
    let isKnown = try transaction.perform("take the name of a consumer") { connection throws(SQLiteError) in
      try connection.run(updateHolder, .text(name), .integer(seat.holder))
      return connection.changedRows > 0
    }
    if !isKnown { try seat.write(insert, start.cursor(in: &transaction), in: &transaction) }
    return seat
  }

  /// - Returns: whether there was one.
  static func remove(_ name: String, in transaction: inout WriteTransaction) throws(StoreError) -> Bool {
    try transaction.perform("remove a consumer") { connection throws(SQLiteError) in
      try connection.run(delete, .text(name))
      return connection.changedRows > 0
    }
  }

  /// What was last acknowledged.
  ///
  /// - Throws: `StoreError.superseded`.
  func position<Mode>(in transaction: inout Transaction<Mode>) throws(StoreError) -> Cursor {
    let row = try transaction.perform("read where a consumer stands") { connection throws(SQLiteError) in
      try connection.first(Self.selectRow, .text(name)) { row in
        (
          cursor: Cursor(epoch: row.integer(0), revision: row.integer(1), nonce: row.integer(2)), holder: row.integer(3)
        )
      }
    }
    let shown = StoredValue.text(name).forMessages
    guard let row else { throw StoreError(.superseded, "the consumer \(shown) was removed") }
    guard row.holder == holder else { throw StoreError(.superseded, "another consumer took the name \(shown)") }
    return row.cursor
  }

  /// Whether an acknowledgement would move the position; it never goes back, and never to another log.
  ///
  /// - Throws: `StoreError.diverged`, `StoreError.compacted`, `StoreError.superseded`.
  func isBefore<Mode>(_ cursor: Cursor, in transaction: inout Transaction<Mode>) throws(StoreError) -> Bool {
    // First: in a restored backup the row may be another holder's, and that is not what is the matter.
    _ = try ChangeLog.verify(cursor, transaction.lease.connection)
    let position = try position(in: &transaction)
    guard position.epoch == cursor.epoch else {
      throw StoreError(
        .diverged, "the consumer \(StoredValue.text(name).forMessages) stands in another log than what it acknowledges")
    }
    return position.revision < cursor.revision
  }

  /// Acknowledges what comes up to a cursor.
  ///
  /// - Throws: as `isBefore`, and what writing can throw.
  func advance(to cursor: Cursor, in transaction: inout WriteTransaction) throws(StoreError) {
    if try isBefore(cursor, in: &transaction) { try write(Self.updatePosition, cursor, in: &transaction) }
  }

  /// Goes to a cursor of the present log, wherever it stood.
  ///
  /// - Throws: as `isBefore`, and what writing can throw.
  func move(to cursor: Cursor, in transaction: inout WriteTransaction) throws(StoreError) {
    _ = try ChangeLog.verify(cursor, transaction.lease.connection)
    _ = try position(in: &transaction)
    try write(Self.updatePosition, cursor, in: &transaction)
  }

  private func write(_ query: Query, _ cursor: Cursor, in transaction: inout WriteTransaction) throws(StoreError) {
    try transaction.perform("write where a consumer stands") { connection throws(SQLiteError) in
      try connection.run(
        query, .text(name), .integer(holder), .integer(cursor.epoch), .integer(cursor.revision.rawValue),
        .integer(cursor.nonce))
    }
  }
}

extension Consumer.Start {
  fileprivate func cursor(in transaction: inout WriteTransaction) throws(StoreError) -> Cursor {
    switch self {
    case .now: return try transaction.cursor
    case .oldest: return try ChangeLog.horizon(transaction.lease.connection)
    case .after(let cursor):
      _ = try ChangeLog.verify(cursor, transaction.lease.connection)
      return cursor
    }
  }
}
