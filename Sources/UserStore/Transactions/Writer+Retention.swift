extension Writer {
  // MARK: After a write

  /// Shortens the log and copies the -wal file, when it is time: after the commit, and after listeners were called.
  ///
  /// A listener is not kept waiting: then another thread does it.
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

  /// What fails here is no harm: it is tried again some writes later.
  private func compactLog(rows limit: Int64) {
    var (rows, isMore) = (Int64(0), true)
    // One that only reads may have another one after it.
    while isMore, rows + Int64(PagedChanges.rowLimit) <= limit + Int64(PagedChanges.rowLimit / 10) {
      guard let step = try? forget(keeping: compactor.policy, isWaiting: false) else {
        isMore = false
        break
      }
      rows += step.cost
      isMore = step.isMore
    }
    compactor.end(isMore: isMore)
  }

  // MARK: On demand

  /// Forgets all that a policy does not keep, step by step, and lets others write in between.
  ///
  /// - Parameters:
  ///   - policy: What is kept.
  ///   - isCancelled: Asked between two steps.
  /// - Returns: what was forgotten.
  /// - Throws: `CancellationError`, and what reading and writing can throw. What was forgotten by then stays forgotten.
  func compact(keeping policy: RetentionPolicy?, isCancelled: () -> Bool) throws -> Compaction {
    var compaction = Compaction()
    while true {
      let step = try forget(keeping: policy ?? compactor.policy, isWaiting: true)
      compaction.add(step.compaction)
      checkpointIfNeeded()
      if !step.isMore { return compaction }
      if isCancelled() { throw CancellationError() }
      // Whoever waits for the lock looks for it only now and then.
      SystemThread.sleep(milliseconds: 1)
    }
  }

  /// Finds and does one step.
  private func forget(keeping policy: RetentionPolicy, isWaiting: Bool) throws(StoreError) -> CompactionStep {
    var refused: LogExtent?
    while true {
      let step = try reader.reading { transaction throws(StoreError) in
        let session = try transaction.session
        let extent = try session.extent(assuming: nil)
        return try CompactionStep(in: extent, keeping: policy, at: compactor.clock(), session)
      }
      if step.isEmpty { return step }
      if try maintain(isWaiting: isWaiting, { session throws(StoreError) in try step.perform(session) }) { return step }
      // Refused because of what somebody else has done meanwhile: then the next one is another.
      if refused == step.before { throw CompactionStep.damaged }
      refused = step.before
    }
  }

  // MARK: Purging

  /// Blanks what the log has of a removed user, step by step, then sees to it that no copy is left in the -wal file.
  ///
  /// - Throws: `StoreError.Code.userExists`, `CancellationError`, and what reading and writing can throw.
  func purge(_ user: User.ID, vacuums: Bool, isCancelled: () -> Bool) throws -> Purge {
    var purge = Purge()
    var position: Int64?
    var isLast = false
    while !isLast {
      let step = try reader.reading { [position] transaction throws(StoreError) in
        try PurgeStep(of: user, after: position, transaction.session)
      }
      // The first one also if it finds nothing: only the write lock shows whether the user exists.
      if step.count > 0 || position == nil {
        _ = try maintain { session throws(StoreError) in
          try step.perform(session)
          return true
        }
        checkpointIfNeeded()
      }
      purge.found += step.found
      purge.blanked += step.count
      (position, isLast) = (step.position, step.isLast)
      if isCancelled() { throw CancellationError() }
    }
    if vacuums { try engine.vacuum() }
    purge.isErased = try eraseOldPages()
    return purge
  }

  /// - Returns: false when another program's transaction needs the old pages for longer than a second.
  private func eraseOldPages() throws(StoreError) -> Bool {
    for attempt in 0..<50 {
      // Nothing reports that another program's read has ended.
      if attempt > 0 { SystemThread.sleep(milliseconds: 20) }
      try store.enter()
      defer { store.leave() }
      let isErased = try alone { () throws(StoreError) in
        try connection.checkUsable()
        return try connection.withSession { session throws(StoreError) in
          try engine.eraseOldPages(holding: session)
        }
      }
      if isErased { return true }
    }
    return false
  }
}

extension Reader {
  /// What `Writer.compact` would forget now.
  ///
  /// Read in short transactions, so that the -wal file can be cleaned up meanwhile.
  func compactionPreview(keeping policy: RetentionPolicy, at now: Int64) throws(StoreError) -> Compaction {
    var compaction = Compaction()
    var known: LogExtent?
    while true {
      let step = try reading { transaction throws(StoreError) in
        let session = try transaction.session
        var extent = try session.extent(assuming: known)
        // As if the rows before the horizon were deleted already.
        extent.first = max(extent.first, min(extent.horizon.revision.rawValue + 1, extent.head))
        return try CompactionStep(in: extent, keeping: policy, at: now, session)
      }
      compaction.add(step.compaction)
      if !step.isMore { return compaction }
      known = step.after
    }
  }
}
