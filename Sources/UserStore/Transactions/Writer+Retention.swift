extension Writer {
  // MARK: After a write

  /// Compacts the log and runs a checkpoint if they are due, after the delivery; for a write in a listener, another thread does
  /// the compaction.
  func maintainAfterWrite() {
    if let rows = compactor.begin() {
      if DeliveryThread.current.isBusy {
        let isAccepted = try? compactor.thread.run {
          self.compactLog(rows: rows)
          self.checkpointIfNeeded()
        }
        if isAccepted != true { compactor.end(isMore: true) }
      } else {
        compactLog(rows: rows)
      }
    }
    checkpointIfNeeded()
  }

  /// Ignores errors: the compaction is tried again some writes later.
  private func compactLog(rows limit: Int64) {
    var (rows, isMore) = (Int64(0), true)
    // A step that only reads costs a tenth of one that deletes, and may be followed by another.
    while isMore, rows + Int64(PagedChanges.rowLimit) <= limit + Int64(PagedChanges.rowLimit / 10) {
      guard let step = try? compactStep(keeping: compactor.policy, isWaiting: false) else {
        isMore = false
        break
      }
      rows += step.cost
      isMore = step.isMore
    }
    compactor.end(isMore: isMore)
  }

  // MARK: On demand

  /// Deletes everything that a policy does not keep, step by step, so that others can write in between.
  ///
  /// If it throws, the steps so far are committed. It throws `CancellationError` if `isCancelled` returns true between two steps.
  func compact(keeping policy: RetentionPolicy?, isCancelled: () -> Bool) throws -> Compaction {
    var compaction = Compaction()
    while true {
      let step = try compactStep(keeping: policy ?? compactor.policy, isWaiting: true)
      compaction.add(step.compaction)
      checkpointIfNeeded()
      if !step.isMore { return compaction }
      if isCancelled() { throw CancellationError() }
      // Other processes that wait for the write lock poll it only now and then.
      SystemThread.sleep(milliseconds: 1)
    }
  }

  private func compactStep(keeping policy: RetentionPolicy, isWaiting: Bool) throws(StoreError) -> CompactionStep {
    var refused: LogExtent?
    while true {
      // After a write, it does not wait for a session: long reads would hold up writers.
      let step = try reader.reading(isWaiting: isWaiting) { transaction throws(StoreError) in
        let session = try transaction.session
        let extent = try session.extent(assuming: nil)
        return try CompactionStep(in: extent, keeping: policy, at: compactor.clock(), session)
      }
      if step.isEmpty { return step }
      if try maintain(isWaiting: isWaiting, { session throws(StoreError) in try step.perform(session) }) { return step }
      // Refused because another program changed the log in the meantime: then the next step starts from another extent.
      if refused == step.before { throw CompactionStep.damaged }
      refused = step.before
    }
  }

  // MARK: Purging

  /// Blanks the values of a removed user in the log, step by step, then removes copies of them from the -wal file.
  ///
  /// It asks `isCancelled` between two steps, but not after the last one: then the values are blanked, and only the copies remain.
  /// The first step that blanks a value appends a note. A purge that finds no value appends none.
  ///
  /// - Throws: `StoreError.Code.userExists`, `CancellationError`, and what reading and writing can throw.
  func purge(_ user: User.ID, vacuums: Bool, isCancelled: () -> Bool) throws -> Purge {
    let files = vacuums ? try engine.files() : nil
    var purge = Purge()
    var position: Int64?
    var isLast = false
    while !isLast {
      let step = try reader.reading { [position] transaction throws(StoreError) in
        try PurgeStep(of: user, after: position, transaction.session)
      }
      // A replica may have values that the log here has forgotten.
      if try step.count > 0 ? purge.blanked == 0 : position == nil && hasReplicas {
        try performAndNote(step)
      } else if step.count > 0 || position == nil {
        // The first step is performed even if it finds nothing: only the write lock shows whether the user exists.
        try perform(step)
      }
      purge.found += step.found
      purge.blanked += step.count
      (position, isLast) = (step.position, step.isLast)
      if !isLast, isCancelled() { throw CancellationError() }
    }
    try files?.vacuum()
    purge.isErased = try eraseOldPages()
    return purge
  }

  private var hasReplicas: Bool {
    get throws(StoreError) {
      try reader.reading { transaction throws(StoreError) in try transaction.session.server() != nil }
    }
  }

  private func perform(_ step: PurgeStep) throws(StoreError) {
    _ = try maintain { session throws(StoreError) in
      try session.replicated?.requireDecided(step.user)
      try step.perform(session)
      return true
    }
    checkpointIfNeeded()
  }

  /// Performs a step, and notes in the same transaction that the user is purged, for others that keep a copy of the log.
  private func performAndNote(_ step: PurgeStep) throws {
    do {
      try write(origin: nil) { transaction in
        let session = try transaction.session
        try session.replicated?.requireDecided(step.user)
        try step.perform(session)
        try session.append(.purged(step.user))
      }
    } catch StoreError.Code.schemaTooOld {
      // The owner of a server's schema has not migrated it: until then, its log has no notes.
      try perform(step)
    }
  }

  /// - Returns: False if a transaction of another program needs the old pages for longer than a second.
  func eraseOldPages() throws(StoreError) -> Bool {
    for attempt in 0..<50 {
      // Polled: nothing reports that another program's read has ended.
      if attempt > 0 { SystemThread.sleep(milliseconds: 20) }
      try store.enter()
      defer { store.leave() }
      let isErased = try withTurn { () throws(StoreError) in
        try session.withSession { session throws(StoreError) in try engine.eraseOldPages(holding: session) }
      }
      if isErased { return true }
    }
    return false
  }
}

extension Reader {
  /// Returns what `Writer.compact` would delete now.
  ///
  /// Reads in short transactions, so that checkpoints can reset the -wal file in between.
  /// It throws `StoreError.Code.closed` if `shouldContinue` returns false between two of them.
  func compactionPreview(
    keeping policy: RetentionPolicy, at now: Int64, while shouldContinue: () -> Bool
  ) throws(StoreError) -> Compaction {
    var compaction = Compaction()
    var assumed: LogExtent?
    while true {
      let step = try reading { transaction throws(StoreError) in
        let session = try transaction.session
        var extent = try session.extent(assuming: assumed)
        // As if the rows before the horizon had already been deleted.
        extent.first = max(extent.first, min(extent.horizon.revision.rawValue + 1, extent.head))
        return try CompactionStep(in: extent, keeping: policy, at: now, session)
      }
      compaction.add(step.compaction)
      if !step.isMore { return compaction }
      guard shouldContinue() else { throw SessionPool.closed }
      assumed = step.after
    }
  }
}
