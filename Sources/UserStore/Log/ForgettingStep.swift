/// One step of forgetting: found in a read transaction, done in a write transaction that changes at most 1,000 rows.
///
/// The horizon moves to the end of a set, as consumers get sets: cursors exist nowhere else. The rows before it follow,
/// in this step or, of a huge set, in several: they are no part of the log any more, whoever reads it looks at the horizon.
struct ForgettingStep {
  /// In what it was found.
  let before: LogExtent
  /// What it leaves: horizon and size; the rows through `lastRow` are deleted.
  private(set) var after: LogExtent
  private(set) var lastRow: Int64
  private(set) var forgotten = Compaction()
  /// Whether another step may find more.
  private(set) var isMore = false
  /// Whether the log is larger than is known yet: the next step counts on.
  private var isCounting = false

  private static let selectTime = Query("SELECT at FROM changes WHERE seq = ?1")
  private static let deleteRows = Query("DELETE FROM changes WHERE seq <= ?1")

  /// How many rows it deletes.
  var rows: Int64 { max(0, lastRow - before.first + 1) }

  /// Whether there is nothing to do.
  var isEmpty: Bool {
    rows == 0 && after.horizon == before.horizon && after.measured == before.measured
  }

  // MARK: Finding

  /// Finds the next step.
  ///
  /// - Parameters:
  ///   - extent: What is there.
  ///   - policy: How much of it is to be kept.
  ///   - now: From when ages are counted, in milliseconds since 1970.
  ///   - connection: With a transaction open.
  /// - Throws: `StoreError.diverged` when rows of the log are missing, and what reading can throw.
  init(
    in extent: LogExtent, keeping policy: HistoryPolicy, at now: Int64, _ connection: borrowing Connection
  ) throws(StoreError) {
    before = extent
    after = extent
    lastRow = extent.first - 1
    forgotten.horizon = extent.horizon.revision
    try measure(policy, connection)
    if extent.first > extent.horizon.revision.rawValue {
      try moveHorizon(HistoryBounds(policy, in: after, at: now), connection)
    } else if extent.first < extent.head {
      // What is forgotten already goes first.
      isMore = true
    }
    let end = min(after.horizon.revision.rawValue, extent.head - 1)
    if end > lastRow {
      lastRow = try LogSize.step(after: lastRow, through: end, connection).last
      if lastRow < end { isMore = true }
    }
    // In a damaged file: what is there cannot be found, and every further step would find the same.
    if isMore, isEmpty { throw Self.damaged }
  }

  static var damaged: StoreError {
    StoreError(.corrupt, "the database is damaged: rows of its log are counted that cannot be found")
  }

  /// Counts what was not counted yet, if there is a limit that the log may be over.
  private mutating func measure(_ policy: HistoryPolicy, _ connection: borrowing Connection) throws(StoreError) {
    guard let limit = policy.byteLimit, after.measured < after.head, try LogSize.upperBound(connection) > limit else {
      return
    }
    let (last, bytes) = try LogSize.step(after: after.measured, through: after.head, connection)
    after.measured = last
    after.bytes += bytes
    isCounting = last < after.head
    if isCounting { isMore = true }
  }

  private mutating func moveHorizon(_ bounds: HistoryBounds, _ connection: borrowing Connection) throws(StoreError) {
    let start = after.horizon.revision.rawValue
    guard start < after.head else { return }
    // Most of the time the oldest change shows that there is nothing to do.
    let time = try Self.time(of: start + 1, connection)
    guard bounds.mayGo(through: start + 1, at: time, bytesAfter: after.bytes) else { return }
    let page = try LogPage(after: after.horizon, through: after.head, connection) { _, _ in ([], 0) }
    for set in page.sets {
      if forgotten.sets > 0, set.revision.rawValue - start > LogPage.rowLimit { break }
      guard try take(set, bounds, connection) else { return }
      // The one that was the furthest back is lost; the next step asks for the others.
      if let consumer = before.consumer, consumer < set.revision.rawValue { break }
    }
    isMore = isMore || after.horizon.revision.rawValue < after.head
  }

  /// Forgets a set, if it may be.
  private mutating func take(
    _ set: ChangeSet, _ bounds: HistoryBounds, _ connection: borrowing Connection
  ) throws(StoreError) -> Bool {
    let (start, end) = (after.horizon.revision.rawValue, set.revision.rawValue)
    let bytes = try LogSize.bytes(after: start, through: end, connection)
    let isCounted = end <= after.measured
    let time = try Self.time(of: end, connection)
    let rest = isCounted ? after.bytes - bytes : 0
    guard bounds.mayGo(through: end, at: time, bytesAfter: rest) else { return false }
    if bounds.isHeld(through: end, at: time, bytesAfter: rest) {
      // What is counted by then may be beyond the limit for consumers too.
      forgotten.isHeldByConsumer = !isCounting
      return false
    }
    after.horizon = set.cursor
    after.measured = max(after.measured, end)
    after.bytes = rest
    forgotten.sets += 1
    forgotten.changes += set.count(after: start)
    forgotten.bytes += Int(bytes)
    forgotten.horizon = set.revision
    return true
  }

  private static func time(of sequence: Int64, _ connection: borrowing Connection) throws(StoreError) -> Int64 {
    try storing("read the log") { () throws(SQLiteError) in
      try connection.first(selectTime, .integer(sequence)) { $0.integer(0) } ?? .min
    }
  }

  // MARK: Doing

  /// Does it, if it is still right.
  ///
  /// - Parameter connection: With a write transaction open.
  /// - Returns: whether it was: somebody else may have forgotten meanwhile, or a consumer may have come.
  /// - Throws: `StoreError.corrupt` when its rows were not there, and what writing can throw.
  func perform(_ connection: borrowing Connection) throws(StoreError) -> Bool {
    let present = try LogExtent(connection)
    guard present.horizon == before.horizon, present.first == before.first, present.measured == before.measured,
      present.bytes == before.bytes, present.head >= before.head
    else { return false }
    let held = min(before.consumer ?? .max, after.horizon.revision.rawValue)
    if let consumer = present.consumer, consumer < held { return false }
    try storing("forget old changes") { () throws(SQLiteError) in
      try after.save(connection)
      if rows > 0 { try connection.run(Self.deleteRows, .integer(lastRow)) }
    }
    if rows > 0, connection.changedRows == 0 { throw Self.damaged }
    return true
  }
}

extension ChangeSet {
  /// How many changes it has, when it begins after a row.
  fileprivate func count(after start: Int64) -> Int {
    switch content {
    case .held(let changes): changes.count
    case .paged: Int(revision.rawValue - start) - (isForeign ? 0 : 1)
    case .reset: 0
    }
  }
}
