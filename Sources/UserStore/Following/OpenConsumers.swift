/// The consumers of a store that somebody holds, and what they read and write with.
final class OpenConsumers: Sendable {
  let writer: Writer
  let reader: Reader
  let publication: Publication
  let clock: any Clock<Duration>
  private let positions = Lock<[ObjectIdentifier: ConsumerPosition]>([:])

  /// - Returns: nil for a store that only reads.
  init?(writer: Writer?, reader: Reader, _ publication: Publication, clock: any Clock<Duration>) {
    guard let writer else { return nil }
    self.writer = writer
    self.reader = reader
    self.publication = publication
    self.clock = clock
  }

  func take(_ name: String, from start: Consumer.Start) throws(StoreError) -> Consumer {
    try Limits.checkConsumer(name)
    let seat = try writer.writing { transaction throws(StoreError) in
      try ConsumerSeat.take(name, from: start, in: &transaction)
    }
    // Nothing was logged, but whoever had the name may be waiting for a change.
    publication.wakeFollowers()
    let position = ConsumerPosition(seat, of: self)
    positions.withLock { $0[ObjectIdentifier(position)] = position }
    return Consumer(position, of: self)
  }

  func remove(_ name: String) throws(StoreError) -> Bool {
    let isRemoved = try writer.writing { transaction throws(StoreError) in
      try ConsumerSeat.remove(name, in: &transaction)
    }
    if isRemoved { publication.wakeFollowers() }
    return isRemoved
  }

  /// Writes on the store's thread, so that nobody who awaits blocks a thread of the pool.
  ///
  /// In a task of its own: what was acknowledged is written, though the caller is cancelled.
  func writing<Result: Sendable>(
    _ body: @escaping @Sendable (inout WriteTransaction) throws(StoreError) -> Result
  ) async throws(StoreError) -> Result {
    let task = Task { [writer] in
      try await writer.write(origin: nil) { transaction in try body(&transaction) }
    }
    do { return try await task.value } catch {
      throw error as? StoreError ?? StoreError(.unexpected, "\(error)", cause: error)
    }
  }

  /// The consumer was released.
  func release(_ position: ConsumerPosition) {
    // In this order: a store that is closed meanwhile writes what this does not.
    try? position.flushNow()
    _ = positions.withLock { $0.removeValue(forKey: ObjectIdentifier(position)) }
  }

  /// The store is about to be closed.
  func close() {
    let open = positions.withLock { positions in
      defer { positions = [:] }
      return Array(positions.values)
    }
    for position in open { try? position.flushNow() }
  }
}
