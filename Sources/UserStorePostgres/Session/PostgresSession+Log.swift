import UserStore

extension PostgresSession {
  private static let selectHead = PostgresStatement("read the log", "SELECT epoch, seq, nonce FROM userstore.head()")
  static let selectSnapshot = PostgresStatement(
    "read the log", "SELECT epoch, seq, nonce, pg_catalog.pg_is_in_recovery() FROM userstore.head()")
  private static let selectState = PostgresStatement(
    "read the log", "SELECT s.epoch, s.horizon, s.horizon_nonce, s.last, \(nonce) FROM userstore.log_state($1) s", .int8
  )
  /// SQL for the random number of a row; inside a set, that of the set's end, so that a cursor there identifies the set.
  private static let nonce = "coalesce(s.nonce, (SELECT e.nonce FROM userstore.next_end($1, \(Int64.max)) e))"
  private static let columns = """
    seq, op, "user", attribute, old_i, old_r, old_t, old_b, old_x, new_i, new_r, new_t, new_b, new_x, nonce, at, is_foreign, first
    """
  /// The end of the log, and the state after a position.
  static let selectLook = PostgresStatement(
    "read the log",
    """
    SELECT s.epoch, s.horizon, s.horizon_nonce, s.last, \(nonce), h.epoch, h.seq, h.nonce
    FROM userstore.head() h, userstore.log_state($1) s
    """, .int8)
  // One row more, for the end of a set with the largest number of changes.
  private static let selectRows = PostgresStatement(
    "read the log",
    "SELECT \(columns) FROM userstore.log_rows($1, $2, \(PagedChanges.rowLimit + 1), \(PagedChanges.byteLimit))", .int8,
    .int8)
  // With a last row as a parameter, the server would plan a search for it.
  static let selectRowsToEnd = PostgresStatement(
    "read the log",
    "SELECT \(columns) FROM userstore.log_rows($1, \(Int64.max), \(PagedChanges.rowLimit + 1), \(PagedChanges.byteLimit))",
    .int8)
  private static let selectNewestRows = PostgresStatement(
    "read the log",
    "SELECT \(columns) FROM userstore.log_rows_backwards($1, $2, \(PagedChanges.rowLimit), \(PagedChanges.byteLimit))",
    .int8, .int8)
  /// The rows of the open transaction; `seq` is their number in it.
  private static let selectOwnRows = PostgresStatement(
    "read the log",
    "SELECT \(columns) FROM userstore.own_rows($1, $2, \(PagedChanges.rowLimit + 1), \(PagedChanges.byteLimit))", .int4,
    .int4)
  // Not max(n): the planner expects few rows, and might then read all rows of the transaction.
  private static let selectOwnLast = PostgresStatement(
    "read the log",
    """
    SELECT n::int8 FROM userstore.changes WHERE xact = pg_catalog.pg_current_xact_id_if_assigned()
      AND started = pg_catalog.now() ORDER BY n DESC LIMIT 1
    """)
  private static let selectNextEnd = PostgresStatement(
    "read the log", "SELECT seq, first, nonce, origin, is_foreign FROM userstore.next_end($1, $2)", .int8, .int8)
  private static let countChanges = PostgresStatement("count changes", "SELECT userstore.change_count($1)", .int8)
  static let endSet = PostgresStatement("write", "SELECT userstore.end_set($1, $2)", .int8, .text)
  private static let post = PostgresStatement(
    "post an event", "SELECT FROM userstore.post($1, $4, NULL, $2, $3, $5, $6)", .text, .int8, .float8, .text, .bytea,
    .bytea)
  // No row if there is no such user: a failed statement would end the transaction.
  private static let postAbout = PostgresStatement(
    "post an event",
    """
    WITH u AS MATERIALIZED (SELECT id FROM userstore.users WHERE id = $7 FOR KEY SHARE)
    SELECT FROM u, userstore.post($1, $4, u.id, $2, $3, $5, $6)
    """, .text, .int8, .float8, .text, .bytea, .bytea, .int8)
  private static let notePurged = PostgresStatement("purge a user", "SELECT FROM userstore.note_purged($1)", .int8)
  private static let notePushed = PostgresStatement("write", "SELECT FROM userstore.note_pushed($1)", .int8)
  /// Appends the note, and then ends the set.
  ///
  /// A replica sends thousands of sets, and two statements take 4 % longer.
  private static let endPushedSet = PostgresStatement(
    "write", "SELECT userstore.end_set($1, $2) FROM userstore.note_pushed($3)", .int8, .text, .int8)
  private static let nextBase = PostgresStatement("write", "SELECT userstore.next_base()")
  static let place = PostgresStatement("write", "SELECT userstore.place()")
  static let endWriting = PostgresStatement("write", "SELECT userstore.end_set($1, $2, true)", .int8, .text)
  /// The last set after a place with one of a write's random numbers.
  static let selectSet = PostgresStatement(
    "find a write in the log",
    """
    SELECT m.epoch, c.base + h.n, h.nonce FROM userstore.meta m, userstore.commits c
    JOIN userstore.changes h ON h.xact = c.xact AND h.started = c.started
    WHERE m.id = 1 AND c.last > $1 AND h.op = 0 AND h.nonce = ANY ($2::text::int8[]) ORDER BY h.n DESC LIMIT 1
    """, .int8, .text)

  /// Writes to the write-ahead log without a change: a COMMIT waits for a standby only if its transaction has written.
  static let leaveMark = PostgresStatement(
    "find a write in the log", "SELECT FROM pg_catalog.pg_logical_emit_message(true, 'userstore', '')")

  static var noMeta: StoreError { StoreError(.corrupt, "the database is damaged: its log has no meta row") }

  // MARK: The end

  func logEnd() throws(StoreError) -> Cursor {
    if let end = ahead?.end { return end }
    if write != nil {
      let last = try first(Self.selectOwnLast, make: { $0.int8(0) })
      let start = try startOfWrite()
      guard let last else { return start }
      return Cursor(epoch: start.epoch, revision: start.revision.rawValue + last, nonce: 0)
    }
    guard let end = try first(Self.selectHead, make: { Cursor($0) }) else { throw Self.noMeta }
    progress.note(end.revision.rawValue)
    return end
  }

  func logState(at revision: Int64, of epoch: Int64?) throws(StoreError) -> LogState {
    if let ahead, ahead.position.revision.rawValue == revision, let state = ahead.state { return state }
    let awaited = epoch.map { (revision, $0) }
    let state = try first(Self.selectState, .int8(revision), awaiting: awaited) { row in
      LogState(row, at: revision, isReplica: isOnReplica)
    }
    guard let state else { throw Self.noMeta }
    return state
  }

  // MARK: Rows

  func rows(after start: Int64, through end: Int64, newestFirst: Bool) throws(StoreError) -> [LogRow] {
    if newestFirst { return try page(Self.selectNewestRows, .int8(start + 1), .int8(end == .max ? .max : end + 1)) }
    if let ahead, ahead.position.revision.rawValue == start { return try page(ahead.rows, through: end) }
    guard write != nil else { return try page(Self.selectRows, .int8(start), .int8(end)) }
    let head = try startOfWrite().revision.rawValue
    // The next page contains the transaction's own rows.
    if start < head { return try page(Self.selectRows, .int8(start), .int8(min(end, head))) }
    let last = end == .max ? Int32.max : Int32(clamping: end - head)
    return try page(Self.selectOwnRows, .int4(Int32(clamping: start - head)), .int4(last), shift: head)
  }

  private func page(
    _ statement: PostgresStatement, _ start: PostgresValue, _ end: PostgresValue, shift: Int64 = 0
  ) throws(StoreError) -> [LogRow] {
    try page(run(statement, start, end), shift: shift)
  }

  private func page(
    _ result: PostgresResult, through end: Int64 = .max, shift: Int64 = 0
  ) throws(StoreError) -> [LogRow] {
    var rows: [LogRow] = []
    rows.reserveCapacity(result.count)
    try result.each { row in
      guard row.int8(0) + shift <= end else { return false }
      rows.append(LogRow(row, shift))
      return true
    }
    return rows
  }

  func nextEnd(after start: Int64, through end: Int64) throws(StoreError) -> SetEnd? {
    // The log that a write sees excludes later commits of others.
    var last = end
    if write != nil { last = try min(end, startOfWrite().revision.rawValue) }
    return try first(Self.selectNextEnd, .int8(start), .int8(last)) { SetEnd($0) }
  }

  func changeCount(after start: Int64) throws(StoreError) -> Int {
    Int(try first(Self.countChanges, .int8(start)) { $0.int8(0) } ?? 0)
  }

  // MARK: Writing

  func append(_ note: Note) throws(StoreError) {
    write?.mayHaveLogged = true
    do throws(StoreError) {
      switch note {
      case .purged(let id): try run(Self.notePurged, .int8(id.rawValue))
      case .pushed(let nonce): due.append(Due(statement: Self.notePushed, values: [.int8(nonce)], meaning: .pushed))
      case .pulled, .expected: throw StoreError(.unsupported, "only a store in a file can be a replica")
      case .event(let name, let payload, nil):
        try pipeline { _ = $0.add(Self.post, [.text(name)] + payload.columns) }
      case .event(let name, let payload, let id?):
        let posted = try pipeline {
          $0.add(Self.postAbout, [.text(name)] + payload.columns + [.int8(id.rawValue)])
        }
        if posted.count == 0 { throw StoreError.noUser(id) }
      }
    } catch  where error.postgres?.kind == .server(.undefinedFunction) {
      throw .needsMigration("notes", error)
    }
  }

  func endSet(origin: String?) {
    guard let write else { return }
    guard write.mayHaveLogged else { return }
    let nonce = Int64.random(in: .min ... .max)
    self.write?.mayHaveLogged = false
    self.write?.sets.append(WrittenSet(nonce: nonce))
    let (values, index) = ([PostgresValue.int8(nonce), origin.map { .text($0) } ?? .null], write.sets.count)
    if case .pushed? = due.last?.meaning {
      addDue(Self.endPushedSet, values + due.removeLast().values, endingSet: index)
    } else {
      addDue(Self.endSet, values, endingSet: index)
    }
  }

  func writingEnd() throws(StoreError) -> Cursor {
    guard write != nil else { return try logEnd() }
    let start = try startOfWrite()
    // Sends the ends of the sets, whose replies contain their numbers.
    try sendDue()
    guard let set = write?.lastSet, let number = set.number else { return start }
    return Cursor(epoch: start.epoch, revision: start.revision.rawValue + number, nonce: set.nonce)
  }

  func finalPosition(of position: Cursor) throws(StoreError) -> Cursor {
    guard let write else { return position }
    let start = try startOfWrite().revision.rawValue
    guard position.revision.rawValue > start else { return position }
    let base: Int64
    if let known = write.base {
      base = known
    } else {
      guard let next = try first(Self.nextBase, make: { $0.int8(0) }) else { throw Self.noMeta }
      base = next
      self.write?.base = base
    }
    return Cursor(epoch: position.epoch, revision: position.revision.rawValue - start + base, nonce: position.nonce)
  }
}

/// A part of the log that was read in advance with another statement.
struct LogAhead {
  let position: Cursor
  /// The end of the log, and the state for verifying the position; nil after a write, which needs neither.
  var end: Cursor?
  var state: LogState?
  /// The first page of rows after the position.
  let rows: PostgresResult

  var isComplete: Bool {
    let last = rows.count == 0 ? position.revision.rawValue : rows[rows.count - 1].int8(0)
    return last == end?.revision.rawValue
  }
}

extension LogState {
  /// Creates a state from `epoch, horizon, horizon_nonce, last, nonce`.
  init(_ row: PostgresRow, at revision: Int64, isReplica: Bool = false) {
    let (horizon, last) = (row.int8(1), row.int8OrNil(3))
    // For a position before the first row, the server returns the random number of the first set; the log has no gaps.
    let hasRow = last.map { revision > horizon && revision <= $0 } ?? false
    self.init(
      epoch: row.int8(0), horizon: horizon, horizonNonce: row.int8(2), last: last,
      nonce: hasRow ? row.int8OrNil(4) : nil, isReplica: isReplica)
  }
}

extension LogRow {
  /// Creates a row from the columns of the log; `shift` is added to its numbers.
  fileprivate init(_ row: PostgresRow, _ shift: Int64) {
    let operation = row.int2(1)
    // In a row that ends a set, the old value is the number of the set's first row.
    let old: StoredValue = operation == 0 ? .integer(row.int8(17) + shift) : row.value(4)
    self.init(
      sequence: row.int8(0) + shift, operation: Int64(operation), user: row.int8OrNil(2),
      attribute: row.textOrNil(3), old: old, new: operation == 0 ? .null : row.value(9),
      nonce: row.int8OrNil(14) ?? 0, timestamp: row.int8(15),
      isForeign: row.boolOrNil(16) ?? false)
  }
}

extension SetEnd {
  /// Creates an end from `seq, first, nonce, attribute, is_foreign`.
  init(_ row: PostgresRow) {
    self.init(
      sequence: row.int8(0), first: row.int8(1), nonce: row.int8(2), origin: row.textOrNil(3),
      isForeign: row.bool(4))
  }
}
