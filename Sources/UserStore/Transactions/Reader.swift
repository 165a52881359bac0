/// Runs read transactions.
final class Reader: Sendable {
  private let pool: SessionPool
  private let store: StoreIdentity

  init(pool: SessionPool, store: StoreIdentity) {
    self.pool = pool
    self.store = store
  }

  /// Runs `body` in one state of the store, on the calling thread.
  ///
  /// - Throws: `StoreError.Code.nested` inside a transaction of the same store, and what `body` throws.
  func read<Result>(_ body: (inout ReadTransaction) throws -> Result) throws -> Result {
    try store.enter()
    defer {
      store.leave()
      // What another store's write, or a binding, put off until here.
      DeliveryThread.current.runDeferred()
    }
    let session = try pool.take()
    // Which ends the transaction.
    defer { pool.give(back: session) }
    try session.beginReading()
    var transaction = ReadTransaction(session)
    return try body(&transaction)
  }

  /// The same for what throws only the store's errors.
  func reading<Result>(_ body: (inout ReadTransaction) throws(StoreError) -> Result) throws(StoreError) -> Result {
    do { return try read { transaction in try body(&transaction) } } catch {
      throw error as? StoreError ?? StoreError(.unexpected, "\(error)", cause: error)
    }
  }

  /// Reads a page of changes of a huge set.
  func page(after start: Int64, through end: Int64) throws(StoreError) -> (changes: [Change], last: Int64) {
    try reading { transaction throws(StoreError) in
      let session = try transaction.session
      let horizon = try session.horizon().revision.rawValue
      let rows = start < horizon ? [] : try session.rows(withoutGapAfter: start, through: end)
      guard let last = rows.last?.sequence else {
        throw StoreError(.compacted, "the changes after revision \(start) were forgotten")
      }
      return (rows.filter { !$0.isEnd }.map(\.change), last)
    }
  }

  func close() {
    pool.close()
  }
}

/// Which store a thread is in the middle of a transaction of.
final class StoreIdentity: Sendable {
  /// - Throws: `StoreError.Code.nested` when the thread is in a transaction of this store already.
  func enter() throws(StoreError) {
    let thread = DeliveryThread.current
    guard !thread.isInside(self) else {
      throw StoreError(
        .nested, "a read or write inside another one of the same store; use the transaction that is open")
    }
    thread.enter(self, isTransaction: true)
  }

  func leave() {
    DeliveryThread.current.leave(self, isTransaction: true)
  }
}
