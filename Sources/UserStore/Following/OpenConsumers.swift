/// The consumers of a store that are in use, and the parts of the store that they need.
final class OpenConsumers: Sendable {
  let writer: Writer
  let reader: Reader
  let publication: Publication
  let clock: any Clock<Duration>
  private let positions = Lock<[ObjectIdentifier: ConsumerPosition]>([:])

  /// - Returns: nil for a read-only store.
  init?(writer: Writer?, reader: Reader, _ publication: Publication, clock: any Clock<Duration>) {
    guard let writer else { return nil }
    self.writer = writer
    self.reader = reader
    self.publication = publication
    self.clock = clock
  }

  func take(_ name: String, from start: Consumer.Start) throws(StoreError) -> Consumer {
    try Limits.checkConsumer(name)
    let claim = try writer.writing { transaction throws(StoreError) in
      try ConsumerClaim(name, from: start, in: &transaction)
    }
    // Nothing was logged, but the previous holder may be waiting for a change.
    publication.wakeFollowers()
    let position = ConsumerPosition(claim, of: self)
    positions.withLock { $0[ObjectIdentifier(position)] = position }
    return Consumer(position, of: self)
  }

  func remove(_ name: String) throws(StoreError) -> Bool {
    let isRemoved = try writer.writing { transaction throws(StoreError) in
      try transaction.session.removeConsumer(name)
    }
    if isRemoved { publication.wakeFollowers() }
    return isRemoved
  }

  /// Writes on the store's thread, so that no thread of the concurrency pool is blocked.
  ///
  /// The write has a task of its own, so that an acknowledgment is written even if the caller is canceled.
  func writing<Result: Sendable>(
    _ body: @escaping @Sendable (inout WriteTransaction) throws(StoreError) -> Result
  ) async throws(StoreError) -> Result {
    let task = Task { [writer] in
      try await writer.write(origin: nil) { transaction in try body(&transaction) }
    }
    do { return try await task.value } catch {
      throw StoreError(error)
    }
  }

  /// Called when a consumer is released.
  func release(_ position: ConsumerPosition) {
    // Before the removal: a store that is being closed at the same time flushes only the positions in the list.
    try? position.flushNow()
    _ = positions.withLock { $0.removeValue(forKey: ObjectIdentifier(position)) }
  }

  /// Called before the store is closed.
  func close() {
    let open = positions.withLock { positions in
      defer { positions = [:] }
      return Array(positions.values)
    }
    for position in open { try? position.flushNow() }
  }
}
