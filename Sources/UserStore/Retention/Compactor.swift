/// The policy, clock, schedule and thread with which a writer compacts the log.
final class Compactor: Sendable {
  let policy: RetentionPolicy
  /// The time in milliseconds since 1970.
  let clock: @Sendable () -> Int64
  /// Runs a compaction that is due while a listener is being called.
  let thread = WorkerThreads(name: "userstore-keep", limit: 1)
  private let schedule = Lock(CompactionSchedule())

  init(_ configuration: Configuration) {
    policy = configuration.retention
    clock = configuration.wallClock
  }

  func wrote(rows: Int64, pages: Int) {
    schedule.withLock { $0.wrote(rows: rows, logPages: pages) }
  }

  /// How many rows may be deleted now, until `end` is called; nil if nothing is due.
  func begin() -> Int64? {
    if policy.limits == .none { return nil }
    let now = clock()
    return schedule.withLock { $0.begin(at: now) }
  }

  func end(isMore: Bool) {
    schedule.withLock { $0.end(isMore: isMore) }
  }
}

/// Decides when to look for rows to delete, from counters in memory: while nothing is due, a write only pays for comparisons.
struct CompactionSchedule {
  /// A look is due after this many rows, or pages of the -wal file.
  private static let amount = 1_000
  /// A look is also due after an hour, in milliseconds, for stores that are seldom written.
  private static let interval: Int64 = 3_600_000

  private var rows: Int64 = 0
  private var pages = 0
  private var logPages = 0
  private var lookedAt = Int64.min
  /// The first write looks: a short process may make no other.
  private var isMore = true
  private var isLooking = false

  /// Records a commit that wrote `rows` to the log; the write-ahead log has `logPages` now.
  mutating func wrote(rows: Int64, logPages: Int) {
    self.rows += rows
    pages += logPages < self.logPages ? logPages : logPages - self.logPages
    self.logPages = logPages
  }

  /// Begins a look if one is due and no other thread is looking.
  ///
  /// - Returns: How many rows it may delete: as many as were written since the last look, and a step more, so that no write takes
  ///   long, and the log does not grow under any load.
  mutating func begin(at now: Int64) -> Int64? {
    let isDue =
      isMore || rows >= Self.amount || pages >= Self.amount || !(lookedAt...).contains(now)
      || now - lookedAt >= Self.interval
    if !isDue || isLooking { return nil }
    defer { (rows, pages, lookedAt, isLooking) = (0, 0, now, true) }
    return rows + Int64(PagedChanges.rowLimit)
  }

  /// Ends a look; with `isMore`, the next write continues.
  mutating func end(isMore: Bool) {
    (self.isMore, isLooking) = (isMore, false)
  }
}

extension UserStore.Compaction {
  mutating func add(_ other: Compaction) {
    sets += other.sets
    changes += other.changes
    bytes += other.bytes
    horizon = max(horizon, other.horizon)
    isHeldByConsumer = isHeldByConsumer || other.isHeldByConsumer
  }
}
