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

  func take(_ name: String, from start: Consumer.Start, _ wanted: WantedSets) throws(StoreError) -> Consumer {
    try Limits.checkConsumer(name)
    let claim = try writer.writing { transaction throws(StoreError) in
      try self.claim(name, from: start, in: &transaction)
    }
    return add(claim, wanted)
  }

  func take(_ name: String, from start: Consumer.Start, _ wanted: WantedSets) async throws -> Consumer {
    try Limits.checkConsumer(name)
    let claim = try await writer.write(origin: nil) { transaction in
      try self.claim(name, from: start, in: &transaction)
    }
    return add(claim, wanted)
  }

  /// Writes the acknowledgments of a previous holder in this store first: one that was released has only queued them.
  private func claim(
    _ name: String, from start: Consumer.Start, in transaction: inout WriteTransaction
  ) throws(StoreError) -> ConsumerClaim {
    let holders = positions.withLock { $0.values.filter { $0.claim.name.hasSameBytes(as: name) } }
    // A holder that was superseded by another process has nothing to write.
    for holder in holders { _ = try? holder.writePending(in: &transaction) }
    return try ConsumerClaim(name, from: start, in: &transaction)
  }

  private func add(_ claim: ConsumerClaim, _ wanted: WantedSets) -> Consumer {
    // Nothing was logged, but the previous holder may be waiting for a change.
    publication.wakeFollowers()
    let position = ConsumerPosition(claim, wanted, of: self)
    positions.withLock { $0[ObjectIdentifier(position)] = position }
    return Consumer(position, of: self)
  }

  func remove(_ name: String) throws(StoreError) -> Bool {
    announce(try writer.writing { transaction throws(StoreError) in try transaction.session.removeConsumer(name) })
  }

  func remove(_ name: String) async throws -> Bool {
    announce(try await writer.write(origin: nil) { transaction in try transaction.session.removeConsumer(name) })
  }

  private func announce(_ isRemoved: Bool) -> Bool {
    if isRemoved { publication.wakeFollowers() }
    return isRemoved
  }

  func release(_ position: ConsumerPosition) {
    // Removed afterwards: a store that is being closed at the same time flushes only the positions in the list.
    position.flushSoon { _ = self.positions.withLock { $0.removeValue(forKey: ObjectIdentifier(position)) } }
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
