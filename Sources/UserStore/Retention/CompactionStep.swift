/// One step of a compaction: found in a read transaction, performed in a write transaction that changes at most 1,000 rows.
///
/// The start of the log moves to the end of a change set, because cursors exist nowhere else. The rows before it are deleted in
/// this step or, if the set is huge, in several. Readers of the log ignore them until then.
struct CompactionStep {
  /// The extent in which the step was found.
  let before: LogExtent
  /// The extent after the step, which deletes the rows through `lastRow`.
  private(set) var after: LogExtent
  private(set) var lastRow: Int64
  private(set) var compaction = Compaction()
  /// Whether another step may find more.
  private(set) var isMore = false
  /// Whether rows are left to count, so that the log may be larger than its known size.
  private var isCounting = false
  private let policy: RetentionPolicy
  private let now: Int64

  /// The number of rows that the step deletes.
  var rows: Int64 { max(0, lastRow - before.first + 1) }

  /// The cost in deleted rows: reading a few thousand rows takes about as long as deleting a hundred.
  var cost: Int64 { max(1, rows, isReading ? Int64(PagedChanges.rowLimit / 10) : 0) }

  var isEmpty: Bool { rows == 0 && after.horizon == before.horizon && !isReading }

  /// Whether rows were counted or searched; the result is saved.
  private var isReading: Bool {
    after.measured != before.measured || after.searched != before.searched || after.sized != before.sized
  }

  // MARK: Finding

  /// Finds the next step, in an open transaction; reads a few thousand rows, or a megabyte and a row, however large a set is.
  ///
  /// - Throws: `StoreError.Code.diverged` if rows of the log are missing, and the errors of reading.
  init(
    in extent: LogExtent, keeping policy: RetentionPolicy, at now: Int64, _ session: any Session
  ) throws(StoreError) {
    before = extent
    after = extent
    lastRow = extent.first - 1
    self.policy = policy
    self.now = now
    compaction.horizon = extent.horizon.revision
    try measure(session)
    if extent.first > extent.horizon.revision.rawValue {
      try moveStart(session)
    } else if extent.first < extent.head {
      // Rows that are compacted already are deleted first.
      isMore = true
    }
    let end = min(after.horizon.revision.rawValue, extent.head - 1, extent.lastFree)
    if end > lastRow {
      lastRow = try session.size(after: lastRow, through: end, limit: PagedChanges.rowLimit).last
      if lastRow < end { isMore = true }
    }
    // In a damaged file, rows cannot be found, and every further step would find the same.
    if isMore, isEmpty {
      guard extent.held != nil else { throw Self.damaged }
      isMore = false
    }
  }

  static var damaged: StoreError {
    StoreError(.corrupt, "the database is damaged: rows of the log cannot be found")
  }

  /// Counts rows that were not counted yet, if the log may exceed a limit of its size.
  private mutating func measure(_ session: any Session) throws(StoreError) {
    guard let limit = policy.byteLimit, after.measured < after.head, try mayExceed(limit, session) else { return }
    let (last, bytes) = try session.size(after: after.measured, through: after.head, limit: policy.readRows)
    after.measured = last
    after.bytes += bytes
    isCounting = last < after.head
    if isCounting { isMore = true }
  }

  /// Whether the log may be larger than a limit: `usedBytes` includes its texts and blobs, but a row and its two numbers may take
  /// less than they count.
  private func mayExceed(_ limit: Int64, _ session: any Session) throws(StoreError) -> Bool {
    let (rows, most) = (after.head - after.horizon.revision.rawValue, LogExtent.rowBytes + 2 * LogExtent.numberBytes)
    if rows > limit / most { return true }
    return try session.usedBytes() > limit - rows * most
  }

  private mutating func moveStart(_ session: any Session) throws(StoreError) {
    let start = after.horizon.revision.rawValue
    guard start < after.head else { return }
    // Usually, the oldest change shows that there is nothing to delete.
    let time = try session.time(of: start + 1, before: after.head, at: now)
    let verdict = policy.verdict(through: start + 1, writtenAt: time, bytesAfter: after.bytes, in: after, at: now)
    if verdict == .keep { return }
    let found = try SetEnds(of: after, limit: policy.readRows, session)
    // A search of up to a page is not saved: it is quickly repeated.
    let isNear = found.searched - start <= min(PagedChanges.rowLimit, policy.readRows)
    if found.ends.isEmpty || !isNear { after.searched = found.searched }
    for end in found.ends {
      let isLong = end.sequence - start > PagedChanges.rowLimit || compaction.bytes >= PagedChanges.byteLimit
      if compaction.sets > 0, isLong { break }
      guard try moveStart(to: end, session) else { return }
      // The consumer that was furthest behind is lost; the next step reads the position of the next one.
      if let consumer = before.consumer, consumer < end.sequence { break }
    }
    isMore = isMore || after.horizon.revision.rawValue < after.head
  }

  /// Moves the start of the log to the end of the oldest set if the policy deletes the set, and returns whether it does.
  private mutating func moveStart(to end: SetEnds.End, _ session: any Session) throws(StoreError) -> Bool {
    if end.sequence > before.lastFree { return false }
    let time = try session.time(of: end.sequence, before: after.head, at: now)
    let uncounted = after
    var verdict = verdict(through: end.sequence, writtenAt: time)
    if verdict == .delete || verdict == .needsSize {
      guard try countOldestSet(through: end.sequence, session) else { return false }
      verdict = self.verdict(through: end.sequence, writtenAt: time)
    }
    guard verdict == .delete else {
      // A count of one step is not saved: it is quickly repeated.
      if uncounted.sized == uncounted.horizon.revision.rawValue { (after.sized, after.size) = (uncounted.sized, 0) }
      // When all rows are counted, the set may be beyond the limit for consumers too.
      if verdict == .holdForConsumer { compaction.isHeldByConsumer = !isCounting }
      return false
    }
    let rows = end.sequence - after.horizon.revision.rawValue
    compaction.sets += 1
    compaction.changes += Int(end.hasEndRow ? rows - 1 : rows)
    compaction.bytes += Int(after.size)
    compaction.horizon = Revision(rawValue: end.sequence)
    after.compact(through: Cursor(epoch: after.horizon.epoch, revision: end.sequence, nonce: end.nonce))
    return true
  }

  private func verdict(through end: Int64, writtenAt time: Int64) -> RetentionPolicy.Verdict {
    policy.verdict(through: end, writtenAt: time, bytesAfter: after.bytes(after: end), in: after, at: now)
  }

  /// Counts the oldest set, and returns whether all of it was counted; if not, the next step continues.
  private mutating func countOldestSet(through end: Int64, _ session: any Session) throws(StoreError) -> Bool {
    if after.sized > end { (after.sized, after.size) = (after.horizon.revision.rawValue, 0) }
    let (last, bytes) = try session.size(after: after.sized, through: end, limit: policy.readRows)
    after.sized = last
    after.size += bytes
    if last < end { isMore = true }
    return last == end
  }

  // MARK: Performing

  /// Performs the step, in an open write transaction, if it is still right, and returns whether it was: another process may have
  /// compacted the log, and a new consumer may need the rows.
  ///
  /// - Throws: `StoreError.Code.corrupt` if the rows do not exist, and the errors of writing.
  func perform(_ session: any Session) throws(StoreError) -> Bool {
    let present = try session.extent(assuming: nil)
    guard present.isSame(as: before), present.head >= before.head else { return false }
    let held = min(before.consumer ?? .max, after.horizon.revision.rawValue)
    if let consumer = present.consumer, consumer < held { return false }
    if rows > 0, lastRow > present.lastFree { return false }
    if after.horizon != present.horizon, after.horizon.revision.rawValue > present.lastFree { return false }
    try session.save(after)
    if rows > 0, try session.deleteRows(through: lastRow) == 0 { throw Self.damaged }
    return true
  }
}
