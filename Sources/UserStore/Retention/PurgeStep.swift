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

  /// How many rows it changes.
  var count: Int { rows.count }

  /// Finds the next rows of a user.
  ///
  /// - Parameters:
  ///   - user: The removed user.
  ///   - start: The row after which to look; nil for the oldest.
  ///   - session: With a transaction open.
  /// - Throws: what reading can throw.
  init(of user: User.ID, after start: Int64?, _ session: any Session) throws(StoreError) {
    self.user = user
    let extent = try session.extent(assuming: nil)
    // Also before the horizon: rows are not deleted at once.
    let start = start ?? extent.first - 1
    let end = min(start + Self.stretch, extent.head)
    let changes = try session.changes(of: user, after: start, through: end)
    let bytes = changes.reduce(0) { $0 + $1.bytes }
    let isCut = changes.count == PagedChanges.rowLimit || bytes >= PagedChanges.byteLimit
    if isCut, let last = changes.last {
      (position, isLast) = (last.sequence, false)
    } else {
      (position, isLast) = (end, end == extent.head)
    }
    found = changes.count
    rows = changes.filter { !$0.isBlank }.map { ($0.sequence, $0.bytes) }
  }

  /// Removes the values, and leaves numbers, kinds, attributes' names and nonces, so that no cursor breaks.
  ///
  /// - Parameter session: With a write transaction open.
  /// - Throws: `StoreError.Code.userExists`, and what writing can throw.
  func perform(_ session: any Session) throws(StoreError) {
    var extent = try session.extent(assuming: nil)
    if try !session.value("name", of: user).isNull {
      throw StoreError(.userExists, "user \(user) is still there; only a removed user can be purged")
    }
    for row in rows {
      try session.blank(row.sequence, of: user)
      extent.shrink(row.sequence, by: row.bytes - LogExtent.rowBytes)
    }
    try session.clearLeftovers(of: user)
    try session.save(extent)
  }
}
