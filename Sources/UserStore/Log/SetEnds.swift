/// Where the oldest change sets of the log end: the ones that a `LogPage` would make, but without their values.
///
/// A set may be larger than what may be read at once. Then no end is found, and the next search goes on from here.
///
/// Beside `LogPage`, because that takes all values of its rows into memory, and looks through a huge set at once; the rule
/// that divides the rows is one (`LogRow.foreignEnd`), and `CompactionModelTests` hold the two together.
struct SetEnds {
  struct End {
    let sequence: Int64
    let nonce: Int64
    let isForeign: Bool
  }

  /// In order.
  private(set) var ends: [End] = []
  /// No row after the horizon, through this one, ends a set.
  private(set) var searched: Int64

  // Of a row with a huge value only the beginning is read: what stands behind the value is asked of ends alone.
  private static let selectRows = Query(
    """
    SELECT seq, op, CASE WHEN coalesce(op, 0) = 0 AND typeof(old) = 'integer' THEN min(old, seq) ELSE seq END,
      CASE WHEN coalesce(op, 0) = 0 THEN nonce END
    FROM changes WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3
    """)
  private static let selectNonce = Query("SELECT nonce FROM changes WHERE seq = ?1")

  /// Finds them.
  ///
  /// - Parameters:
  ///   - extent: Whose oldest sets.
  ///   - limit: How many rows are read at most.
  ///   - connection: With a transaction open.
  /// - Throws: `StoreError.diverged` for a gap, and what reading can throw.
  init(of extent: LogExtent, limit: Int, _ connection: borrowing Connection) throws(StoreError) {
    var start = extent.horizon.revision.rawValue
    let marks = try Self.marks(in: extent, limit, connection)
    searched = (marks.found.first?.sequence ?? marks.last + 1) - 1
    for mark in marks.found {
      if let foreign = LogRow.foreignEnd(after: start, before: mark.first) {
        ends.append(try Self.foreign(foreign, connection))
      }
      ends.append(End(sequence: mark.sequence, nonce: mark.nonce, isForeign: false))
      start = mark.sequence
    }
    if marks.last == extent.head, start < extent.head { ends.append(try Self.foreign(extent.head, connection)) }
  }

  private typealias Mark = (sequence: Int64, first: Int64, nonce: Int64)

  /// The ends of writes, as far as one step reads: a page, and more only until there is one.
  private static func marks(
    in extent: LogExtent, _ limit: Int, _ connection: borrowing Connection
  ) throws(StoreError) -> (found: [Mark], last: Int64) {
    var (found, last): ([Mark], Int64) = ([], extent.searched)
    var gap: Int64?
    let page = extent.horizon.revision.rawValue + Int64(LogPage.rowLimit)
    try storing("read the log") { () throws(SQLiteError) in
      try connection.withStatement(selectRows) { statement throws(SQLiteError) in
        try statement.bind(last, at: 1)
        try statement.bind(extent.head, at: 2)
        try statement.bind(Int64(limit), at: 3)
        while gap == nil, found.isEmpty || last < page, try statement.step() {
          let sequence = statement.integer(0)
          if sequence != last + 1 { gap = sequence }
          last = sequence
          guard statement.integer(1) == 0 else { continue }
          found.append((sequence, statement.integer(2), statement.integer(3)))
        }
      }
    }
    if let gap { throw StoreError(.diverged, "the log has a gap before revision \(gap)") }
    return (found, last)
  }

  private static func foreign(_ sequence: Int64, _ connection: borrowing Connection) throws(StoreError) -> End {
    let nonce = try storing("read the log") { () throws(SQLiteError) in
      try connection.first(selectNonce, .integer(sequence)) { $0.integer(0) }
    }
    return End(sequence: sequence, nonce: nonce ?? 0, isForeign: true)
  }
}
