/// The acknowledgments of a consumer, and how they are written to the database.
final class ConsumerPosition: Sendable {
  let claim: ConsumerClaim
  private let wanted: WantedSets
  private let consumers: OpenConsumers
  private let state = Lock(Acknowledgements())

  init(_ claim: ConsumerClaim, _ wanted: WantedSets, of consumers: OpenConsumers) {
    self.claim = claim
    self.wanted = wanted
    self.consumers = consumers
  }

  /// The change sets after the last acknowledgment, written or not.
  var feed: ChangeFeed {
    let progress = Lock<IterationProgress?>(nil)
    return ChangeFeed(
      consumers.publication, consumers.reader, heartbeat: wanted.heartbeat, clock: consumers.clock
    ) { last throws(StoreError) in
      try self.page(after: last, progress)
    }
  }

  /// Reads the next page of an iteration, and acknowledges the sets that the topics hide.
  private func page(after last: Cursor?, _ progress: borrowing Lock<IterationProgress?>) throws(StoreError) -> LogPage {
    var acknowledged: Cursor?
    let generation = state.withLock { $0.generation }
    let page = try consumers.reader.page(of: wanted.topics, mayContinue: last == nil) {
      transaction throws(StoreError) in
      // Verified before the row is read, as in `ConsumerClaim.isBefore`.
      if let last { _ = try transaction.session.verify(last) }
      let current = try self.current(in: &transaction)
      acknowledged = current
      return last ?? current
    }
    if let acknowledged {
      let hidden = progress.withLock { progress in
        var now = progress ?? IterationProgress(from: acknowledged)
        defer { progress = now }
        return now.hasRead(
          after: last ?? acknowledged, through: page.position, lastVisible: page.sets.last?.cursor,
          acknowledged: acknowledged)
      }
      if let hidden { acknowledgeSoon(hidden, in: generation) }
    }
    return page
  }

  private func current<Mode>(in transaction: inout Transaction<Mode>) throws(StoreError) -> Cursor {
    let written = try claim.position(in: &transaction)
    // Not only the pending one: it may have been written since this transaction began.
    guard let last = state.withLock({ $0.last }), last.epoch == written.epoch else { return written }
    return last.revision > written.revision ? last : written
  }

  /// Reads the last acknowledgment, written or not.
  func read() throws(StoreError) -> Cursor {
    try consumers.reader.reading { transaction throws(StoreError) in try current(in: &transaction) }
  }

  /// Reads as `read` does, on a thread of the store.
  func readLater() async throws -> Cursor { try await consumers.reader.awaiting { try self.read() } }

  /// Acknowledges the set up to a row, or all of it without one, even in a canceled task: what was processed must not be
  /// delivered again.
  func acknowledge(_ set: ChangeSet, through sequence: Int64?) async throws(StoreError) {
    let new = try await consumers.reader.completing { [claim, reader = consumers.reader] () throws(StoreError) in
      try reader.reading { transaction throws(StoreError) -> Cursor? in
        let cursor = try claim.cursor(at: sequence, in: set, &transaction)
        return try claim.isBefore(cursor, in: &transaction) ? cursor : nil
      }
    }
    if let new, state.withLock({ $0.add(new) }) { try await writeAndRest() }
  }

  /// Acknowledges as `acknowledge` does, unless the position was moved meanwhile, and returns at once; after an error, the next
  /// acknowledgment tries again.
  private func acknowledgeSoon(_ cursor: Cursor, in generation: Int) {
    guard state.withLock({ $0.add(cursor, in: generation) }) else { return }
    Task { [weak self] in try? await self?.writeAndRest() }
  }

  func reset(to cursor: Cursor) async throws(StoreError) {
    let discarded = Lock<Cursor?>(nil)
    do throws(StoreError) {
      try await write { transaction throws(StoreError) in
        try self.claim.move(to: cursor, in: &transaction)
        // In the turn of this write, so that no earlier acknowledgment is written after it.
        let pending = self.state.withLock { $0.discard() }
        discarded.withLock { $0 = pending }
        return nil
      }
    } catch {
      // The commit may have failed after that.
      if let pending = discarded.withLock({ $0 }) { state.withLock { $0.restore(pending) } }
      throw error
    }
    state.withLock { $0.moved() }
  }

  // MARK: Writing

  /// Writes what is pending, on the store's thread.
  func flush() async throws(StoreError) {
    guard hasPending else { return }
    try await write { transaction throws(StoreError) in try self.writePending(in: &transaction) }
  }

  /// Queues a write of what is pending, and returns, for callers that cannot await; errors are ignored.
  func flushSoon(then finish: @escaping @Sendable () -> Void = {}) {
    guard hasPending else { return finish() }
    submit({ transaction throws(StoreError) in try self.writePending(in: &transaction) }) { _ in finish() }
  }

  /// Writes what is pending, on the calling thread, before the store is closed.
  func flushNow() throws(StoreError) {
    guard hasPending else { return }
    let written = try consumers.writer.writing { transaction throws(StoreError) in
      try writePending(in: &transaction)
    }
    state.withLock { $0.written(written) }
  }

  private var hasPending: Bool { state.withLock { $0.pending != nil } }

  /// Returns the cursor that was written.
  func writePending(in transaction: inout WriteTransaction) throws(StoreError) -> Cursor? {
    let pending = state.withLock { $0.pending }
    if let pending { try claim.advance(to: pending, in: &transaction) }
    return pending
  }

  /// Runs `body`, which returns the cursor that it wrote, on the store's thread, even if the task is canceled.
  private func write(
    _ body: @escaping @Sendable (inout WriteTransaction) throws(StoreError) -> Cursor?
  ) async throws(StoreError) {
    let error = await withCheckedContinuation { continuation in
      submit(body) { continuation.resume(returning: $0) }
    }
    if let error { throw error }
  }

  private func submit(
    _ body: @escaping @Sendable (inout WriteTransaction) throws(StoreError) -> Cursor?,
    finish: @escaping @Sendable (StoreError?) -> Void
  ) {
    let written = Lock<Cursor?>(nil)
    consumers.writer.submit { transaction in
      let cursor = try body(&transaction)
      written.withLock { $0 = cursor }
    } finish: { error in
      if error == nil { self.state.withLock { $0.written(written.withLock { $0 }) } }
      finish(error.map { StoreError($0) })
    }
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
