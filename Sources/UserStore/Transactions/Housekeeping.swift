/// What a writer keeps in order beside its writes: the length of the log.
final class Housekeeping: Sendable {
  let policy: HistoryPolicy
  /// Milliseconds since 1970.
  let clock: @Sendable () -> Int64
  /// For what is awaited, and for what is due while a listener is being called.
  let thread = WorkerThread(name: "userstore-keep")
  private let schedule = Lock(KeepingSchedule())

  init(_ configuration: Configuration) {
    policy = configuration.history
    clock = configuration.wallClock
  }

  func wrote(rows: Int64, walPages: Int) {
    schedule.withLock { $0.wrote(rows: rows, walPages: walPages) }
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

extension Writer {
  // MARK: After a write

  /// Shortens the log and copies the -wal file, when it is time: after the commit, and after listeners were called.
  ///
  /// A listener is not kept waiting: then another thread does it.
  func keepHouse() {
    if let rows = housekeeping.begin() {
      if DeliveryThread.current.isBusy {
        let isAccepted = try? housekeeping.thread.run {
          self.shortenLog(rows: rows)
          self.checkpointIfNeeded()
        }
        if isAccepted != true { housekeeping.end(isMore: true) }
      } else {
        shortenLog(rows: rows)
      }
    }
    checkpointIfNeeded()
  }

  /// What fails here is no harm: it is tried again some writes later.
  private func shortenLog(rows limit: Int64) {
    var (rows, isMore) = (Int64(0), true)
    // One that only reads may have another one after it.
    while isMore, rows + Int64(LogPage.rowLimit) <= limit + Int64(LogPage.rowLimit / 10) {
      guard let step = try? forget(keeping: housekeeping.policy, isWaiting: false) else {
        isMore = false
        break
      }
      rows += step.cost
      isMore = step.isMore
    }
    housekeeping.end(isMore: isMore)
  }

  // MARK: On demand

  /// Forgets all that a policy does not keep, step by step, and lets others write in between.
  ///
  /// - Parameters:
  ///   - policy: What is kept.
  ///   - isCancelled: Asked between two steps.
  /// - Returns: what was forgotten.
  /// - Throws: `CancellationError`, and what reading and writing can throw. What was forgotten by then stays forgotten.
  func compact(keeping policy: HistoryPolicy?, isCancelled: () -> Bool) throws -> Compaction {
    var compaction = Compaction()
    while true {
      let step = try forget(keeping: policy ?? housekeeping.policy, isWaiting: true)
      compaction.add(step.forgotten)
      checkpointIfNeeded()
      if !step.isMore { return compaction }
      if isCancelled() { throw CancellationError() }
      // Whoever waits for the lock looks for it only now and then.
      SystemThread.sleep(milliseconds: 1)
    }
  }

  /// Finds and does one step.
  private func forget(keeping policy: HistoryPolicy, isWaiting: Bool) throws(StoreError) -> ForgettingStep {
    var refused: LogExtent?
    while true {
      let step = try reader.reading { transaction throws(StoreError) in
        let extent = try LogExtent(transaction.lease.connection)
        return try ForgettingStep(in: extent, keeping: policy, at: housekeeping.clock(), transaction.lease.connection)
      }
      if step.isEmpty { return step }
      let pages = try maintain(isWaiting: isWaiting) { connection throws(StoreError) in try step.perform(connection) }
      if pages != nil { return step }
      // Refused because of what somebody else has done meanwhile: then the next one is another.
      if refused == step.before { throw ForgettingStep.damaged }
      refused = step.before
    }
  }
}

extension Reader {
  /// What `Writer.compact` would forget now.
  ///
  /// Read in short transactions, so that the -wal file can be cleaned up meanwhile.
  func forgettable(keeping policy: HistoryPolicy, at now: Int64) throws(StoreError) -> Compaction {
    var compaction = Compaction()
    var known: LogExtent?
    while true {
      let step = try reading { transaction throws(StoreError) in
        var extent = try LogExtent(transaction.lease.connection, assuming: known)
        // As if the rows before the horizon were deleted already.
        extent.first = max(extent.first, min(extent.horizon.revision.rawValue + 1, extent.head))
        return try ForgettingStep(in: extent, keeping: policy, at: now, transaction.lease.connection)
      }
      compaction.add(step.forgotten)
      if !step.isMore { return compaction }
      known = step.after
    }
  }
}

extension Compaction {
  fileprivate mutating func add(_ other: Compaction) {
    sets += other.sets
    changes += other.changes
    bytes += other.bytes
    horizon = max(horizon, other.horizon)
    isHeldByConsumer = isHeldByConsumer || other.isHeldByConsumer
  }
}
