// Modelled in Model/WakeUp.pml and Model/Pump.pml; change both.

/// Runs write transactions: one at a time, each told to the hub in the order of its commit.
///
/// Whoever waits when a closure ends goes on in the same transaction, in a savepoint, so that one sync of the disk serves
/// many; each closure runs on the thread that called `write`, those that are awaited on the store's own:
///
///     A  BEGIN closure ─┐                                     ┌ returns
///     B       waits ─── closure ─┐                            ├ returns
///     C           waits ──────── closure  COMMIT  delivery ───┘ returns
///
/// No delay is added: a write that comes alone goes alone. What runs in which order is decided by `WriteLine`.
final class Writer: Sendable {
  let pool: ConnectionPool
  let checkpoints: Checkpoints?
  let hub: ListenerHub<ChangeSet>
  let tail: LogTail
  let bell: Bell
  let reader: Reader
  let store: StoreIdentity
  let housekeeping: Housekeeping
  /// Nil in memory.
  let file: DatabaseFile?
  let roundLimit: Int
  let line = Lock(WriteLine())
  /// Runs the closures of those who await.
  let worker = WorkerThread(name: "userstore-write")
  /// Set after a COMMIT of which nobody knows whether it happened.
  let failure = Lock<StoreError?>(nil)

  init(
    pool: ConnectionPool, checkpoints: Checkpoints?, hub: ListenerHub<ChangeSet>, tail: LogTail, bell: Bell,
    reader: Reader, store: StoreIdentity, housekeeping: Housekeeping, file: DatabaseFile?, roundLimit: Int
  ) {
    self.pool = pool
    self.checkpoints = checkpoints
    self.hub = hub
    self.tail = tail
    self.bell = bell
    self.reader = reader
    self.store = store
    self.housekeeping = housekeeping
    self.file = file
    self.roundLimit = roundLimit
  }

  /// Runs `body` on the calling thread and commits; when it returns, every inline listener has seen the change, except
  /// inside a listener.
  ///
  /// Inside a listener, and inside a transaction of another store, it has its transaction to itself: it must not wait for
  /// others, who may be waiting for that listener.
  func write(origin: String?, _ body: (inout WriteTransaction) throws -> Void) throws {
    let thread = DeliveryThread.current
    let (calling, joins) = (thread.calling, !thread.isBusy)
    try store.enter()
    var failure: (any Error)?
    let end: TurnEnd
    do {
      defer { store.leave() }
      var group = try takeTurn(joins: joins)
      if joins { rouseNext(after: group) }
      do { try takePart(in: &group, origin: origin, calling, body) } catch { failure = error }
      end = endTurn(group, calling?.cascade, joins: joins, hasPart: failure == nil)
    }
    let undone = settle(end)
    if let error = failure ?? undone { throw error }
  }

  /// The same for what throws only the store's errors.
  func writing<Value>(_ body: (inout WriteTransaction) throws(StoreError) -> Value) throws(StoreError) -> Value {
    var value: Value?
    do { try write(origin: nil) { transaction in value = try body(&transaction) } } catch {
      throw error as? StoreError ?? StoreError(.unexpected, "\(error)", cause: error)
    }
    return value!
  }

  /// Runs `body` on the calling thread with the connection to itself.
  func alone<Value>(
    _ body: (ConnectionPool.Lease) throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    _ = try takeTurn(joins: false)
    defer { passTurn() }
    let lease = try pool.take()
    defer { pool.give(back: lease) }
    return try body(lease)
  }

  /// Runs a short write transaction of the store's own, of which no listener hears.
  ///
  /// - Parameters:
  ///   - isWaiting: Whether it waits for another process that writes.
  ///   - shortensWAL: Whether a -wal file that is begun anew is cut off behind it.
  ///   - body: Returns whether to commit.
  /// - Returns: how many pages the -wal file has; nil when it was not committed.
  /// - Throws: as a write.
  func maintain(
    isWaiting: Bool = true, shortensWAL: Bool = false,
    _ body: (borrowing Connection) throws(StoreError) -> Bool
  ) throws(StoreError) -> Int? {
    try store.enter()
    defer { store.leave() }
    return try alone { lease throws(StoreError) in
      lease.connection.setWaiting(isWaiting)
      defer { lease.connection.setWaiting(true) }
      if shortensWAL { try storing("write") { () throws(SQLiteError) in try lease.connection.setShortensWAL(true) } }
      defer { if shortensWAL { try? lease.connection.setShortensWAL(false) } }
      try begin(lease)
      defer { lease.connection.rollBack() }
      guard try body(lease.connection) else { return nil }
      try commit(lease)
      checkpoints?.note(walPages: lease.connection.hooks.walPages)
      return lease.connection.hooks.walPages
    }
  }

  /// Lets nobody write any more.
  ///
  /// Those who wait for their turn get `StoreError.closed`; who has it finishes.
  func stop() {
    let waiting = line.withLock { $0.close() }
    for waiter in waiting { waiter.end(StoreError(.closed, "the store is closed")) }
    worker.stop()
    housekeeping.thread.stop()
  }

  /// Waits until the writer's threads have ended, after `stop`.
  func join() {
    worker.join()
    housekeeping.thread.join()
  }

  func checkpointIfNeeded() {
    guard let checkpoints, checkpoints.isDue, !DeliveryThread.current.isInside(store) else { return }
    try? alone { lease in
      // Somebody else may have been first.
      guard checkpoints.isDue else { return }
      // With the write lock held no commit can land inside it. Failing is no harm: the next write tries again.
      guard (try? lease.connection.run(TransactionSQL.beginImmediate)) != nil else { return }
      // A listener is not kept waiting; those who write outside of one come to it.
      checkpoints.run(mayWait: !DeliveryThread.current.isBusy)
      lease.connection.rollBack()
    }
  }
}
