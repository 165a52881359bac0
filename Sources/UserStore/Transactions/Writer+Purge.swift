extension Writer {
  /// Blanks what the log has of a removed user, step by step, then sees to it that no copy is left in the -wal file.
  ///
  /// - Throws: `StoreError.userExists`, `CancellationError`, and what reading and writing can throw.
  func purge(_ user: User.ID, vacuums: Bool, isCancelled: () -> Bool) throws -> Purge {
    var purge = Purge()
    var position: Int64?
    var isLast = false
    while !isLast {
      let step = try reader.reading { [position] transaction throws(StoreError) in
        try PurgeStep(of: user, after: position, transaction.lease.connection)
      }
      // The first one also if it finds nothing: whether the user exists is known under the write lock only.
      if step.count > 0 || position == nil { try perform(step) }
      purge.found += step.found
      purge.blanked += step.count
      (position, isLast) = (step.position, step.isLast)
      if isCancelled() { throw CancellationError() }
    }
    if vacuums { try checkpoints?.vacuum() }
    purge.isErased = try eraseWAL()
    return purge
  }

  private func perform(_ step: PurgeStep) throws(StoreError) {
    _ = try maintain { connection throws(StoreError) in
      try step.perform(connection)
      return true
    }
    checkpointIfNeeded()
  }

  /// Empties the -wal file, but for one page without values.
  ///
  /// Not with a checkpoint that truncates: that falls back to a passive one when the lock is busy, which our checkpoints
  /// must never be without the lock (`Checkpoints`). Instead all is copied under the lock; the next commit then begins the
  /// file anew and cuts off the rest.
  ///
  /// - Returns: false when another program's transaction kept it from that.
  private func eraseWAL() throws(StoreError) -> Bool {
    guard let checkpoints, let walPath = file?.walPath else { return true }
    for attempt in 0..<50 {
      // For a second altogether: nothing tells when another program's read is over.
      if attempt > 0 { SystemThread.sleep(milliseconds: 20) }
      _ = try maintain { _ in
        checkpoints.run()
        return false
      }
      var pageSize = 0
      let pages = try maintain(shortensWAL: true) { connection throws(StoreError) in
        try storing("purge") { () throws(SQLiteError) in
          try connection.rows("PRAGMA page_size") { pageSize = Int($0.integer(0)) }
          // Writes a page, though nothing in it changes: an UPDATE to the same values would not.
          try connection.execute("PRAGMA application_id = \(Schema.applicationID)")
        }
        return true
      }
      // A header, and one page with its own.
      guard pages == 1, let size = try? Files.size(of: walPath), size <= 32 + 24 + pageSize else { continue }
      do { try checkpoints.syncCut(walPath) } catch { throw StoreError(error, otherwise: .ioError) }
      return true
    }
    return false
  }
}
