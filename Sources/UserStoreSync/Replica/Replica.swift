public import UserStore

/// A store that follows a store on a server: a copy of its users, or of some of them, that is kept up to date.
///
///     let replica = try Replica(of: store, from: server, users: .all, writes: .queued)
///     replica.state.bindAndFire("status") { print($0) }
///     try await replica.run()
///
/// Everything reads the store as any other: lists, listeners, feeds, consumers, the sqlite3 shell. At every moment, its users are
/// exactly those that the server had at one place of its log, with what the application has written since, and the server has not yet
/// decided, on top. Each set of the server becomes one set here, with its origin (`ChangeSet.isPulled`); what a copy or a decision
/// changes becomes one set without an origin.
///
/// The file is then a replica for good. With `Writes.none`, every other write is refused (`StoreError.Code.readOnlyReplica`), from
/// whichever program.
public final class Replica: Sendable {
  /// The users that a replica has.
  public enum Users: Hashable, Sendable {
    /// All that the server lets it read.
    case all
    /// The users with these ids, up to 10,000, as far as they exist.
    case ids([UserStore.User.ID])
  }

  /// What the replica does with writes of the application.
  public enum Writes: Sendable {
    /// It refuses them.
    case none
    /// It lets them through, from any program, also without the network, and sends them to the server in their order.
    ///
    /// The server decides: it accepts a set whole, or refuses it (`refusals`). A new user gets a random negative id, because two
    /// replicas would give the next one to two people.
    case queued
  }

  /// How a replica is doing.
  public enum State: Hashable, Sendable {
    /// It copies the server's users: so many of so many are there. The users of before stay visible until all are.
    case copying(done: Int, of: Int)
    /// It follows the server, which is so many revisions ahead.
    case following(behind: Int)
    /// It could not go on, and tries again at a time in milliseconds since 1970.
    case waiting(reason: String, retryAt: Int64)
    /// It cannot go on until somebody does something; `run` has thrown the problem.
    case refused(Problem)
  }

  /// A reason why a replica cannot go on, which no later attempt changes.
  public enum Problem: Error, Hashable, CustomStringConvertible {
    /// The records at the address are others than those that were copied: for example, a new server without a backup of the old one.
    ///
    /// `confirm` lets the replica copy them.
    case anotherServer(identity: String)
    /// The server speaks a version of the protocol that this library does not know.
    case newerServer(version: Int64)
    /// The server knows the replica as somebody else than when it copied, for whom it must not send what was written before.
    case anotherSubject
    /// The file lacks what is to be sent; `signOut(pending: .discard)` gives it up.
    case damaged(String)
    /// The server has refused a request, with this explanation.
    case badRequest(String)

    /// A description of the problem.
    public var description: String {
      switch self {
      case .anotherServer(let identity):
        "the users of the server (\(identity)) are not those that were copied; confirm it to copy them in their place"
      case .newerServer(let version): "the server speaks version \(version) of the protocol; update this program"
      case .anotherSubject: "the server knows this replica as somebody else than before; use a file for each person"
      case .damaged(let detail): detail
      case .badRequest(let detail): "the server has refused the request: \(detail)"
      }
    }

    init?(_ server: ServerState, of file: ReplicaFile) {
      if server.version > protocolVersion {
        self = .newerServer(version: server.version)
      } else if let known = file.identity, known != server.identity {
        self = .anotherServer(identity: server.identity)
      } else if let known = file.subject, known != server.subject {
        self = .anotherSubject
      } else {
        return nil
      }
    }
  }

  /// How the replica is doing; changes only while it runs in this process.
  public let state: Listenable<State>
  /// How many sets of the application the server has not decided; changes only while it runs in this process.
  public let pending: Listenable<Int>

  let store: UserStore
  let transport: any SyncTransport
  let retries: Retries
  private let source: SignalSource<State>
  private let pendingSource: SignalSource<Int>
  /// The cursor of the server through which the users here are the server's.
  private let position: (source: SignalSource<Cursor?>, listenable: Listenable<Cursor?>)
  /// The newest refusal.
  let newestRefusal: (source: SignalSource<Int64>, listenable: Listenable<Int64>)

  // MARK: Creating

  /// Makes a store a replica, or goes on with one.
  ///
  /// Nothing is sent until it runs. With other `users` than before, it copies again; what was visible stays until then.
  ///
  /// - Parameters:
  ///   - store: The store, in a file. The first time, it has no users, and no attribute is unique.
  ///   - transport: The way to the server.
  ///   - users: The users to copy and follow.
  ///   - writes: What happens to writes of the application.
  /// - Throws: `StoreError.Code.notEmpty` for a store with users that is no replica; `.unsupported` for a store on a server, or
  ///   with unique attributes; `.badValue` for more than 10,000 ids or none; and the codes that every write can throw.
  public convenience init(
    of store: UserStore, from transport: any SyncTransport, users: Users = .all, writes: Writes
  ) throws {
    try self.init(of: store, from: transport, users: users, writes: writes, Retries())
  }

  package init(
    of store: UserStore, from transport: any SyncTransport, users: Users, writes: Writes = .none, _ retries: Retries
  ) throws {
    (self.store, self.transport, self.retries) = (store, transport, retries)
    let ids = try users.stored()
    let (file, count, refusal) = try store.write { transaction in
      try Self.open(&transaction, transport.address, ids, writes)
    }
    let state: State = file.copy.map { .copying(done: $0.done, of: $0.count) } ?? .following(behind: 0)
    (source, self.state) = Listenable.make(state)
    (pendingSource, pending) = Listenable.make(count)
    position = Listenable.make(file.cursor)
    newestRefusal = Listenable.make(refusal)
  }

  private static let insert = SQL(
    "make the store a replica",
    """
    INSERT INTO userstore_replica (id, address, users, taken, seen_nonce, seen_epoch, producer, writing)
    VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, 0)
    """)

  private static func open(
    _ transaction: inout WriteTransaction, _ address: String, _ ids: String?, _ writes: Writes
  ) throws(StoreError) -> (file: ReplicaFile, pending: Int, refusal: Int64) {
    let tables = try PartTables(transaction.session)
    let isNew = try !tables.has(.replica)
    if isNew {
      if try transaction.count() > 0 {
        throw StoreError(
          .notEmpty, "the store has users, which a copy of the server's would remove", hint: "use a new file")
      }
      if try transaction.session.indexes().contains(where: \.isUnique) {
        throw StoreError(.unsupported, "a replica has no unique attributes: its server has them")
      }
      try tables.create(.replica)
    }
    try tables.create(.outbox)
    if isNew {
      let end = try transaction.session.logEnd()
      try tables.run(
        insert, .text(address), StoredValue(ids), .integer(end.revision.rawValue), .integer(end.nonce),
        .integer(end.epoch), .integer(.random(in: 1 ... .max)))
    }
    return try ReplicaTransaction.run(in: &transaction) { own throws(StoreError) in
      own.file.address = address
      try own.letWrite(writes)
      if !own.file.follows(ids) || own.file.cursor == nil && own.file.copy == nil {
        own.file.users = ids
        try own.beginCopy()
      }
      return (own.file, try own.outbox.count, try own.refusals.newest)
    }
  }

  // MARK: Showing

  /// Accepts other records at the address as those to copy, after `Problem.anotherServer`.
  ///
  /// - Parameter identity: The identity in the problem.
  /// - Throws: The codes that every write can throw.
  public func confirm(identity: String) throws {
    try store.write { transaction in
      try ReplicaTransaction.run(in: &transaction) { own throws(StoreError) in
        own.file.identity = identity
        try own.beginCopy()
      }
    }
  }

  func show(_ state: State) { if self.state.value != state { source.send(state) } }

  /// Shows how far the file is.
  ///
  /// - Returns: Whether the replica follows, and does not copy.
  @discardableResult func showProgress() async throws -> Bool {
    let (file, count, refusal) = try await store.read { users in
      let tables = try PartTables(users.session)
      return (try ReplicaFile(tables), try Outbox(tables: tables).count, try RefusalTable(tables: tables).newest)
    }
    if pending.value != count { pendingSource.send(count) }
    if newestRefusal.listenable.value != refusal { newestRefusal.source.send(refusal) }
    guard let cursor = file.cursor, file.copy == nil else { return false }
    if position.listenable.value != cursor { position.source.send(cursor) }
    return true
  }

  /// Waits until the users here are those of the server at a cursor of the server, or later, while the replica runs in this process.
  ///
  /// - Parameter cursor: A cursor of the server's log, such as that of a write there.
  /// - Throws: `CancellationError`.
  public func caughtUp(to cursor: UserStore.Cursor) async throws {
    for await position in position.listenable.values {
      if let position, position.includes(cursor) { return }
    }
    throw CancellationError()
  }
}

extension Replica.Users {
  /// The ids as they are stored: ascending, each once; nil for all.
  fileprivate func stored() throws(StoreError) -> String? {
    guard case .ids(let ids) = self else { return nil }
    let numbers = Set(ids.map(\.rawValue)).sorted()
    guard (1...SyncRequest.userLimit).contains(numbers.count) else {
      throw StoreError(
        .badValue, "a replica can have 1 to \(SyncRequest.userLimit) users by their ids, not \(numbers.count)")
    }
    return ReplicaFile.text(of: numbers)
  }
}
