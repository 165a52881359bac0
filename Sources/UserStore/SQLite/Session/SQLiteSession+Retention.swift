extension SQLiteSession {
  private static let selectExtent = SQL(
    "read the log",
    """
    SELECT epoch, horizon, horizon_nonce, measured, bytes, (SELECT min(seq) FROM changes WHERE seq > 0),
      (SELECT max(seq) FROM changes),
      (SELECT min(seq) FROM consumers WHERE consumers.epoch = meta.epoch AND seq >= max(horizon, ?1)),
      searched, sized, size
    FROM meta WHERE id = 1
    """)
  private static let updateExtent = SQL(
    "compact the log",
    """
    UPDATE meta SET horizon = ?1, horizon_nonce = ?2, measured = ?3, bytes = ?4, searched = ?5, sized = ?6, size = ?7
    WHERE id = 1
    """)
  /// SQL for the size of a row, equal to `LogRow.byteCount`.
  private static let rowSize = "\(LogExtent.rowBytes) + \(valueSize("old")) + \(valueSize("new"))"
  private static let selectSizes = SQL(
    "read the log", "SELECT seq, \(rowSize) FROM changes WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3")
  private static let selectUsed = SQL(
    "read the log",
    "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size")
  // A row's nonce is stored behind its values: it is read only for ends, so that SQLite does not read past a huge value.
  private static let selectMarks = SQL(
    "read the log",
    """
    SELECT seq, op, CASE WHEN coalesce(op, 0) = 0 AND typeof(old) = 'integer' THEN min(old, seq) ELSE seq END,
      CASE WHEN coalesce(op, 0) = 0 THEN nonce END
    FROM changes WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3
    """)
  private static let deleteRows = SQL("compact the log", "DELETE FROM changes WHERE seq > 0 AND seq <= ?1")
  private static let selectChangesOfUser = SQL(
    "read the log",
    """
    SELECT seq, CASE WHEN \(isEvent) THEN 0 ELSE \(valueSize("old")) END + \(valueSize("new")),
      (old IS NULL OR \(isEvent)) AND new IS NULL
    FROM changes
    WHERE seq > ?1 AND seq <= ?2 AND user = ?3 AND coalesce(op, 0) NOT IN (0, \(Note.purgedOperation))
    ORDER BY seq LIMIT \(PagedChanges.rowLimit)
    """)
  private static let isEvent = "op IS \(Note.eventOperation)"
  // The name of an event is no value of the user.
  private static let blank = SQL(
    "purge a user",
    "UPDATE changes SET old = CASE WHEN \(isEvent) THEN old END, new = NULL WHERE seq = ?1 AND user = ?2")
  private static let deleteDisplacedUsers = SQL("purge a user", "DELETE FROM displaced_users WHERE id = ?1")
  private static let deleteDisplacedAttributes = SQL(
    "purge a user", "DELETE FROM displaced_attributes WHERE user_id = ?1 OR row_user = ?1")

  private static func valueSize(_ column: String) -> String {
    """
    CASE typeof(\(column)) WHEN 'null' THEN 0 WHEN 'integer' THEN \(LogExtent.numberBytes)
    WHEN 'real' THEN \(LogExtent.numberBytes) ELSE length(CAST(\(column) AS BLOB)) END
    """
  }

  func extent(assuming assumed: LogExtent?) throws(StoreError) -> LogExtent {
    let start = StoredValue.integer(assumed?.horizon.revision.rawValue ?? 0)
    let extent = try connection.first(Self.selectExtent, start) { row throws(StoreError) in
      try LogExtent(
        horizon: Cursor(row), first: row.integerOrNil(5), last: row.integerOrNil(6),
        measured: (row.integer(3), row.integer(4)), searched: row.integer(8), sized: (row.integer(9), row.integer(10)),
        consumer: row.integerOrNil(7), assuming: assumed)
    }
    guard var extent else { throw Self.noMeta }
    extent.held = try firstHeldRow()
    return extent
  }

  func save(_ extent: LogExtent) throws(StoreError) {
    try connection.run(
      Self.updateExtent, .integer(extent.horizon.revision.rawValue), .integer(extent.horizon.nonce),
      .integer(extent.measured), .integer(extent.bytes), .integer(extent.searched), .integer(extent.sized),
      .integer(extent.size))
  }

  func size(after start: Int64, through end: Int64, limit: Int) throws(StoreError) -> (last: Int64, bytes: Int64) {
    var (last, bytes) = (start, Int64(0))
    try connection.each(Self.selectSizes, .integer(start), .integer(end), .integer(Int64(limit))) { row in
      last = row.integer(0)
      bytes += row.integer(1)
      return bytes < PagedChanges.byteLimit
    }
    return (last, bytes)
  }

  func usedBytes() throws(StoreError) -> Int64 { try connection.first(Self.selectUsed) { $0.integer(0) } ?? .max }

  func scan(
    after start: Int64, through end: Int64, limit: Int, while body: (_ sequence: Int64, SetEnd?) -> Bool
  ) throws(StoreError) {
    try connection.each(Self.selectMarks, .integer(start), .integer(end), .integer(Int64(limit))) { row in
      let (sequence, isEnd) = (row.integer(0), row.integer(1) == 0)
      return body(sequence, isEnd ? SetEnd(sequence: sequence, first: row.integer(2), nonce: row.integer(3)) : nil)
    }
  }

  func deleteRows(through last: Int64) throws(StoreError) -> Int {
    try connection.run(Self.deleteRows, .integer(last))
    return connection.changedRows
  }

  func changes(
    of user: User.ID, after start: Int64, through end: Int64
  ) throws(StoreError) -> [(sequence: Int64, bytes: Int64, isBlank: Bool)] {
    var rows: [(sequence: Int64, bytes: Int64, isBlank: Bool)] = []
    var bytes = Int64(0)
    try connection.each(Self.selectChangesOfUser, .integer(start), .integer(end), .integer(user.rawValue)) { row in
      rows.append((row.integer(0), row.integer(1), row.integer(2) == 1))
      bytes += row.integer(1)
      return bytes < PagedChanges.byteLimit
    }
    return rows
  }

  func blank(_ sequences: [Int64], of user: User.ID) throws(StoreError) {
    for sequence in sequences { try connection.run(Self.blank, .integer(sequence), .integer(user.rawValue)) }
    try connection.run(Self.deleteDisplacedUsers, .integer(user.rawValue))
    try connection.run(Self.deleteDisplacedAttributes, .integer(user.rawValue))
  }
}
