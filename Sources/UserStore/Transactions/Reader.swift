/// Runs read transactions, on the calling thread or on threads of its own.
final class Reader: PageSource, Sendable {
  private let pool: SessionPool
  private let warm: SessionPool?
  private let store: StoreIdentity
  /// The threads of awaited reads; as many as there are sessions, so that a short read seldom waits behind a long one.
  private let threads: WorkerThreads

  init(pool: SessionPool, warm: SessionPool?, store: StoreIdentity) {
    self.pool = pool
    self.warm = warm
    self.store = store
    threads = WorkerThreads(name: "userstore-read", limit: pool.limit)
  }

  /// Runs `body` in one snapshot of the store, on the calling thread.
  ///
  /// When all sessions are lent, it waits for one, or throws `StoreError.Code.busy`; with `isDelivering`, there is one more.
  /// `position` is where `body` starts to read the log, if that is known. With `isShort`, it reads on the session that has written, if that
  /// is free: for so long, the next write waits.
  ///
  /// - Throws: `StoreError.Code.nested` inside a transaction of the same store, and what `body` throws.
  func read<Result>(
    isWaiting: Bool = true, isDelivering: Bool = false, isShort: Bool = false, after position: Cursor? = nil,
    _ body: (inout ReadTransaction) throws -> Result
  ) throws -> Result {
    try store.enter()
    let awaited = AwaitedRead.current
    defer { if let awaited { awaited.suspend(leave) } else { leave() } }
    var (pool, lent) = (pool, (any Session)?.none)
    if isShort, let warm, let idle = warm.takeIdle() { (pool, lent) = (warm, idle) }
    let session = try lent ?? pool.take(isWaiting: isWaiting, isDelivering: isDelivering)
    // This ends the transaction.
    defer { pool.give(back: session) }
    defer { awaited?.end() }
    try awaited?.begin(session)
    try session.beginReading(after: position)
    var transaction = ReadTransaction(session)
    return try body(&transaction)
  }

  private func leave() {
    store.leave()
    // Runs the deliveries that a write to another store, or a binding, deferred to the end of this transaction.
    DeliveryThread.current.runDeferred()
  }

  /// Runs `body`, which has a transaction of its own, as `read` does.
  func entering<Result>(_ body: () throws -> Result) throws -> Result {
    try store.enter()
    defer { leave() }
    return try body()
  }

  /// Like `read`, for a body that throws only `StoreError`.
  func reading<Result>(
    isWaiting: Bool = true, isDelivering: Bool = false, isShort: Bool = false, after position: Cursor? = nil,
    _ body: (inout ReadTransaction) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    do {
      return try read(
        isWaiting: isWaiting, isDelivering: isDelivering, isShort: isShort, after: position
      ) { transaction in
        try body(&transaction)
      }
    } catch { throw StoreError(error) }
  }

  /// Throws the errors of starting a read, `StoreError.Code.nested` and `.closed`, without reading.
  func check() throws(StoreError) {
    try store.enter()
    store.leave()
    if pool.isClosed { throw SessionPool.closed }
  }

  /// Runs `body`, which reads, on one of the threads; when the task is canceled, the running statement is interrupted.
  ///
  /// - Throws: `CancellationError` if the task is canceled, `StoreError.Code.closed`, and what `body` throws.
  func awaiting<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    let read = AwaitedRead()
    return try await withTaskCancellationHandler {
      do { return try await threads.perform { try read.perform(body) } } catch StoreError.Code.closed
        where read.isCanceled
      { throw CancellationError() }
    } onCancel: {
      read.cancel()
    }
  }

  /// Runs `body`, which reads, on one of the threads, even if the task is canceled.
  func completing<Result: Sendable>(
    _ body: @escaping @Sendable () throws(StoreError) -> Result
  ) async throws(StoreError) -> Result {
    try await threads.complete(body)
  }

  func page(after start: Int64, through end: Int64) throws(StoreError) -> PagedChanges.Page {
    // A delivery reads the sets that are too large to be held.
    try reading(isDelivering: DeliveryThread.current.isDelivering) { transaction throws(StoreError) in
      let session = try transaction.session
      let horizon = try session.horizon().revision.rawValue
      let rows = start < horizon ? [] : try session.rows(withoutGapAfter: start, through: end)
      guard let last = rows.last?.sequence else {
        throw StoreError(.compacted, "the changes after revision \(start) were deleted")
      }
      return (rows.entries, last)
    }
  }

  func awaitedPage(after start: Int64, through end: Int64) async throws -> PagedChanges.Page {
    try await awaiting { try self.page(after: start, through: end) }
  }

  /// Ends the threads after the reads that they have accepted.
  func stop() { threads.stop() }

  /// Waits until the threads have ended, after `stop`.
  func join() { threads.join() }

  func close() { pool.close() }
}

/// Identifies a store, so that a thread starts no transaction inside another one of the same store.
final class StoreIdentity: Sendable {
  /// - Throws: `StoreError.Code.nested` if the thread is already in a transaction of this store.
  func enter() throws(StoreError) {
    let thread = DeliveryThread.current
    guard !thread.isInside(self) else {
      throw StoreError(
        .nested, "cannot start a transaction inside a transaction of the same store; use the transaction that is open")
    }
    thread.enter(self, isTransaction: true)
  }

  func leave() { DeliveryThread.current.leave(self, isTransaction: true) }
}
