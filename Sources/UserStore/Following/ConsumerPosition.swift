/// What a consumer has acknowledged, and how it is written to the database.
final class ConsumerPosition: Sendable {
  let claim: ConsumerClaim
  private let consumers: OpenConsumers
  private let state = Lock(Acknowledgements())

  init(_ claim: ConsumerClaim, of consumers: OpenConsumers) {
    self.claim = claim
    self.consumers = consumers
  }

  /// The change sets after the last acknowledgment, written or not.
  var feed: ChangeFeed {
    ChangeFeed(consumers.publication, consumers.reader) { last throws(StoreError) in
      try self.consumers.reader.page { transaction throws(StoreError) in
        // Before the row is read, as in `ConsumerClaim.isBefore`.
        if let last { _ = try transaction.session.verify(last) }
        let current = try self.current(in: &transaction)
        return last ?? current
      }
    }
  }

  private func current<Mode>(in transaction: inout Transaction<Mode>) throws(StoreError) -> Cursor {
    let written = try claim.position(in: &transaction)
    // Not only what is pending: it may have been written since this transaction began.
    guard let last = state.withLock({ $0.last }), last.epoch == written.epoch else { return written }
    return last.revision > written.revision ? last : written
  }

  /// Reads the last acknowledgment, written or not.
  func read() throws(StoreError) -> Cursor {
    try consumers.reader.reading { transaction throws(StoreError) in try current(in: &transaction) }
  }

  /// Reads as `read` does, on a thread of the store.
  func readLater() async throws -> Cursor { try await consumers.reader.awaiting { try self.read() } }

  /// Also if the task is canceled, as a set that was processed must not be delivered again.
  func acknowledge(_ cursor: Cursor) async throws(StoreError) {
    let isNew = try await consumers.reader.completing { [claim, reader = consumers.reader] () throws(StoreError) in
      try reader.reading { transaction throws(StoreError) in try claim.isBefore(cursor, in: &transaction) }
    }
    if isNew, state.withLock({ $0.add(cursor) }) { try await writeAndRest() }
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
  }

  // MARK: Writing

  /// Writes what is pending, on the store's thread.
  func flush() async throws(StoreError) {
    guard hasPending else { return }
    try await write { transaction throws(StoreError) in try self.writePending(in: &transaction) }
  }

  /// Queues a write of what is pending, and returns: where `await` is not possible; errors are ignored.
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

/// The acknowledgments that are not in the database yet, and when to write them: a value without a clock.
///
/// The first acknowledgment is written at once. Those that follow during the rest after it are written together at its end.
/// So the database is up to date for a consumer of few changes, and a consumer of many costs ten small commits a second.
struct Acknowledgements {
  /// The pause between two writes.
  static let rest = Duration.milliseconds(100)

  /// The latest acknowledgment that is not written yet.
  private(set) var pending: Cursor?
  /// The latest acknowledgment, written or not.
  private(set) var last: Cursor?
  /// Whether a write has started and the rest after it has not ended.
  private var isResting = false

  /// - Returns: Whether the caller must write now.
  mutating func add(_ cursor: Cursor) -> Bool {
    // A cursor of another log is later, because only cursors of the current log are acknowledged.
    let isLater = last.map { $0.epoch != cursor.epoch || $0.revision < cursor.revision } ?? true
    if isLater { (pending, last) = (cursor, cursor) }
    defer { isResting = true }
    return !isResting
  }

  mutating func written(_ cursor: Cursor?) {
    if pending == cursor { pending = nil }
  }

  /// - Returns: What was pending.
  mutating func discard() -> Cursor? {
    defer { (pending, last) = (nil, nil) }
    return pending
  }

  /// Takes back what `discard` has returned, unless there is another acknowledgment already.
  mutating func restore(_ cursor: Cursor) {
    if pending == nil { (pending, last) = (cursor, cursor) }
  }

  /// - Returns: Whether the caller must write what was acknowledged during the rest, and rest again.
  mutating func endRest() -> Bool {
    isResting = pending != nil
    return isResting
  }

  /// Ends the rest after a failed write: the next acknowledgment tries again, and throws if that fails too.
  mutating func fail() { isResting = false }
}
