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
  /// No row after the horizon, through this one, ends a set; the horizon when nothing is known.
  ///
  /// With `sized` and `size` it is how far the oldest set was looked through. A huge set takes many steps, each by a
  /// process that may do no more than one.
  var searched: Int64
  /// The last row of the oldest set that was counted; the horizon when none was.
  var sized: Int64
  /// How large the rows after the horizon are, through that one.
  var size: Int64
  /// How far the named consumer has come that is the furthest back, those aside whose cursor is compacted already.
  var consumer: Int64?

  /// More than any file can hold (sqlite.org/limits.html).
  private static let sizeLimit: Int64 = 1 << 48

  private static let select = Query(
    """
    SELECT epoch, horizon, horizon_nonce, measured, bytes, (SELECT min(seq) FROM changes WHERE seq > 0),
      (SELECT max(seq) FROM changes),
      (SELECT min(seq) FROM consumers WHERE consumers.epoch = meta.epoch AND seq >= max(horizon, ?1)),
      searched, sized, size
    FROM meta WHERE id = 1
    """)
  private static let update = Query(
    """
    UPDATE meta SET horizon = ?1, horizon_nonce = ?2, measured = ?3, bytes = ?4, searched = ?5, sized = ?6, size = ?7
    WHERE id = 1
    """)

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
    (searched, sized, size) = (assumed.searched, assumed.sized, assumed.size)
  }

  private init(_ row: borrowing Statement) {
    horizon = Cursor(epoch: row.integer(0), revision: row.integer(1), nonce: row.integer(2))
    let start = horizon.revision.rawValue
    head = row.isNull(6) ? start : row.integer(6)
    first = row.isNull(5) ? head + 1 : row.integer(5)
    // Whoever forgot by other means did not count; and numbers that cannot be are as good as none.
    let log = max(start, head)
    func known(_ last: Int64, _ bytes: Int64) -> (last: Int64, bytes: Int64) {
      last > start && last <= log && (0...Self.sizeLimit).contains(bytes) ? (last, bytes) : (start, 0)
    }
    (measured, bytes) = known(row.integer(3), row.integer(4))
    searched = known(row.integer(8), 0).last
    (sized, size) = known(row.integer(9), row.integer(10))
    consumer = row.isNull(7) ? nil : row.integer(7)
  }

  /// Whether nobody has forgotten or counted anything meanwhile.
  func isSame(as other: LogExtent) -> Bool {
    var other = other
    (other.head, other.consumer) = (head, consumer)
    return self == other
  }

  /// How large what stands after a set's end is; nil when the oldest set was not counted through that end.
  ///
  /// What was not counted at all is taken for nothing.
  func bytes(after end: Int64) -> Int64? {
    if end > measured { return 0 }
    return sized == end ? max(0, bytes - size) : nil
  }

  /// Moves the horizon to the end of a set that was counted.
  mutating func forget(through end: Cursor) {
    let last = end.revision.rawValue
    bytes = bytes(after: last) ?? 0
    measured = max(measured, last)
    searched = max(searched, last)
    (sized, size) = (last, 0)
    horizon = end
  }

  /// A row that was counted becomes smaller.
  mutating func shrink(_ sequence: Int64, by count: Int64) {
    guard sequence > horizon.revision.rawValue else { return }
    if sequence <= measured { bytes -= count }
    if sequence <= sized { size -= count }
  }

  /// Writes what of it is not in the rows.
  func save(_ connection: borrowing Connection) throws(SQLiteError) {
    try connection.run(
      Self.update, .integer(horizon.revision.rawValue), .integer(horizon.nonce), .integer(measured), .integer(bytes),
      .integer(searched), .integer(sized), .integer(size))
  }
}
