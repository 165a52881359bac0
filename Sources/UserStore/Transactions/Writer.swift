// Modeled in Proof/Model/WakeUp.pml and Proof/Model/Pump.pml; change both.

/// Runs write transactions: one at a time, each published in the order of its commit.
///
/// A writer that waits when a closure ends continues in the same transaction, in a savepoint, so that one sync of the disk
/// serves many writes. Each closure runs on the thread that called `write`; the closures of awaited writes run on the store's
/// write thread:
///
///     A  BEGIN closure ─┐                                     ┌ returns
///     B       waits ─── closure ─┐                            ├ returns
///     C           waits ──────── closure  COMMIT  delivery ───┘ returns
///
/// No delay is added: a write is committed at once if no other writer waits.
final class Writer: Sendable {
  let engine: any Engine
  let publication: Publication
  let reader: Reader
  let store: StoreIdentity
  let compactor: Compactor
  let session: WriteSession
  let turns = WriteTurns()

  /// - Returns: nil for a read-only store.
  init?(
    _ engine: any Engine, _ publication: Publication, reader: Reader, store: StoreIdentity, compactor: Compactor,
    roundLimit: Int
  ) {
    guard let sessions = engine.writers else { return nil }
    self.engine = engine
    self.publication = publication
    self.reader = reader
    self.store = store
    self.compactor = compactor
    session = WriteSession(sessions, publication, reader: reader, compactor: compactor, roundLimit: roundLimit)
  }

  /// Runs `body` on the calling thread and commits; when it returns, every inline listener has received the change, except
  /// inside a listener.
  ///
  /// Inside a listener, and inside a transaction of another store, it has a transaction of its own: it must not wait for
  /// others, which may be waiting for that listener.
  func write(origin: String?, _ body: (inout WriteTransaction) throws -> Void) throws {
    let thread = DeliveryThread.current
    let (calling, joins) = (thread.calling, !thread.isBusy)
    try store.enter()
    var failure: (any Error)?
    let end: TurnEnd
    do {
      defer { store.leave() }
      var group = try turns.take(joins: joins)
      if joins { turns.wakeNext(after: group) }
      do { try takePart(in: &group, origin: origin, calling, body) } catch { failure = error }
      end = endTurn(group, calling?.cascade, joins: joins, hasPart: failure == nil)
    }
    let groupFailure = settle(end)
    if let error = failure ?? groupFailure { throw error }
  }

  /// Like `write`, for a body that throws only `StoreError`.
  func writing<Value>(_ body: (inout WriteTransaction) throws(StoreError) -> Value) throws(StoreError) -> Value {
    var value: Value?
    do { try write(origin: nil) { transaction in value = try body(&transaction) } } catch {
      throw StoreError(error)
    }
    return value!
  }

  /// Replaces the records and the log in one transaction, with a `body` that leaves a log with a new epoch.
  ///
  /// When it returns, every inline listener of the store has received the discontinuity, except inside a listener. If it
  /// throws, nothing has changed.
  func replace(_ body: (any Session) throws(StoreError) -> Void) throws(StoreError) {
    try store.enter()
    let ticket: Int?
    do {
      defer { store.leave() }
      ticket = try withTurn { () throws(StoreError) in try session.replace(body) }
    }
    publication.deliver(through: ticket)
    checkpointIfNeeded()
  }

  /// Admits no more writes: those that wait for their turn get `StoreError.Code.closed`, the one that has it finishes.
  func stop() {
    turns.close()
    compactor.thread.stop()
  }

  /// Waits until the writer's threads have ended, after `stop`.
  func join() {
    turns.join()
    compactor.thread.join()
  }

  /// Runs `body` in a turn that no other writer joins.
  func withTurn<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
    _ = try turns.take(joins: false)
    defer { turns.pass() }
    return try body()
  }

  /// Runs a short transaction of the store's own, which no listener receives, and commits it if `body` returns true.
  ///
  /// Returns whether it was committed. `isWaiting` is whether it waits for another process that writes.
  func maintain(isWaiting: Bool = true, _ body: (any Session) throws(StoreError) -> Bool) throws(StoreError) -> Bool {
    try store.enter()
    defer { store.leave() }
    return try withTurn { () throws(StoreError) in try session.maintain(isWaiting: isWaiting, body) }
  }

  /// Creates or removes an index, and returns whether `body` did.
  func maintainIndex(
    on attribute: AttributeName, _ body: (any Session) throws(StoreError) -> Bool
  ) throws(StoreError) -> Bool {
    try Limits.checkIndex(on: attribute)
    defer { checkpointIfNeeded() }
    return try maintain(body)
  }

  func checkpointIfNeeded() {
    guard engine.needsCheckpoint, !DeliveryThread.current.isInside(store) else { return }
    try? withTurn { () throws(StoreError) in
      try session.withSession { session in
        // Another thread may have been first. A write in a listener does not wait for readers; other writes do.
        if engine.needsCheckpoint { engine.checkpoint(holding: session, mayWait: !DeliveryThread.current.isBusy) }
      }
    }
  }
}

// MARK: Turns

extension Writer {
  enum TurnEnd {
    /// Another writer continues the transaction; a writer that has a part in it waits for its end.
    case handedOn(WaitingWriter?)
    /// The transaction has ended for all members: with a ticket of the hub's queue, or with the reason for the rollback.
    case ended(Result<Int?, StoreError>, members: [WriteLine.Waiter])
    /// There is no transaction.
    case nothing
  }

  /// Runs one writer's closure in the group's transaction, or in a new one.
  ///
  /// `group` is nil afterwards if there is no longer a transaction. If it throws, the closure's part was rolled back.
  func takePart(
    in group: inout WriteGroup?, origin: String?, _ calling: DeliveryThread?,
    _ body: (inout WriteTransaction) throws -> Void
  ) throws {
    var current = if let group { group } else { try begin() }
    current.size += 1
    do {
      try session.perform(in: current, origin: origin, calling, body)
      group = current
    } catch {
      failEarlier(current, error)
      let isOver = current.size == 1 || !current.session.isInTransaction
      group = isOver ? nil : current
      if isOver {
        session.rollBack(current)
        for member in current.members { member.end(Self.rolledBack(because: error)) }
      }
      throw error
    }
  }

  private func begin() throws(StoreError) -> WriteGroup {
    do { return try session.begin() } catch {
      if error.code == .busy { turns.failEarlier(error) }
      throw error
    }
  }

  /// Fails the writers that have waited as long, if the transaction could not begin because another process writes.
  ///
  /// On a server, a transaction begins with its first operation.
  private func failEarlier(_ group: WriteGroup, _ error: any Error) {
    guard let error = error as? StoreError, error.code == .busy, group.session.writingStart == nil else { return }
    turns.failEarlier(error)
  }

  /// Passes the transaction to the next writer in line if `joins`; otherwise ends it.
  ///
  /// `hasPart` is whether the caller is a thread whose closure succeeded; such a thread waits for the end. After
  /// leaving the transaction, the caller passes the result to `settle`.
  func endTurn(_ group: WriteGroup?, _ cascade: Cascade?, joins: Bool, hasPart: Bool) -> TurnEnd {
    guard let group else {
      turns.pass()
      return .nothing
    }
    while joins, let next = turns.next(after: group.size) {
      var group = group
      let waiting = hasPart ? WaitingWriter() : nil
      if let waiting { group.members.append(.thread(waiting, joins: true)) }
      if turns.give(group, to: next) { return .handedOn(waiting) }
    }
    defer { turns.pass() }
    do throws(StoreError) {
      return .ended(.success(try session.end(group, cascade)), members: group.members)
    } catch {
      failEarlier(group, error)
      let isShared = group.members.count + (hasPart ? 1 : 0) > 1
      return .ended(.failure(isShared ? Self.rolledBack(because: error) : error), members: group.members)
    }
  }

  /// Waits until the transaction has ended and is delivered, or delivers it and wakes the other members; returns the error of a
  /// transaction that failed.
  func settle(_ end: TurnEnd) -> StoreError? {
    switch end {
    case .handedOn(let waiting?):
      guard case .over(let error) = waiting.wait() else { preconditionFailure("a writer gets only one turn") }
      return error
    case .handedOn(nil), .nothing:
      // The write may have found a discontinuity, and may have deferred the delivery of other sets.
      publication.deliver(through: nil)
      return nil
    case .ended(.success(let ticket), let members):
      publication.deliver(through: ticket)
      for member in members { member.end(nil) }
      maintainAfterWrite()
      return nil
    case .ended(.failure(let error), let members):
      publication.deliver(through: nil)
      for member in members { member.end(error) }
      return error
    }
  }

  private static func rolledBack(because error: any Error) -> StoreError {
    // With these codes, the transaction may have been committed.
    if let error = error as? StoreError, error.code == .commitUnknown || error.code == .moved { return error }
    return StoreError(
      .rolledBackWithGroup, "the transaction that this write shared with other writes was rolled back: \(error)",
      cause: error)
  }
}
