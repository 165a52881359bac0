/// From where to where the log goes, and how large it is: what has to be known to forget a part of it.
struct LogExtent: Equatable {
  /// What stands at or before it is forgotten; its rows may still be there, and are deleted step by step.
  var horizon: Cursor
  /// The oldest row that is there; one more than the newest when there is none.
  ///
  /// From 1 on: a smaller one is somebody's who writes into the log by himself, and nobody reads it.
  var first: Int64
  /// The newest row; it is never deleted.
  var head: Int64
  /// The last row that was counted.
  var measured: Int64
  /// How large the rows after the horizon are, through that one.
  var bytes: Int64
  /// How far the named consumer has come that is the furthest back, those aside whose cursor is compacted already.
  var consumer: Int64?

  /// More than any file can hold (sqlite.org/limits.html).
  private static let sizeLimit: Int64 = 1 << 48

  private static let select = Query(
    """
    SELECT epoch, horizon, horizon_nonce, measured, bytes, (SELECT min(seq) FROM changes WHERE seq > 0),
      (SELECT max(seq) FROM changes),
      (SELECT min(seq) FROM consumers WHERE consumers.epoch = meta.epoch AND seq >= max(horizon, ?1))
    FROM meta WHERE id = 1
    """)
  private static let update = Query(
    "UPDATE meta SET horizon = ?1, horizon_nonce = ?2, measured = ?3, bytes = ?4 WHERE id = 1")

  /// Reads it; a transaction is open.
  ///
  /// - Parameters:
  ///   - connection: Where it is open.
  ///   - assumed: What was forgotten in thought only.
  /// - Throws: what reading can throw.
  init(_ connection: borrowing Connection, assuming assumed: LogExtent? = nil) throws(StoreError) {
    let start = StoredValue.integer(assumed?.horizon.revision.rawValue ?? 0)
    let extent = try storing("read the log") { () throws(SQLiteError) in
      try connection.first(Self.select, start) { row in LogExtent(row) }
    }
    guard let extent else { throw StoreError(.corrupt, "the database is damaged: its log has no meta row") }
    self = extent
    try ChangeLog.check(horizon.revision.rawValue)
    try ChangeLog.check(head)
    guard horizon.revision.rawValue <= head else {
      throw StoreError(
        .corrupt,
        "the log of the database was tampered with: it begins after row \(horizon.revision) and ends at \(head)")
    }
    guard let assumed, assumed.horizon.epoch == horizon.epoch, assumed.horizon.revision >= horizon.revision else {
      return
    }
    (horizon, measured, bytes) = (assumed.horizon, assumed.measured, assumed.bytes)
  }

  private init(_ row: borrowing Statement) {
    horizon = Cursor(epoch: row.integer(0), revision: row.integer(1), nonce: row.integer(2))
    let start = horizon.revision.rawValue
    head = row.isNull(6) ? start : row.integer(6)
    first = row.isNull(5) ? head + 1 : row.integer(5)
    // Whoever forgot by other means did not count; and numbers that cannot be are as good as none.
    let isCounted = row.integer(3) > start && row.integer(3) <= head && (0...Self.sizeLimit).contains(row.integer(4))
    measured = isCounted ? row.integer(3) : start
    bytes = isCounted ? row.integer(4) : 0
    consumer = row.isNull(7) ? nil : row.integer(7)
  }

  /// Writes horizon and size.
  func save(_ connection: borrowing Connection) throws(SQLiteError) {
    try connection.run(
      Self.update, .integer(horizon.revision.rawValue), .integer(horizon.nonce), .integer(measured), .integer(bytes))
  }
}
