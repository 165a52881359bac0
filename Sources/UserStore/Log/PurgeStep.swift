/// One step of a purge: found in a read transaction, done in a write transaction that changes at most 1,000 rows.
struct PurgeStep {
  private let user: User.ID
  private var rows: [(sequence: Int64, bytes: Int64)] = []
  /// How many changes of the user there are in this stretch of the log.
  private(set) var found = 0
  /// Where the next step begins.
  private(set) var position: Int64
  /// Whether the log ends here.
  private(set) var isLast: Bool

  /// How many rows are looked at: the log has no index by user, and a read transaction is to be short.
  private static let stretch: Int64 = 100_000

  private static let selectRows = Query(
    """
    SELECT seq, \(LogSize.expression), old IS NULL AND new IS NULL FROM changes
    WHERE seq > ?1 AND seq <= ?2 AND user = ?3 AND op IS NOT 0 ORDER BY seq LIMIT \(LogPage.rowLimit)
    """)
  private static let selectUser = Query("SELECT 1 FROM users WHERE id = ?1")
  private static let blank = Query("UPDATE changes SET old = NULL, new = NULL WHERE seq = ?1 AND user = ?2")
  private static let deleteUsers = Query("DELETE FROM displaced_users WHERE id = ?1")
  private static let deleteAttributes = Query("DELETE FROM displaced_attributes WHERE user_id = ?1 OR row_user = ?1")

  /// How many rows it changes.
  var count: Int { rows.count }

  /// Finds the next rows of a user.
  ///
  /// - Parameters:
  ///   - user: Whose.
  ///   - start: The row after which to look; nil for the oldest.
  ///   - connection: With a transaction open.
  /// - Throws: what reading can throw.
  init(of user: User.ID, after start: Int64?, _ connection: borrowing Connection) throws(StoreError) {
    self.user = user
    let extent = try LogExtent(connection)
    // Also before the horizon: what is forgotten is not deleted at once.
    let start = start ?? extent.first - 1
    let end = min(start + Self.stretch, extent.head)
    (position, isLast) = (end, end == extent.head)
    let (found, rows) = try Self.load(user, after: start, through: end, connection)
    if let last = found.last, last.isCut { (position, isLast) = (last.sequence, false) }
    self.found = found.count
    self.rows = rows
  }

  private static func load(
    _ user: User.ID, after start: Int64, through end: Int64, _ connection: borrowing Connection
  ) throws(StoreError) -> (found: [(sequence: Int64, isCut: Bool)], rows: [(sequence: Int64, bytes: Int64)]) {
    try storing("read the log") { () throws(SQLiteError) in
      try connection.withStatement(selectRows) { statement throws(SQLiteError) in
        try statement.bind(start, at: 1)
        try statement.bind(end, at: 2)
        try statement.bind(user.rawValue, at: 3)
        var found: [(sequence: Int64, isCut: Bool)] = []
        var rows: [(sequence: Int64, bytes: Int64)] = []
        var bytes = Int64(0)
        while bytes < LogPage.byteLimit, try statement.step() {
          bytes += statement.integer(1)
          found.append((statement.integer(0), bytes >= LogPage.byteLimit || found.count + 1 == LogPage.rowLimit))
          if statement.integer(2) == 0 { rows.append((statement.integer(0), statement.integer(1))) }
        }
        return (found, rows)
      }
    }
  }

  /// Takes the values away, and leaves numbers, kinds, attributes' names and nonces, so that no cursor breaks.
  ///
  /// - Parameter connection: With a write transaction open.
  /// - Throws: `StoreError.userExists`, and what writing can throw.
  func perform(_ connection: borrowing Connection) throws(StoreError) {
    var extent = try LogExtent(connection)
    let exists = try storing("purge user \(user)") { () throws(SQLiteError) in
      try connection.first(Self.selectUser, .integer(user.rawValue)) { _ in true } ?? false
    }
    if exists { throw StoreError(.userExists, "user \(user) is still there; only a removed user can be purged") }
    try storing("purge user \(user)") { () throws(SQLiteError) in
      for row in rows {
        try connection.run(Self.blank, .integer(row.sequence), .integer(user.rawValue))
        extent.shrink(row.sequence, by: row.bytes - LogSize.rowBytes)
      }
      // What a statement left there that failed half-way.
      try connection.run(Self.deleteUsers, .integer(user.rawValue))
      try connection.run(Self.deleteAttributes, .integer(user.rawValue))
      try extent.save(connection)
    }
  }
}
