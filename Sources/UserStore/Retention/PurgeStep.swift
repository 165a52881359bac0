/// One step of a purge: found in a read transaction, performed in a write transaction that changes at most 1,000 rows.
struct PurgeStep {
  let user: User.ID
  private var rows: [(sequence: Int64, bytes: Int64)] = []
  /// The number of rows about the user in the part of the log that was read.
  private(set) var found = 0
  /// Where the next step starts.
  private(set) var position: Int64
  private(set) var isLast: Bool

  /// How many rows are read: the log has no index by user, and read transactions have to be short.
  private static let stretch: Int64 = 100_000

  var count: Int { rows.count }

  /// Finds the next rows of a removed user after `start`, or from the oldest row on, in an open transaction.
  init(of user: User.ID, after start: Int64?, _ session: any Session) throws(StoreError) {
    self.user = user
    let extent = try session.extent(assuming: nil)
    // From the oldest row and not from the start of the log: rows are not deleted at once.
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

  /// Removes the values, in an open write transaction, but no numbers, kinds, names or nonces, so that every cursor stays valid.
  ///
  /// - Throws: `StoreError.Code.userExists`, and the errors of writing.
  func perform(_ session: any Session) throws(StoreError) {
    var extent = try session.extent(assuming: nil)
    if try !session.value(.name, of: user).isNull {
      throw StoreError(.userExists, "user \(user) still exists; only a removed user can be purged")
    }
    try session.blank(rows.map(\.sequence), of: user)
    for row in rows { extent.shrink(row.sequence, by: row.bytes) }
    try session.save(extent)
  }
}
