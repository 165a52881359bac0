public import UserStore

/// A store that follows a store on a server: a copy of its users, or of some of them, that is kept up to date.
///
///     let replica = try Replica(of: store, from: server, users: .all, writes: .none)
///     replica.state.bindAndFire("status") { print($0) }
///     try await replica.run()
///
/// Everything reads the store as any other: lists, listeners, feeds, consumers, the sqlite3 shell. At every moment, its users are
/// exactly those that the server had at one place of its log. Each set of the server becomes one set here, with its origin
/// (`ChangeSet.isPulled`); what a copy changes becomes one set without an origin.
///
/// The file is then a replica for good: every other write is refused (`StoreError.Code.readOnlyReplica`), from whichever program.
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
    /// The server has refused a request, with this explanation.
    case badRequest(String)

    /// A description of the problem.
    public var description: String {
      switch self {
      case .anotherServer(let identity):
        "the users of the server (\(identity)) are not those that were copied; confirm it to copy them in their place"
      case .newerServer(let version): "the server speaks version \(version) of the protocol; update this program"
      case .badRequest(let detail): "the server has refused the request: \(detail)"
      }
    }

    init?(_ server: ServerState, known: String?) {
      if server.version > protocolVersion {
        self = .newerServer(version: server.version)
      } else if let known, known != server.identity {
        self = .anotherServer(identity: server.identity)
      } else {
        return nil
      }
    }
  }

  /// How the replica is doing; changes only while it runs in this process.
  public let state: Listenable<State>

  private let store: UserStore
  private let transport: any SyncTransport
  private let retries: Retries
  private let source: SignalSource<State>
  /// The cursor of the server through which the users here are the server's.
  private let position: (source: SignalSource<Cursor?>, listenable: Listenable<Cursor?>)

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
    try self.init(of: store, from: transport, users: users, Retries())
  }

  package init(of store: UserStore, from transport: any SyncTransport, users: Users, _ retries: Retries) throws {
    (self.store, self.transport, self.retries) = (store, transport, retries)
    let ids = try users.stored()
    let file = try store.write { transaction in try Self.open(&transaction, transport.address, ids) }
    let state: State = file.copy.map { .copying(done: $0.done, of: $0.count) } ?? .following(behind: 0)
    (source, self.state) = Listenable.make(state)
    position = Listenable.make(file.cursor)
  }

  private static let insert = SQL(
    "make the store a replica",
    """
    INSERT INTO userstore_replica (id, address, users, seen, seen_nonce, seen_epoch, producer, writing)
    VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, 0)
    """)

  private static func open(
    _ transaction: inout WriteTransaction, _ address: String, _ ids: String?
  ) throws(StoreError) -> ReplicaFile {
    let tables = try PartTables(transaction.session)
    if try !tables.has(.replica) {
      if try transaction.count() > 0 {
        throw StoreError(
          .notEmpty, "the store has users, which a copy of the server's would remove", hint: "use a new file")
      }
      if try transaction.session.indexes().contains(where: \.isUnique) {
        throw StoreError(.unsupported, "a replica has no unique attributes: its server has them")
      }
      try tables.create(.replica)
      let end = try transaction.session.logEnd()
      try tables.run(
        insert, .text(address), StoredValue(ids), .integer(end.revision.rawValue), .integer(end.nonce),
        .integer(end.epoch), .integer(.random(in: 1 ... .max)))
    }
    return try ReplicaTransaction.run(in: &transaction) { own throws(StoreError) in
      own.file.address = address
      if own.file.users != ids || own.file.cursor == nil && own.file.copy == nil {
        own.file.users = ids
        try own.beginCopy()
      }
      return own.file
    }
  }

  // MARK: Running

  /// Copies and follows until the task is canceled or the store is closed, and then returns.
  ///
  /// Failures of the network and of the server are repeated forever, with growing pauses of at most a minute; `state` shows them. The process may be
  /// killed at any moment. Several processes may run replicas of one file.
  ///
  /// - Throws: `Problem` if no later attempt can help; run it again when the cause is gone.
  public func run() async throws { try await run(until: { _ in false }) }

  /// Copies and follows until the replica has everything that the server had when this was called, or later.
  ///
  /// - Throws: `Problem`, and `CancellationError`.
  public func catchUp() async throws {
    try await run(until: { $0 })
    try Task.checkCancellation()
  }

  /// Waits until the users here are those of the server at a cursor of the server, or later, while the replica runs in this process.
  ///
  /// - Parameter cursor: A cursor of the server's log, such as that of a write there.
  /// - Throws: `CancellationError`.
  public func caughtUp(to cursor: UserStore.Cursor) async throws {
    for await position in position.listenable.values {
      if let position, position.epoch == cursor.epoch, position.revision >= cursor.revision { return }
    }
    throw CancellationError()
  }

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

  private func run(until isDone: (_ isUpToDate: Bool) -> Bool) async throws {
    var attempts = Attempts()
    while !Task.isCancelled {
      do {
        if isDone(try await takeStep(&attempts, waits: !isDone(true))) { return }
      } catch let problem as Problem {
        show(.refused(problem))
        throw problem
      } catch is CancellationError {
        return
      } catch {
        // A transport may have an error of its own for a request that was canceled.
        if Task.isCancelled || StoreError.Code.closed ~= error { return }
        try await pause(after: error, &attempts)
      }
    }
  }

  /// How often in a row something has failed, and how often a copy began again.
  private struct Attempts {
    var failures = 0
    var copies = 0
  }

  /// Takes one step; returns whether the replica had reached the end of the server's log.
  private func takeStep(_ attempts: inout Attempts, waits: Bool) async throws -> Bool {
    // After a copy or a failure, the first answer comes at once, so that the state is right again.
    let wait = waits && isFollowing ? SyncRequest.longestWait : 0
    guard let step = try await store.read({ try ReplicaStep.next(in: &$0, wait: wait) }) else {
      try await store.write { try ReplicaStep.begin(in: &$0) }
      return false
    }
    guard case .ask(let request) = step.action else {
      try await settle(try await store.write { try step.install(in: &$0) }, &attempts)
      return false
    }
    // While it fails, the reason stays.
    if let progress = step.progress, attempts.failures == 0 { show(.copying(done: progress.done, of: progress.count)) }
    let asked = retries.now()
    let answer = try await ReplicaAnswer(try await transport.send(request), to: request)
    let outcome = try await store.write { try step.apply(answer, in: &$0) }
    try await settle(outcome, &attempts)
    guard case .changes(let page) = answer, step.copy == nil, !outcome.isLate, !outcome.hasBegun else { return false }
    show(.following(behind: outcome.behind))
    if wait > 0, !page.hasMore, !outcome.hasMoved { try await retries.pauseIfSoon(after: asked) }
    return !page.hasMore
  }

  private func settle(_ outcome: ReplicaOutcome, _ attempts: inout Attempts) async throws {
    attempts.failures = 0
    if outcome.hasPurged { try await store.eraseOldPages() }
    guard outcome.hasBegun || outcome.hasMoved else { return }
    let file = try await store.read { users in try ReplicaFile(PartTables(users.session)) }
    if let cursor = file.cursor, file.copy == nil {
      attempts.copies = 0
      if position.listenable.value != cursor { position.source.send(cursor) }
    }
    if outcome.hasBegun {
      attempts.copies += 1
      // The first at once; one that always begins again must not load the server.
      if attempts.copies > 1 {
        try await pause("the server's log did not go on", for: retries.delay(after: attempts.copies - 1))
      }
    }
  }

  private func pause(after error: any Error, _ attempts: inout Attempts) async throws {
    attempts.failures += 1
    let asked = (error as? SyncFailure)?.retryAfter ?? .zero
    try await pause("\(error)", for: max(retries.delay(after: attempts.failures), min(asked, Retries.longestAsked)))
  }

  private func pause(_ reason: String, for time: Duration) async throws {
    show(.waiting(reason: reason, retryAt: WallClock.milliseconds + Int64(time / .milliseconds(1))))
    try? await retries.sleep(time)
  }

  private var isFollowing: Bool { if case .following = state.value { true } else { false } }

  private func show(_ state: State) { if self.state.value != state { source.send(state) } }
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
