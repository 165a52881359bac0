import UserStore

extension Replica {
  /// Waits until the server has decided everything that the application has written so far, while the replica runs in this process.
  ///
  /// - Throws: `CancellationError`, and the codes that every write can throw.
  public func flush() async throws {
    try await takeIn()
    try await showProgress()
    for await count in pending.values where count == 0 { return }
    throw CancellationError()
  }

  /// What happens to sets that the server has not decided.
  public enum Pending: Sendable {
    /// They stay, and are sent when the same person signs in again; nobody else can use the file until then.
    case keep
    /// They are sent first, while the replica runs in this process.
    case send
    /// They are given up, and the server's records become visible; what was sent and not answered may have been accepted.
    case discard
  }

  /// Lets the application write no more, as with `Writes.none`, until a replica of the file is created with `Writes.queued`.
  ///
  /// What the application has written belongs to a person: it is never sent for somebody else.
  ///
  /// - Parameter pending: What happens to sets that the server has not decided.
  /// - Throws: `CancellationError`, and the codes that every write can throw.
  public func signOut(pending: Pending) async throws {
    if case .send = pending { try await flush() }
    let discards = if case .discard = pending { true } else { false }
    try await store.write { transaction in
      try ReplicaTransaction.run(in: &transaction, discarding: discards) { own throws(StoreError) in
        try own.letWrite(.none)
      }
    }
    try await showProgress()
  }

  /// The refusals that nobody has acknowledged, first the oldest ones, and then those that come while the replica runs in this process;
  /// they are in the file, so that none is lost.
  public var refusals: Refusals { Refusals(replica: self) }

  /// An endless sequence of refusals.
  public struct Refusals: AsyncSequence, Sendable {
    fileprivate let replica: Replica

    /// Starts with the oldest refusal.
    public func makeAsyncIterator() -> Iterator { Iterator(replica: replica) }

    /// Waits for the next refusal.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let replica: Replica
      private var last = Int64.min

      fileprivate init(replica: Replica) { self.replica = replica }

      /// The next refusal; nil when the task is canceled.
      ///
      /// - Throws: The codes that every read can throw.
      public mutating func next() async throws -> Refusal? {
        for await _ in replica.newestRefusal.listenable.values {
          guard let refusal = try await replica.refusal(after: last) else { continue }
          last = refusal.revision.rawValue
          return refusal
        }
        return nil
      }
    }
  }

  fileprivate func refusal(after last: Int64) async throws -> Refusal? {
    let store = store
    return try await store.read { users in
      let session = try users.session
      guard let entry = try RefusalTable(tables: PartTables(session)).next(after: last) else { return nil }
      return Refusal(entry, try session.changes(inRows: entry.first...entry.last), store)
    }
  }
}

extension ReplicaTransaction {
  /// Lets the application write, or not.
  mutating func letWrite(_ writes: Replica.Writes) throws(StoreError) {
    switch writes {
    case .none: try tables.create(.readOnly)
    case .queued: try tables.drop(.readOnly)
    }
    file.takesWrites = if case .queued = writes { true } else { false }
  }
}
