import UserStore

// A COMMIT of unknown outcome.
extension PostgresSession {
  /// Finds out whether a COMMIT took effect: looks in the log for a set with one of the random numbers, and returns its end.
  ///
  /// The old transaction may still be open on the server; it has ended when a new one gets the writers' lock. The new one also
  /// commits: a server that waits for a synchronous standby then ensures that the standby has all earlier commits.
  ///
  /// - Throws: `.connectionLost` if the transaction was not committed; `.commitUnknown` if no server answers in time.
  func decide(_ start: Cursor, _ nonces: [Int64], _ loss: StoreError) throws(StoreError) -> Cursor {
    let deadline = ContinuousClock.now + decisionLimit
    while true {
      var found: PostgresResult?
      do throws(StoreError) {
        try connection.reconnect()
        var batch = PostgresBatch()
        batch.add(.begin)
        batch.add(Self.beginWriting, .bool(true))
        found = batch.add(Self.selectSet, .int8(start.revision.rawValue), .text(Self.list(nonces)))
        batch.add(Self.leaveMark)
        batch.add(.commit)
        try connection.run(batch)
        rollBack()
        if let end = try found?.first(make: { Cursor($0) }) { return end }
      } catch  where error.postgres?.kind == .unreplicated {
        // The outcome is known, but not whether the standby has it.
        rollBack()
        if found?.first != nil { throw error }
      } catch {
        guard error.postgres?.kind != .interrupted, ContinuousClock.now < deadline else {
          throw StoreError(unknown: error)
        }
        // The server may be starting.
        connection.interrupter.wait(for: Self.retryInterval)
        continue
      }
      throw StoreError(.connectionLost, "the connection was lost before COMMIT: \(loss)", cause: loss.cause)
    }
  }

  private static let retryInterval = Duration.milliseconds(50)
}
