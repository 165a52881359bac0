import UserStore

extension PostgresSession {
  /// Runs statements in one round trip, after those that are due.
  ///
  /// The first statements of a transaction on a replica are repeated, for up to `patience`, until the replica has everything that
  /// the store has read before, and the row `awaited` if its log has that epoch.
  ///
  /// - Throws: `.behind` if the replica does not catch up in time.
  func pipeline<Value>(
    awaiting awaited: (revision: Int64, epoch: Int64)? = nil,
    _ body: (inout PostgresBatch) -> Value
  ) throws(StoreError) -> Value {
    ahead = nil
    let begin = due
    let deadline = ContinuousClock.now + patience
    var pause = Self.firstPause
    while true {
      let value = try send(body)
      guard case .snapshot? = begin.last?.meaning, let snapshot, snapshot.isReplica else { return value }
      let isBehindStore = snapshot.end < progress.newestEnd
      let isBehindAwaited = awaited.map { $0.epoch == snapshot.epoch && $0.revision > snapshot.end } ?? false
      guard isBehindStore || isBehindAwaited else { return value }
      let rest = deadline - .now
      if rest <= .zero {
        if isBehindStore { throw .behind(at: snapshot.end, awaiting: progress.newestEnd) }
        return value
      }
      rollBack()
      connection.interrupter.wait(for: min(pause, rest))
      pause = min(pause * 2, Self.longestPause)
      (due, hasBegun) = (begin, true)
    }
  }

  /// The pauses between looks at a replica that is behind, like those of a watcher without events.
  private static let firstPause = Duration.milliseconds(1)
  private static let longestPause = Duration.milliseconds(250)

  func sendDue() throws(StoreError) {
    if !due.isEmpty { try pipeline { _ in } }
  }

  /// Sends a batch, and connects again if the server has closed the idle connection.
  ///
  /// Sending twice is safe: before the first reply, a transaction has had no effect; outside of one, the session only reads.
  func send<Value>(_ body: (inout PostgresBatch) -> Value) throws(StoreError) -> Value {
    let begins = due.first?.statement.effect == .begins
    do throws(StoreError) {
      do throws(StoreError) { return try attempt(body) } catch {
        guard let loss = error.postgres, loss.kind == .connectionLost, !hasBegun || begins && !loss.isOutcomeUnknown
        else { throw error }
      }
      // The next server may be another one, whose different log ends at the same place.
      knownEnd = nil
      try connection.reconnect()
      return try attempt(body)
    } catch {
      // The transaction has ended, even if the caller ignores the error.
      if !connection.isOpen { due = [] }
      throw error
    }
  }

  private func attempt<Value>(_ body: (inout PostgresBatch) -> Value) throws(StoreError) -> Value {
    var batch = PostgresBatch()
    // Read before the snapshot, after which the replica may become the primary. A pooler may repeat an old value, so the snapshot
    // contains one too.
    let wasReplica = connection.isReplica
    let results = due.map { batch.add($0.statement, $0.values) }
    let value = body(&batch)
    // Nothing was sent, and everything remains due.
    if let failure = batch.failure { throw StoreError(failure) }
    do throws(StoreError) { try connection.run(batch) } catch {
      if connection.isOpen {
        try receive(results, wasReplica)
        // Failed statements may belong to an earlier write of the group; then no part can be kept.
        if results.contains(where: { !$0.isComplete }) { rollBack() }
      }
      throw error
    }
    try receive(results, wasReplica)
    return value
  }

  /// Notes the results of the statements that were due, up to the first that failed.
  private func receive(_ results: [PostgresResult], _ wasReplica: Bool) throws(StoreError) {
    let sent = due
    due = []
    for (entry, result) in zip(sent, results) where result.isComplete {
      switch entry.meaning {
      case .nothing, .savepoint, .pushed: break
      case .start: write?.start = try result.first { Cursor($0) }
      case .snapshot: try result.first { begun($0, wasReplica) }
      case .end(let index): write?.sets[index].number = try result.first { $0.int8OrNil(0) } ?? nil
      }
    }
  }

  private func begun(_ head: PostgresRow, _ wasReplica: Bool) {
    let isReplica = head.bool(3) || wasReplica
    snapshot = Snapshot(epoch: head.int8(0), end: head.int8(1), isReplica: isReplica)
    progress.note(head.int8(1))
    if isReplica { progress.isOnReplica = true }
  }

  /// Whether the open transaction reads a replica's log.
  var isOnReplica: Bool { snapshot?.isReplica ?? false }
}
