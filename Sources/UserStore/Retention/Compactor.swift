/// What a writer keeps in order beside its writes: the length of the log.
final class Compactor: Sendable {
  let policy: RetentionPolicy
  /// Milliseconds since 1970.
  let clock: @Sendable () -> Int64
  /// For what is awaited, and for what is due while a listener is being called.
  let thread = WorkerThread(name: "userstore-keep")
  private let schedule = Lock(CompactionSchedule())

  init(_ configuration: Configuration) {
    policy = configuration.retention
    clock = configuration.wallClock
  }

  func wrote(rows: Int64, pages: Int) {
    schedule.withLock { $0.wrote(rows: rows, logPages: pages) }
  }

  /// - Returns: how many rows may be deleted now; nil when nothing is due. `end` must follow otherwise.
  func begin() -> Int64? {
    if policy.limits == .none { return nil }
    let now = clock()
    return schedule.withLock { $0.begin(at: now) }
  }

  func end(isMore: Bool) {
    schedule.withLock { $0.end(isMore: isMore) }
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
