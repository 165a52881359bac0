/// When the store looks whether its log is too long: counters in memory, so that a write that finds nothing due pays
/// for a comparison.
struct CompactionSchedule {
  /// So many rows, or pages of the -wal file, are written between two looks.
  private static let amount = 1_000
  /// And so much time passes, in milliseconds: an hour, for stores that are seldom written.
  private static let interval: Int64 = 3_600_000

  private var rows: Int64 = 0
  private var pages = 0
  private var logPages = 0
  private var lookedAt = Int64.min
  /// The first write looks: a short process may make no other.
  private var isMore = true
  private var isLooking = false

  /// A write was committed.
  ///
  /// - Parameters:
  ///   - rows: How many rows of the log it wrote.
  ///   - logPages: How many pages the write-ahead log has now.
  mutating func wrote(rows: Int64, logPages: Int) {
    self.rows += rows
    pages += logPages < self.logPages ? logPages : logPages - self.logPages
    self.logPages = logPages
  }

  /// Begins a look, if it is time for one and nobody is at it.
  ///
  /// - Returns: how many rows it may delete: as many as were written since the last one and a step more, so that no write
  ///   is long, and the log grows under no load.
  mutating func begin(at now: Int64) -> Int64? {
    let isDue =
      isMore || rows >= Self.amount || pages >= Self.amount || !(lookedAt...).contains(now)
      || now - lookedAt >= Self.interval
    if !isDue || isLooking { return nil }
    defer { (rows, pages, lookedAt, isLooking) = (0, 0, now, true) }
    return rows + Int64(PagedChanges.rowLimit)
  }

  /// Ends it.
  ///
  /// - Parameter isMore: Whether the next write is to go on.
  mutating func end(isMore: Bool) {
    (self.isMore, isLooking) = (isMore, false)
  }
}
