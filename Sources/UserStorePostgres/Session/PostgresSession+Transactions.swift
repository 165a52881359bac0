import UserStore

extension PostgresSession {
  private static let release = PostgresStatement("write", "RELEASE SAVEPOINT member")
  private static let savepoint = PostgresStatement("write", "SAVEPOINT member")
  private static let rollBackToSavepoint = PostgresStatement("undo a write", "ROLLBACK TO SAVEPOINT member")
  static let beginWriting = PostgresStatement(
    "write", "SELECT epoch, seq, nonce FROM userstore.begin_writing($1)", .bool)

  /// A transaction is open even before its BEGIN is sent.
  var transaction: TransactionState {
    if !hasBegun { return .none }
    return switch connection.transactionStatus {
    case .failed: .failed
    case .inTransaction: .open
    default: due.isEmpty ? .none : .open
    }
  }

  /// `look` reads the page after the position and what is needed to verify it; if that suffices, the due BEGIN is never sent.
  func beginReading(after position: Cursor?) throws(StoreError) {
    snapshot = nil
    if let position, !connection.mayBeReplica {
      if ahead?.position != position { _ = try look(after: position) }
    } else {
      ahead = nil
    }
    (due, hasBegun) = ([Due(statement: .beginReading)], true)
    if connection.mayBeReplica { due.append(Due(statement: Self.selectSnapshot, meaning: .snapshot)) }
  }

  /// Reads the state of the log and the rows after a position in one round trip; returns the end of the log.
  private func look(after position: Cursor) throws(StoreError) -> Cursor {
    ahead = nil
    let revision = PostgresValue.int8(position.revision.rawValue)
    let (state, rows) = try send { batch in
      batch.add(.beginReading)
      let state = batch.add(Self.selectLook, revision)
      let rows = batch.add(Self.selectRowsToEnd, revision)
      batch.add(.rollback)
      return (state, rows)
    }
    let found = try state.first { row in
      (end: Cursor(row, from: 5), state: LogState(row, at: position.revision.rawValue))
    }
    guard let found else { throw Self.noMeta }
    let look = LogAhead(position: position, end: found.end, state: found.state, rows: rows)
    // Beyond a page, finding a set longer than the page may need the same state of the log.
    if look.isComplete { ahead = look }
    return found.end
  }

  func beginWriting(isWaiting: Bool) {
    due = [
      Due(statement: .begin), Due(statement: Self.beginWriting, values: [.bool(isWaiting)], meaning: .start),
    ]
    hasBegun = true
    write = Write()
    (ahead, snapshot) = (nil, nil)
  }

  var writingStart: (end: Cursor, isRead: Bool)? { write?.start.map { ($0, $0 != knownEnd) } }

  /// Returns the end of the log at the start of the open write.
  func startOfWrite() throws(StoreError) -> Cursor {
    if let start = write?.start { return start }
    try sendDue()
    guard let start = write?.start else { throw Self.noMeta }
    return start
  }

  func savepoint() {
    due.append(Due(statement: Self.savepoint, meaning: .savepoint))
    if let write { self.write?.savepoints.append((write.sets.count, write.mayHaveLogged, write.base)) }
  }

  func releaseSavepoint() {
    due.append(Due(statement: Self.release))
    _ = write?.savepoints.popLast()
  }

  func rollBackToSavepoint() throws(StoreError) {
    if case .savepoint? = due.last?.meaning {
      // Nothing was sent after the savepoint.
      due.removeLast()
    } else {
      try pipeline { batch in
        batch.add(Self.rollBackToSavepoint)
        batch.add(Self.release)
      }
    }
    guard var write, let saved = write.savepoints.popLast() else { return }
    write.sets.removeLast(write.sets.count - saved.sets)
    write.mayHaveLogged = saved.mayHaveLogged
    // A place that was fixed after the savepoint is free again.
    write.base = saved.base
    self.write = write
  }

  /// Adds a statement to send before the next one; `index` is the set that it ends.
  func addDue(_ statement: PostgresStatement, _ values: [PostgresValue], endingSet index: Int? = nil) {
    due.append(Due(statement: statement, values: values, meaning: index.map { .end($0) } ?? .nothing))
  }

  /// Commits in one round trip.
  ///
  /// Taking the place in the log delays other commits, so the rows up to the end of the transaction's own are complete and final.
  /// A write that logs nothing, such as an acknowledgment, can be repeated, so its lost COMMIT needs no decision.
  func commit(readingAfter position: Cursor?) throws(StoreError) -> (end: Cursor, writtenPages: Int) {
    (try commitRows(readingAfter: position), 0)
  }

  private func commitRows(readingAfter position: Cursor?) throws(StoreError) -> Cursor {
    let start = try startOfWrite()
    guard let nonces = write?.sets.map(\.nonce), !nonces.isEmpty else {
      do throws(StoreError) { try run(.commit) } catch { throw error.ofCommit }
      finish(at: knownEnd)
      return start
    }
    // The end of a lone set needs no separate statement.
    var end: [PostgresValue]?
    if nonces.count == 1, due.last?.statement.index == Self.endSet.index { end = due.removeLast().values }
    let (place, rows): (PostgresResult, PostgresResult?)
    do throws(StoreError) {
      (place, rows) = try send { batch in
        let place = if let end { batch.add(Self.endWriting, end) } else { batch.add(Self.place) }
        let rows = position.map { batch.add(Self.selectRowsToEnd, .int8($0.revision.rawValue)) }
        batch.add(.commit)
        return (place, rows)
      }
    } catch {
      guard error.postgres?.isOutcomeUnknown == true else { throw error.ofCommit }
      return try decide(start, nonces, error)
    }
    var cursor = start
    // The lone set has rows if anything was logged.
    if let last = try place.first(make: { $0.int8OrNil(0) }) ?? nil,
      let set = end == nil ? write?.lastSet : write?.sets.first
    {
      cursor = Cursor(epoch: start.epoch, revision: last, nonce: set.nonce)
    }
    finish(at: cursor)
    if let position, let rows { ahead = LogAhead(position: position, rows: rows) }
    return cursor
  }

  private func finish(at end: Cursor?) {
    knownEnd = end
    (write, hasBegun) = (nil, false)
  }

  func interrupt() { connection.interrupter.stop() }

  func rollBack() {
    connection.interrupter.resume()
    (due, hasBegun, ahead, snapshot) = ([], false, nil, nil)
    if write != nil { (knownEnd, write) = (nil, nil) }
    if [.inTransaction, .failed].contains(connection.transactionStatus) {
      do throws(StoreError) { try connection.run(PostgresStatement.rollback) } catch {
        // The server rolls back when it notices the closed connection.
        connection.close()
      }
    }
  }

  /// Includes more than the number of the end: after a failover, another log may end at the same number.
  func commitCounter(beforeReadingAfter position: Cursor) throws(StoreError) -> Int64 {
    let end = try connection.mayBeReplica ? logEnd() : look(after: position)
    return end.revision.rawValue ^ end.nonce ^ end.epoch
  }
}
