/// The log of a database, seen through one connection.
///
/// Whoever calls has a transaction open.
enum ChangeLog {
  private static let selectHead = Query(
    """
    SELECT meta.epoch, coalesce(changes.seq, meta.horizon), coalesce(changes.nonce, meta.horizon_nonce), changes.seq IS NULL
    FROM meta LEFT JOIN changes ON changes.seq = (SELECT max(seq) FROM changes) WHERE meta.id = 1
    """)
  private static let selectMeta = Query("SELECT epoch, horizon, horizon_nonce FROM meta WHERE id = 1")
  private static let selectNonce = Query("SELECT nonce FROM changes WHERE seq = ?1")
  private static let selectLast = Query("SELECT max(seq) FROM changes")
  // Not INSERT … SELECT … WHERE: that reads the table it writes, for which SQLite makes a temporary one, and was 27 % of
  // the instructions of a small write. The time is given for the same reason: julianday('now') is another hundredth.
  private static let insertMark = Query(
    "INSERT INTO changes (op, attribute, old, nonce, at) VALUES (0, ?1, ?2, ?3, ?4)")
  private static let selectVersion = Query("PRAGMA data_version")

  /// The end of the log.
  static func head(_ connection: borrowing Connection) throws(StoreError) -> Cursor {
    let cursor = try storing("read the log") { () throws(SQLiteError) in
      try connection.first(selectHead) { row in
        Cursor(epoch: row.integer(0), revision: row.integer(1), nonce: row.integer(2))
      }
    }
    guard let cursor else { throw StoreError(.corrupt, "the database is damaged: its log has no meta row") }
    try check(cursor.revision.rawValue)
    return cursor
  }

  /// How many rows a log has at most; at a million a second they last for nine years.
  static let revisionBits = 48

  /// Numbers come one by one: a larger one is somebody's who writes into the log by himself.
  static func check(_ revision: Int64) throws(StoreError) {
    guard (0..<1 << Int64(revisionBits)).contains(revision) else {
      throw StoreError(.corrupt, "the log of the database was tampered with: it has a row \(revision)")
    }
  }

  /// Where the log begins: what was before is forgotten.
  static func horizon(_ connection: borrowing Connection) throws(StoreError) -> Cursor {
    let cursor = try storing("read the log") { () throws(SQLiteError) in
      try connection.first(selectMeta) { Cursor(epoch: $0.integer(0), revision: $0.integer(1), nonce: $0.integer(2)) }
    }
    guard let cursor else { throw StoreError(.corrupt, "the database is damaged: its log has no meta row") }
    try check(cursor.revision.rawValue)
    return cursor
  }

  /// Whether the log goes on from a cursor.
  ///
  /// - Returns: the last row that there is.
  /// - Throws: `StoreError.compacted`, `StoreError.diverged`.
  static func verify(_ cursor: Cursor, _ connection: borrowing Connection) throws(StoreError) -> Int64 {
    let (meta, last, found) = try storing("read the log") { () throws(SQLiteError) in
      let meta = try connection.first(selectMeta) { ($0.integer(0), $0.integer(1), $0.integer(2)) }
      let last = try connection.first(selectLast) { $0.isNull(0) ? nil : $0.integer(0) } ?? nil
      let found = try connection.first(selectNonce, .integer(cursor.revision.rawValue)) { $0.integer(0) }
      return (meta, last, found)
    }
    guard let (epoch, horizon, horizonNonce) = meta else {
      throw StoreError(.corrupt, "the database is damaged: its log has no meta row")
    }
    let revision = cursor.revision.rawValue
    guard epoch == cursor.epoch else {
      throw StoreError(
        .diverged, "the cursor is of another log: another database, or one that was restored or repaired")
    }
    guard revision >= horizon else {
      throw StoreError(
        .compacted, "the changes after revision \(revision) were forgotten; the log begins after \(horizon)")
    }
    guard found == cursor.nonce || revision == horizon && horizonNonce == cursor.nonce else {
      throw StoreError(.diverged, "the log does not go on from revision \(revision): it was rewound")
    }
    let end = max(last ?? horizon, horizon)
    try check(end)
    return end
  }

  /// Ends the present write's rows with a row that says where they began, if there are any.
  ///
  /// - Returns: the end of the set; nil when nothing was logged.
  static func mark(
    after head: Cursor, origin: String?, _ connection: borrowing Connection
  ) throws(SQLiteError) -> Cursor? {
    let last = try connection.first(selectLast) { $0.isNull(0) ? nil : $0.integer(0) } ?? nil
    guard let last, last > head.revision.rawValue else { return nil }
    let nonce = Connection.randomNumber()
    let first = head.revision.rawValue + 1
    try connection.withStatement(insertMark) { statement throws(SQLiteError) in
      if let origin { try statement.bind(origin, at: 1) }
      try statement.bind(first, at: 2)
      try statement.bind(nonce, at: 3)
      try statement.bind(WallClock.milliseconds, at: 4)
      _ = try statement.step()
    }
    return Cursor(epoch: head.epoch, revision: connection.lastInsertedRow, nonce: nonce)
  }

  /// A number that changes when another connection commits (sqlite.org/pragma.html#pragma_data_version).
  static func dataVersion(_ connection: borrowing Connection) throws(SQLiteError) -> Int64 {
    try connection.first(selectVersion) { $0.integer(0) } ?? 0
  }
}
