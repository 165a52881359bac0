/// Runs read transactions.
final class Reader: Sendable {
  private let pool: SessionPool
  private let store: StoreIdentity

  init(pool: SessionPool, store: StoreIdentity) {
    self.pool = pool
    self.store = store
  }

  /// Runs `body` in one snapshot of the store, on the calling thread.
  ///
  /// - Throws: `StoreError.Code.nested` inside a transaction of the same store, and what `body` throws.
  func read<Result>(_ body: (inout ReadTransaction) throws -> Result) throws -> Result {
    try store.enter()
    defer {
      store.leave()
      // Deliveries that a write to another store, or a binding, deferred to the end of this transaction.
      DeliveryThread.current.runDeferred()
    }
    let session = try pool.take()
    // This ends the transaction.
    defer { pool.give(back: session) }
    try session.beginReading()
    var transaction = ReadTransaction(session)
    return try body(&transaction)
  }

  /// Like `read`, for a body that throws only `StoreError`.
  func reading<Result>(_ body: (inout ReadTransaction) throws(StoreError) -> Result) throws(StoreError) -> Result {
    do { return try read { transaction in try body(&transaction) } } catch {
      throw StoreError(error)
    }
  }

  /// Reads a page of the changes of a huge set.
  func page(after start: Int64, through end: Int64) throws(StoreError) -> (changes: [Change], last: Int64) {
    try reading { transaction throws(StoreError) in
      let session = try transaction.session
      let horizon = try session.horizon().revision.rawValue
      let rows = start < horizon ? [] : try session.rows(withoutGapAfter: start, through: end)
      guard let last = rows.last?.sequence else {
        throw StoreError(.compacted, "the changes after revision \(start) were deleted")
      }
      return (rows.filter { !$0.isEnd }.map(\.change), last)
    }
  }

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
