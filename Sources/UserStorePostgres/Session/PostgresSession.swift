import UserStore

/// A session of the store on a connection to PostgreSQL.
///
/// What needs no reply at once is sent together with the next statement: a lone write takes two round trips.
///
/// Unchecked: the pool lends it to one thread at a time, and the pool's lock orders their accesses.
final class PostgresSession: Session, @unchecked Sendable {
  let connection: PostgresConnection
  /// What the store's sessions have read; a transaction on a replica must see at least that.
  let progress: PostgresProgress
  /// How long to wait for a replica that is behind.
  private let patience: Duration
  /// How long the server has to tell whether a COMMIT was made whose reply was lost.
  var decisionLimit: Duration
  /// The end of the log that the transaction sees, if the server may be a replica.
  private var snapshot: Snapshot?
  /// What is sent before the next statement, in the same round trip.
  private var due: [Due] = []
  /// Whether a transaction was begun and not ended, even if the server has ended it.
  private var hasBegun = false
  /// The write that is open.
  var write: Write?
  /// The end of the log after the last write of this session.
  private var knownEnd: Cursor?
  /// What was read of the log before it was asked for, in the round trip of another statement.
  private(set) var ahead: LogAhead?

  /// A statement whose result is not needed at once.
  private struct Due {
    let statement: PostgresStatement
    var values: [PostgresValue] = []
    var meaning = Meaning.nothing

    enum Meaning {
      case nothing, savepoint, start, snapshot
      /// The number of the row that ends the set with this index.
      case end(Int)
    }
  }

  private struct Snapshot {
    let epoch: Int64
    let end: Int64
    let isReplica: Bool
  }

  /// An open write transaction.
  struct Write {
    /// The end of the log when it began; nil before the server has reported it.
    ///
    /// The transaction's own rows are counted from there until it has its place.
    var start: Cursor?
    /// The sets that it has ended.
    var sets: [WrittenSet] = []
    /// Whether something may have been logged since the last set ended.
    var mayHaveLogged = false
    /// What a rollback to each savepoint restores.
    var savepoints: [(sets: Int, mayHaveLogged: Bool, base: Int64?)] = []
    /// The place before the transaction's first row; nil until the place is fixed.
    var base: Int64?

    /// The last set that has rows.
    var lastSet: WrittenSet? { sets.last { $0.number != nil } }
  }

  struct WrittenSet {
    let nonce: Int64
    /// The number of its last row; nil if it has no rows, or before the server has reported it.
    var number: Int64?
  }

  private static let release = PostgresStatement("write", "RELEASE SAVEPOINT member")
  private static let savepoint = PostgresStatement("write", "SAVEPOINT member")
  private static let rollBackToSavepoint = PostgresStatement("undo a write", "ROLLBACK TO SAVEPOINT member")
  private static let beginWriting = PostgresStatement(
    "write", "SELECT epoch, seq, nonce FROM userstore.begin_writing($1)", .bool)

  /// Creates a session; `patience` is how long it waits for a replica that is behind, by default the settings' `lockTimeout`.
  init(
    _ connection: PostgresConnection, _ progress: PostgresProgress = PostgresProgress(), patience: Duration? = nil
  ) {
    self.connection = connection
    self.progress = progress
    let settings = connection.settings
    self.patience = patience ?? settings.lockTimeout ?? .zero
    decisionLimit =
      settings.connectTimeout + (settings.idleInTransactionTimeout ?? .zero) + (settings.lockTimeout ?? .zero)
  }

  /// Casts a session of the engine's pools.
  static func own(_ session: any Session) -> PostgresSession {
    guard let own = session as? PostgresSession else { preconditionFailure("a session of another engine") }
    return own
  }

  // MARK: Statements

  /// Runs statements in one round trip, after those that are due.
  ///
  /// The first statements of a transaction on a replica are repeated, up to `patience`, until it sees everything that the store
  /// has read before, and the row `awaited` if its log has that epoch.
  ///
  /// - Throws: `.behind` if the replica does not receive in time what the store has read before.
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

  /// The pauses between looks at a replica that is behind, as those of a watcher without events.
  private static let firstPause = Duration.milliseconds(1)
  private static let longestPause = Duration.milliseconds(250)

  /// Sends what is due, and then nothing is.
  func sendDue() throws(StoreError) {
    if !due.isEmpty { try pipeline { _ in } }
  }

  /// Sends a batch, and connects again if the server has closed the connection while it was idle.
  ///
  /// Until a reply has come, nothing of a transaction has had an effect; outside of one, the session only reads.
  private func send<Value>(_ body: (inout PostgresBatch) -> Value) throws(StoreError) -> Value {
    let begins = due.first?.statement.effect == .begins
    do throws(StoreError) {
      do throws(StoreError) { return try attempt(body) } catch {
        guard let loss = error.postgres, loss.kind == .connectionLost, !hasBegun || begins && !loss.isOutcomeUnknown
        else { throw error }
      }
      // Perhaps another server, with another log that ends at the same place.
      knownEnd = nil
      try connection.reconnect()
      return try attempt(body)
    } catch {
      // The transaction is over, even if the caller ignores the error.
      if !connection.isOpen { due = [] }
      throw error
    }
  }

  private func attempt<Value>(_ body: (inout PostgresBatch) -> Value) throws(StoreError) -> Value {
    var batch = PostgresBatch()
    // Before the snapshot: the replica may become the primary after it. A pooler may repeat an old value, so that the snapshot
    // has one, too.
    let wasReplica = connection.isReplica
    let results = due.map { batch.add($0.statement, $0.values) }
    let value = body(&batch)
    // Nothing is sent, and everything remains due.
    if let failure = batch.failure { throw StoreError(failure) }
    do throws(StoreError) { try connection.run(batch) } catch {
      if connection.isOpen {
        try receive(results, wasReplica)
        // What was due may belong to an earlier write of the group: then no part can be kept.
        if results.contains(where: { !$0.isComplete }) { rollBack() }
      }
      throw error
    }
    try receive(results, wasReplica)
    return value
  }

  /// Notes the results of what was due; those after a failed statement are missing.
  private func receive(_ results: [PostgresResult], _ wasReplica: Bool) throws(StoreError) {
    let sent = due
    due = []
    for (entry, result) in zip(sent, results) where result.isComplete {
      switch entry.meaning {
      case .nothing, .savepoint: break
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

  // MARK: Transactions

  /// Open also before the BEGIN was sent.
  var transaction: TransactionState {
    if !hasBegun { return .none }
    return switch connection.transactionStatus {
    case .failed: .failed
    case .inTransaction: .open
    default: due.isEmpty ? .none : .open
    }
  }

  /// Without another operation than to verify the position and to read its page, no transaction is begun on the server.
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

  /// Reads the state of the log and the rows after a position in one round trip, and returns the end of the log.
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
    // Of more than a page, also the set that is longer than the page has to be found, in the same state of the log.
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

  /// Returns the end of the log when the open write began.
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
      // Nothing was sent since.
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

  /// Adds a statement that is sent before the next one; `index` is that of the set which it ends.
  func addDue(_ statement: PostgresStatement, _ values: [PostgresValue], endingSet index: Int? = nil) {
    due.append(Due(statement: statement, values: values, meaning: index.map { .end($0) } ?? .nothing))
  }

  /// Does everything in one round trip.
  ///
  /// Taking the place holds up other commits, so that the rows through the transaction's own are complete and final.
  ///
  /// What logs nothing, such as an acknowledgment, can be repeated: then a lost COMMIT needs no decision.
  func commit(readingAfter position: Cursor?) throws(StoreError) -> (end: Cursor, writtenPages: Int) {
    (try commitRows(readingAfter: position), 0)
  }

  private func commitRows(readingAfter position: Cursor?) throws(StoreError) -> Cursor {
    let start = try startOfWrite()
    guard let nonces = write?.sets.map(\.nonce), !nonces.isEmpty else {
      try run(.commit)
      finish(at: knownEnd)
      return start
    }
    // The end of a lone set needs no statement of its own.
    var end: [PostgresValue]?
    if nonces.count == 1, case .end? = due.last?.meaning { end = due.removeLast().values }
    let (place, rows): (PostgresResult, PostgresResult?)
    do throws(StoreError) {
      (place, rows) = try send { batch in
        let place = if let end { batch.add(Self.endWriting, end) } else { batch.add(Self.place) }
        let rows = position.map { batch.add(Self.selectRowsToEnd, .int8($0.revision.rawValue)) }
        batch.add(.commit)
        return (place, rows)
      }
    } catch {
      guard error.postgres?.isOutcomeUnknown == true else { throw error }
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

  /// Notes that the write was committed.
  private func finish(at end: Cursor?) {
    knownEnd = end
    (write, hasBegun) = (nil, false)
  }

  // MARK: Unknown outcomes

  /// Decides a COMMIT of unknown outcome: whether the log has a set with one of the random numbers, and returns its end.
  ///
  /// The old transaction may still be open on the server; it is over as soon as another one has the lock of writers. This one
  /// commits, too: if the server waits for a synchronous standby, the standby then also has what was committed before.
  ///
  /// - Throws: `.connectionLost` if the transaction was not committed; `.commitUnknown` if no server tells in time.
  private func decide(_ start: Cursor, _ nonces: [Int64], _ loss: StoreError) throws(StoreError) -> Cursor {
    let deadline = ContinuousClock.now + decisionLimit
    let list = "{" + nonces.map { "\($0)" }.joined(separator: ",") + "}"
    while true {
      var found: PostgresResult?
      do throws(StoreError) {
        try connection.reconnect()
        var batch = PostgresBatch()
        batch.add(.begin)
        batch.add(Self.beginWriting, .bool(true))
        found = batch.add(Self.selectSet, .int8(start.revision.rawValue), .text(list))
        batch.add(Self.leaveMark)
        batch.add(.commit)
        try connection.run(batch)
        rollBack()
        if let end = try found?.first(make: { Cursor($0) }) { return end }
      } catch  where error.postgres?.kind == .unreplicated {
        // What was found is known, only not whether the standby has it.
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

  func rollBack() {
    (due, hasBegun, ahead, snapshot) = ([], false, nil, nil)
    if write != nil { (knownEnd, write) = (nil, nil) }
    if [.inTransaction, .failed].contains(connection.transactionStatus) {
      do throws(StoreError) { try connection.run(PostgresStatement.rollback) } catch {
        // The server rolls back when it notices.
        connection.close()
      }
    }
  }

  private static let selectFindings = PostgresStatement(
    once: "check the database", #"SELECT severity, code, message, "user", attribute FROM userstore.check(true)"#)

  /// The server does the work; its codes are the library's kinds, except `engine`.
  func check() throws(StoreError) -> [Finding] {
    try all(Self.selectFindings) { row in
      Finding(
        severity: Finding.Severity(rawValue: row.text(0)) ?? .problem,
        kind: Finding.Kind(rawValue: row.text(1)) ?? .schema, message: row.text(2),
        user: row.int8OrNil(3).map { User.ID($0) }, attribute: row.textOrNil(4).map { AttributeName($0) })
    }
  }

  /// Not only the end's number: after a failover, another log may end at the same one.
  func commitCounter(beforeReadingAfter position: Cursor) throws(StoreError) -> Int64 {
    let end = try connection.mayBeReplica ? logEnd() : look(after: position)
    return end.revision.rawValue ^ end.nonce ^ end.epoch
  }

  func prepareToClose() {
    connection.close()
  }
}
