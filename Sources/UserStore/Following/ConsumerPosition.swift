/// Where a consumer stands: what it has acknowledged, and how that gets into the database.
final class ConsumerPosition: Sendable {
  let seat: ConsumerSeat
  private let consumers: OpenConsumers
  private let state = Lock(Acknowledgements())

  init(_ seat: ConsumerSeat, of consumers: OpenConsumers) {
    self.seat = seat
    self.consumers = consumers
  }

  /// The change sets after what was last acknowledged, written or not.
  var feed: ChangeFeed {
    ChangeFeed(consumers.publication) { last throws(StoreError) in
      try self.consumers.reader.sets { transaction throws(StoreError) in
        // First: in a restored backup the row may be another holder's, and that is not what is the matter.
        if let last { _ = try transaction.session.verify(last) }
        let present = try self.present(in: &transaction)
        return last ?? present
      }
    }
  }

  /// What was last acknowledged, written or not.
  func present<Mode>(in transaction: inout Transaction<Mode>) throws(StoreError) -> Cursor {
    let written = try seat.position(in: &transaction)
    guard let pending = state.withLock({ $0.pending }), pending.epoch == written.epoch else { return written }
    return pending.revision > written.revision ? pending : written
  }

  /// The same, when nothing is being read.
  func read() throws(StoreError) -> Cursor {
    try consumers.reader.reading { transaction throws(StoreError) in try present(in: &transaction) }
  }

  func acknowledge(_ cursor: Cursor) async throws(StoreError) {
    let isNew = try consumers.reader.reading { transaction throws(StoreError) in
      try seat.isBefore(cursor, in: &transaction)
    }
    if isNew, state.withLock({ $0.add(cursor) }) { try await writeAndRest() }
  }

  func reset(to cursor: Cursor) async throws(StoreError) {
    try await consumers.writing { transaction throws(StoreError) in
      try self.seat.move(to: cursor, in: &transaction)
      // Here, so that no write of what was acknowledged before comes after it.
      self.state.withLock { $0.forget() }
    }
  }

  // MARK: Writing

  /// Writes what was acknowledged, on the store's thread.
  func flush() async throws(StoreError) {
    guard hasPending else { return }
    noteWritten(try await consumers.writing { transaction throws(StoreError) in try self.write(in: &transaction) })
  }

  /// The same on the calling thread: where nobody can wait.
  func flushNow() throws(StoreError) {
    guard hasPending else { return }
    noteWritten(try consumers.writer.writing { transaction throws(StoreError) in try write(in: &transaction) })
  }

  private var hasPending: Bool { state.withLock { $0.pending != nil } }

  private func write(in transaction: inout WriteTransaction) throws(StoreError) -> Cursor? {
    let pending = state.withLock { $0.pending }
    if let pending { try seat.advance(to: pending, in: &transaction) }
    return pending
  }

  /// After the commit.
  private func noteWritten(_ cursor: Cursor?) {
    if let cursor { state.withLock { $0.written(cursor) } }
  }

  private func writeAndRest() async throws(StoreError) {
    do { try await flush() } catch {
      state.withLock { $0.fail() }
      throw error
    }
    Task { [weak self, clock = consumers.clock] in
      try? await clock.sleep(for: Acknowledgements.rest)
      await self?.endRest()
    }
  }

  private func endRest() async {
    if state.withLock({ $0.endRest() }) { try? await writeAndRest() }
  }
}
