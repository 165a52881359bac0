/// One step of forgetting: found in a read transaction, done in a write transaction that changes at most 1,000 rows.
///
/// The horizon moves to the end of a set, as consumers get sets: cursors exist nowhere else. The rows before it follow,
/// in this step or, of a huge set, in several: they are no part of the log any more, whoever reads it looks at the horizon.
struct CompactionStep {
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
  private let policy: RetentionPolicy
  private let now: Int64

  /// How many rows it deletes.
  var rows: Int64 { max(0, lastRow - before.first + 1) }

  /// What it costs, counted in rows that are deleted: to read a few thousand is as dear as to delete a hundred or some.
  var cost: Int64 { max(1, rows, isReading ? Int64(PagedChanges.rowLimit / 10) : 0) }

  /// Whether there is nothing to do.
  var isEmpty: Bool { rows == 0 && after.horizon == before.horizon && !isReading }

  /// Whether the log was looked through further, which is kept.
  private var isReading: Bool {
    after.measured != before.measured || after.searched != before.searched || after.sized != before.sized
  }

  // MARK: Finding

  /// Finds the next step.
  ///
  /// However large a set is, it reads a few thousand rows, or a megabyte, and a row.
  ///
  /// - Parameters:
  ///   - extent: What is there.
  ///   - policy: How much of it is to be kept.
  ///   - now: From when ages are counted, in milliseconds since 1970.
  ///   - session: With a transaction open.
  /// - Throws: `StoreError.Code.diverged` when rows of the log are missing, and what reading can throw.
  init(
    in extent: LogExtent, keeping policy: RetentionPolicy, at now: Int64, _ session: any Session
  ) throws(StoreError) {
    before = extent
    after = extent
    lastRow = extent.first - 1
    self.policy = policy
    self.now = now
    forgotten.horizon = extent.horizon.revision
    try measure(session)
    if extent.first > extent.horizon.revision.rawValue {
      try moveHorizon(RetentionBounds(policy, at: now), session)
    } else if extent.first < extent.head {
      // What is forgotten already goes first.
      isMore = true
    }
    let end = min(after.horizon.revision.rawValue, extent.head - 1)
    if end > lastRow {
      lastRow = try session.size(after: lastRow, through: end, limit: PagedChanges.rowLimit).last
      if lastRow < end { isMore = true }
    }
    // In a damaged file: what is there cannot be found, and every further step would find the same.
    if isMore, isEmpty { throw Self.damaged }
  }

  static var damaged: StoreError {
    StoreError(.corrupt, "the database is damaged: rows of its log are counted that cannot be found")
  }

  /// Counts what was not counted yet, if there is a limit that the log may be over.
  private mutating func measure(_ session: any Session) throws(StoreError) {
    guard let limit = policy.byteLimit, after.measured < after.head, try session.usedBytes() > limit else {
      return
    }
    let (last, bytes) = try session.size(
      after: after.measured, through: after.head, limit: policy.readRows)
    after.measured = last
    after.bytes += bytes
    isCounting = last < after.head
    if isCounting { isMore = true }
  }

  private mutating func moveHorizon(_ bounds: RetentionBounds, _ session: any Session) throws(StoreError) {
    let start = after.horizon.revision.rawValue
    guard start < after.head else { return }
    // Most of the time the oldest change shows that there is nothing to do.
    let time = try time(of: start + 1, session)
    let verdict = bounds.verdict(through: start + 1, at: time, bytesAfter: after.bytes, in: after)
    if case .stays = verdict { return }
    let found = try SetEnds(of: after, limit: policy.readRows, session)
    // Found again in no time, unless it took long.
    let isNear = found.searched - start <= min(PagedChanges.rowLimit, policy.readRows)
    if found.ends.isEmpty || !isNear { after.searched = found.searched }
    for end in found.ends {
      let isLong = end.sequence - start > PagedChanges.rowLimit || forgotten.bytes >= PagedChanges.byteLimit
      if forgotten.sets > 0, isLong { break }
      guard try take(end, bounds, session) else { return }
      // The one that was the furthest back is lost; the next step asks for the others.
      if let consumer = before.consumer, consumer < end.sequence { break }
    }
    isMore = isMore || after.horizon.revision.rawValue < after.head
  }

  /// Forgets a set, if it may be.
  private mutating func take(
    _ end: SetEnds.End, _ bounds: RetentionBounds, _ session: any Session
  ) throws(StoreError) -> Bool {
    let time = try time(of: end.sequence, session)
    let uncounted = after
    var verdict = bounds.verdict(
      through: end.sequence, at: time, bytesAfter: after.bytes(after: end.sequence), in: after)
    switch verdict {
    case .goes, .dependsOnSize:
      guard try size(through: end.sequence, session) else { return false }
      verdict = bounds.verdict(
        through: end.sequence, at: time, bytesAfter: after.bytes(after: end.sequence), in: after)
    case .stays, .isHeld: break
    }
    if case .goes = verdict {
      forget(through: end)
      return true
    }
    // Counted again in no time, unless it took long.
    if uncounted.sized == uncounted.horizon.revision.rawValue { (after.sized, after.size) = (uncounted.sized, 0) }
    // What is counted by then may be beyond the limit for consumers too.
    if case .isHeld = verdict { forgotten.isHeldByConsumer = !isCounting }
    return false
  }

  /// Counts the oldest set.
  ///
  /// - Returns: whether all of it was counted; if not, the next step counts on.
  private mutating func size(through end: Int64, _ session: any Session) throws(StoreError) -> Bool {
    if after.sized > end { (after.sized, after.size) = (after.horizon.revision.rawValue, 0) }
    let (last, bytes) = try session.size(after: after.sized, through: end, limit: policy.readRows)
    after.sized = last
    after.size += bytes
    if last < end { isMore = true }
    return last == end
  }

  private mutating func forget(through end: SetEnds.End) {
    let rows = end.sequence - after.horizon.revision.rawValue
    forgotten.sets += 1
    forgotten.changes += Int(end.isForeign ? rows : rows - 1)
    forgotten.bytes += Int(after.size)
    forgotten.horizon = Revision(rawValue: end.sequence)
    after.forget(through: Cursor(epoch: after.horizon.epoch, revision: end.sequence, nonce: end.nonce))
  }

  private func time(of sequence: Int64, _ session: any Session) throws(StoreError) -> Int64 {
    try LogTime.time(of: sequence, before: after.head, at: now, session)
  }

  // MARK: Doing

  /// Does it, if it is still right.
  ///
  /// - Parameter session: With a write transaction open.
  /// - Returns: whether it was: somebody else may have forgotten meanwhile, or a consumer may have come.
  /// - Throws: `StoreError.Code.corrupt` when its rows were not there, and what writing can throw.
  func perform(_ session: any Session) throws(StoreError) -> Bool {
    let present = try session.extent(assuming: nil)
    guard present.isSame(as: before), present.head >= before.head else { return false }
    let held = min(before.consumer ?? .max, after.horizon.revision.rawValue)
    if let consumer = present.consumer, consumer < held { return false }
    try session.save(after)
    if rows > 0, try session.deleteRows(through: lastRow) == 0 { throw Self.damaged }
    return true
  }
}
