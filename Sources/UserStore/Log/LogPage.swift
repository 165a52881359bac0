/// What one step reads of the log: whole change sets, up to a page.
struct LogPage {
  /// How many rows one step reads at most, and how many changes a set holds that is at hand.
  static let rowLimit = 1_000
  /// How many bytes of values one step reads at most, give or take the last row.
  static let byteLimit = 1 << 20

  /// In order; none is cut short.
  var sets: [ChangeSet] = []
  /// The end of the last set, or where the step began.
  var position: Cursor
  /// Whether nothing is left up to the end that was asked for.
  var isLast = false

  private static let selectRows = Query(
    """
    SELECT seq, op, user, attribute, old, new, nonce, at FROM changes
    WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT \(rowLimit) + 1 -- the end of a set of that many
    """)
  private static let selectNextEnd = Query(
    """
    SELECT seq, attribute, CASE WHEN typeof(old) = 'integer' THEN min(old, seq) ELSE seq END, nonce
    FROM changes WHERE seq > ?1 AND seq <= ?2 AND coalesce(op, 0) = 0 ORDER BY seq LIMIT 1
    """)
  private static let selectNonce = Query("SELECT nonce FROM changes WHERE seq = ?1")

  /// Reads the sets after a position.
  ///
  /// The caller has a transaction open and knows that the log goes on from there.
  ///
  /// - Parameters:
  ///   - position: The end of a set.
  ///   - end: The last row to read: the last one of a transaction.
  ///   - connection: Where the transaction is open.
  ///   - pages: Reads a huge set again, later.
  /// - Throws: `StoreError.diverged` for a gap, and what reading can throw.
  init(
    after position: Cursor, through end: Int64, _ connection: borrowing Connection,
    pages: @escaping PagedChanges.Read
  ) throws(StoreError) {
    self.position = position
    let rows = try Self.load(after: position.revision.rawValue, through: end, connection)
    var start = 0
    // By index, here and below: a row that is taken out of its array is a copy of three values.
    for index in rows.indices where rows[index].isEnd {
      appendSets(rows[start..<index], endedBy: rows[index])
      start = index + 1
    }
    let hasReachedEnd = rows.last.map { $0.sequence == end } ?? true
    if hasReachedEnd {
      appendSets(rows[start...], endedBy: nil)
    } else if sets.isEmpty {
      try appendHugeSet(rows, through: end, connection, pages)
    }
    isLast = self.position.revision.rawValue >= end
  }

  private mutating func appendSets(_ rows: ArraySlice<LogRow>, endedBy end: LogRow?) {
    let start = position.revision.rawValue
    let foreignEnd = end.map { LogRow.foreignEnd(after: start, before: $0.firstOfSet) ?? start } ?? .max
    let foreign = rows.prefix { $0.sequence <= foreignEnd }
    if let last = foreign.last {
      append(foreign.map(\.change), endingAt: last.sequence, last.nonce, origin: nil, isForeign: true)
    }
    guard let end else { return }
    let own = rows.dropFirst(foreign.count).map(\.change)
    append(own, endingAt: end.sequence, end.nonce, origin: end.origin, isForeign: false)
  }

  /// The sets without their rows: a long row of them waits in little memory.
  func ranges(after start: Cursor, pages: @escaping PagedChanges.Read) -> [ChangeSet] {
    var start = start.revision.rawValue
    return sets.map { set in
      defer { start = set.revision.rawValue }
      return set.with(.paged(PagedChanges(start: start, end: set.revision.rawValue, topic: nil, read: pages)))
    }
  }

  private mutating func append(
    _ changes: [Change], endingAt sequence: Int64, _ nonce: Int64, origin: String?, isForeign: Bool
  ) {
    position = Cursor(epoch: position.epoch, revision: sequence, nonce: nonce)
    sets.append(ChangeSet(cursor: position, origin: origin, isForeign: isForeign, content: .held(changes)))
  }

  /// A set of which not even the end is on this page; or the foreign one before it, which may be small.
  private mutating func appendHugeSet(
    _ rows: [LogRow], through end: Int64, _ connection: borrowing Connection, _ pages: @escaping PagedChanges.Read
  ) throws(StoreError) {
    let start = position.revision.rawValue
    let marker = try storing("read the log") { () throws(SQLiteError) in
      try connection.first(Self.selectNextEnd, .integer(start), .integer(end)) {
        (
          sequence: $0.integer(0), origin: $0.isNull(1) ? nil : $0.text(1), first: $0.integer(2), nonce: $0.integer(3)
        )
      }
    }
    let foreignEnd: Int64? = marker.map { LogRow.foreignEnd(after: start, before: $0.first) } ?? end
    if let foreignEnd, let last = rows.last, foreignEnd <= last.sequence {
      appendSets(rows.prefix { $0.sequence <= foreignEnd }, endedBy: nil)
      return
    }
    var isForeign = false
    if let foreignEnd {
      let nonce = try storing("read the log") { () throws(SQLiteError) in
        try connection.first(Self.selectNonce, .integer(foreignEnd)) { $0.integer(0) }
      }
      position = Cursor(epoch: position.epoch, revision: foreignEnd, nonce: nonce ?? 0)
      isForeign = true
    } else if let marker {
      position = Cursor(epoch: position.epoch, revision: marker.sequence, nonce: marker.nonce)
    }
    let changes = PagedChanges(start: start, end: position.revision.rawValue, topic: nil, read: pages)
    sets.append(
      ChangeSet(
        cursor: position, origin: isForeign ? nil : marker?.origin, isForeign: isForeign, content: .paged(changes)))
  }

  /// Rows up to the page's limits, without a gap.
  static func load(
    after start: Int64, through end: Int64, _ connection: borrowing Connection
  ) throws(StoreError) -> [LogRow] {
    let rows = try storing("read the log") { () throws(SQLiteError) in
      try connection.withStatement(selectRows) { statement throws(SQLiteError) in
        try statement.bind(start, at: 1)
        try statement.bind(end, at: 2)
        var rows: [LogRow] = []
        // Most sets are a change and its end.
        rows.reserveCapacity(2)
        var bytes = 0
        while bytes < byteLimit, try statement.step() {
          rows.append(LogRow(statement))
          bytes += rows[rows.count - 1].byteCount
        }
        return rows
      }
    }
    for index in rows.indices where rows[index].sequence != start + Int64(index) + 1 {
      throw StoreError(.diverged, "the log has a gap before revision \(rows[index].sequence)")
    }
    return rows
  }
}
