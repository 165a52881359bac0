extension SQLiteSession {
  private static let selectEnd = SQL(
    "read the log",
    """
    SELECT meta.epoch, coalesce(changes.seq, meta.horizon), coalesce(changes.nonce, meta.horizon_nonce)
    FROM meta LEFT JOIN changes ON changes.seq = (SELECT max(seq) FROM changes) WHERE meta.id = 1
    """)
  private static let selectMeta = SQL("read the log", "SELECT epoch, horizon, horizon_nonce FROM meta WHERE id = 1")
  private static let selectNonce = SQL("read the log", "SELECT nonce FROM changes WHERE seq = ?1")
  private static let selectLast = SQL("read the log", "SELECT max(seq) FROM changes")
  private static let selectChanges = "SELECT seq, op, user, attribute, old, new, nonce, at FROM changes"
  // One row more than the limit: the row that ends a set of that many changes.
  private static let selectRows = SQL(
    "read the log",
    selectChanges + " WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT \(PagedChanges.rowLimit) + 1")
  private static let selectNewestRows = SQL(
    "read the log",
    selectChanges + " WHERE seq > ?1 AND seq <= ?2 ORDER BY seq DESC LIMIT \(PagedChanges.rowLimit)")
  /// SQL for the first row of the write that a row ends; any program can store something else there.
  private static let firstOfSet = "CASE WHEN typeof(old) = 'integer' THEN min(old, seq) ELSE seq END"
  private static let selectEnds =
    "SELECT seq, \(firstOfSet), nonce, attribute FROM changes WHERE coalesce(op, 0) = 0 AND seq > ?1"
  private static let selectNextEnd = SQL("read the log", selectEnds + " AND seq <= ?2 ORDER BY seq LIMIT 1")
  private static let countChanges = SQL(
    "count changes", "SELECT count(*) FROM changes WHERE seq > ?1 AND op IS NOT 0")
  // Not INSERT … SELECT … WHERE: it reads the table that it writes, so SQLite creates a temporary table, which was 27 % of the
  // instructions of a small write. The time is a parameter for the same reason: julianday('now') takes another 1 %.
  private static let insertEnd = SQL(
    "write", "INSERT INTO changes (op, attribute, old, nonce, at) VALUES (0, ?1, ?2, ?3, ?4)")

  private static let joinEnds = SQL(
    "write",
    "UPDATE changes SET op = \(Note.joinedOperation), attribute = NULL, old = NULL WHERE seq > ?1 AND seq <= ?2 AND op = 0"
  )

  private static let insertNote = SQL(
    "write", "INSERT INTO changes (op, user, attribute, old, new, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")

  func logEnd() throws(StoreError) -> Cursor {
    if let end = try knownLogEnd() { return end }
    guard let cursor = try connection.first(Self.selectEnd, make: Cursor.init) else { throw Self.noMeta }
    try Revision.check(cursor.revision.rawValue)
    return cursor
  }

  static var noMeta: StoreError { StoreError(.corrupt, "the database is damaged: its log has no meta row") }

  func logState(at revision: Int64, of epoch: Int64?) throws(StoreError) -> LogState {
    let meta = try connection.first(Self.selectMeta) { ($0.integer(0), $0.integer(1), $0.integer(2)) }
    guard let (current, horizon, horizonNonce) = meta else { throw Self.noMeta }
    let nonce = try connection.first(Self.selectNonce, .integer(revision)) { $0.integer(0) }
    return LogState(
      epoch: current, horizon: horizon, horizonNonce: horizonNonce, last: try lastRow(), nonce: nonce)
  }

  func lastRow() throws(StoreError) -> Int64? {
    try connection.first(Self.selectLast) { $0.integerOrNil(0) } ?? nil
  }

  func rows(after start: Int64, through end: Int64, newestFirst: Bool) throws(StoreError) -> [LogRow] {
    if let ahead, ahead.start == start, ahead.end == end, !newestFirst { return ahead.rows }
    var rows: [LogRow] = []
    rows.reserveCapacity(2)  // Most sets are a change and the row that ends the set.
    var bytes = 0
    let query = newestFirst ? Self.selectNewestRows : Self.selectRows
    try connection.each(query, .integer(start), .integer(end)) { row in
      rows.append(LogRow(row))
      bytes += rows[rows.count - 1].byteCount
      return bytes < PagedChanges.byteLimit
    }
    return rows
  }

  func nextEnd(after start: Int64, through end: Int64) throws(StoreError) -> SetEnd? {
    try connection.first(Self.selectNextEnd, .integer(start), .integer(end), make: SetEnd.init)
  }

  func changeCount(after start: Int64) throws(StoreError) -> Int {
    try connection.first(Self.countChanges, .integer(start)) { Int($0.integer(0)) } ?? 0
  }

  func append(_ note: Note) throws(StoreError) {
    let (operation, user, attribute, old, new): (Int64, User.ID?, AttributeName?, StoredValue, StoredValue) =
      switch note {
      case .purged(let id): (Note.purgedOperation, id, nil, .null, .null)
      case .event(let name, let payload, let id): (Note.eventOperation, id, nil, .text(name), payload)
      case .pulled(let cursor): (Note.pulledOperation, nil, nil, cursor.map { .text($0.description) } ?? .null, .null)
      case .expected(let id, let attribute, let value): (Note.expectedOperation, id, attribute, value, value)
      case .pushed(let number): (Note.pushedOperation, nil, nil, .integer(number), .null)
      }
    if case .event(_, _, let id?) = note, try value(.name, of: id).isNull { throw .noUser(id) }
    do throws(StoreError) {
      try connection.run(
        Self.insertNote, .integer(operation), user.map { .integer($0.rawValue) } ?? .null,
        attribute.map { .text($0.text) } ?? .null, old, new, .integer(WallClock.milliseconds))
    } catch { throw explaining(error) }
  }

  /// Turns the ends of sets into notes, so that a later end of the same transaction ends all of their rows.
  func joinEnds(after start: Int64, through last: Int64) throws(StoreError) {
    if last > start { try connection.run(Self.joinEnds, .integer(start), .integer(last)) }
  }

  /// Returns the new end of the log; nil if there are no rows.
  func appendEnd(after start: Cursor, origin: String?) throws(StoreError) -> Cursor? {
    // The hook mostly avoids the query, which is 5 % of the instructions of a small write.
    let last: Int64? =
      switch connection.hooks.takeLogged() {
      case .nothing: nil
      case .through(let row): row
      case .unknown: try lastRow()
      }
    guard let last, last > start.revision.rawValue else { return nil }
    let nonce = Connection.randomNumber()
    try connection.run(
      Self.insertEnd, origin.map { .text($0) } ?? .null, .integer(start.revision.rawValue + 1), .integer(nonce),
      .integer(WallClock.milliseconds))
    return Cursor(epoch: start.epoch, revision: connection.lastInsertedRow, nonce: nonce)
  }
}

extension UserStore.Cursor {
  /// Creates a cursor from a row that starts with epoch, revision, and nonce.
  init(_ row: borrowing Statement) {
    self.init(epoch: row.integer(0), revision: row.integer(1), nonce: row.integer(2))
  }
}

extension LogRow {
  /// Creates a row of the log from `seq, op, user, attribute, old, new, nonce, at`.
  fileprivate init(_ row: borrowing Statement) {
    let operation = row.integer(1)
    self.init(
      // Only an end and a note can be without: asking every row takes 1 % of the instructions of a replay.
      sequence: row.integer(0), operation: operation,
      user: operation < Note.firstOperation ? row.integer(2) : row.integerOrNil(2),
      attribute: operation == 0 ? row.textOrNil(3) : row.text(3), old: row.value(4), new: row.value(5),
      nonce: row.integer(6),
      timestamp: row.integer(7))
  }
}

extension SetEnd {
  /// Creates an end from `seq, firstOfSet, nonce, attribute`.
  fileprivate init(_ row: borrowing Statement) {
    self.init(
      sequence: row.integer(0), first: row.integer(1), nonce: row.integer(2), origin: row.textOrNil(3))
  }
}
