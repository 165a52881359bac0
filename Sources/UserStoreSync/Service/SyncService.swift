public import UserStore

/// Answers the requests of replicas of a store, and writes what they send: the server's half of the protocol, for any server of HTTP.
///
///     let service = try SyncService(store)
///     let answer = try await service.answer(SyncRequest(path: "/sync/changes", query: query, body: body))
///
/// An answer is made in short reads, and has about a megabyte: a replica that reads slowly holds no transaction open. The store can
/// have either engine. Find out before who asks, and give it the `Access`.
public final class SyncService: Sendable {
  let store: UserStore
  private let limits: Limits
  private let table: ReplicaTable
  /// Which users people owned at each place of the log, for feeds of the same server.
  public let ownership: OwnershipHistory

  /// The sizes of answers.
  package struct Limits: Sendable {
    package var users = 1_000
    package var bytes = 1 << 20
    package var sets = Int.max
    /// How many pages of the log are read for one answer if nothing in them is shown.
    package var hiddenPages = 20
    /// How many replicas are known.
    package var replicas = 10_000
    /// The time in milliseconds since 1970.
    package var now: @Sendable () -> Int64 = { WallClock.milliseconds }

    package init() {}
  }

  /// Prepares a store for replicas.
  ///
  /// A file gets tables: for the identity of its records, for the users that were purged, and for what was decided about sets of
  /// replicas; older versions of the library then refuse it. On PostgreSQL, the tables belong to the schema.
  ///
  /// - Parameter store: The store, which the service holds.
  /// - Throws: `StoreError.Code.readOnly` for a store without the tables that was opened only for reading; `.schemaTooOld` on a
  ///   server whose schema has to be migrated by its owner; and the codes that every write can throw.
  public convenience init(_ store: UserStore) throws(StoreError) { try self.init(store, Limits()) }

  package init(_ store: UserStore, _ limits: Limits) throws(StoreError) {
    (self.store, self.limits) = (store, limits)
    table = ReplicaTable(limit: limits.replicas, now: limits.now)
    ownership = OwnershipHistory(of: store)
    try store.prepareServer()
  }

  /// Lets a read of an answer begin when there is room for it: calls `read` once, which returns how many bytes the answer has.
  ///
  /// When a set is committed, all replicas that wait read it, each an answer of up to a megabyte.
  public typealias Turn = @Sendable (_ read: () async throws -> Int) async throws -> Void

  /// Answers a request.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - access: Who asks; by default somebody whose name nobody knows, and who may do everything.
  ///   - turn: Lets each read of it begin; by default at once.
  /// - Returns: The answer.
  /// - Throws: `StoreError.Code.diverged` (409), `.compacted` (410) and `.behind` (503) for a cursor, `.badValue` (400), the codes
  ///   that every read can throw, `CancellationError`, and the errors of `turn`.
  public func answer(
    _ request: SyncRequest, for access: Access = Access(),
    reading turn: @escaping Turn = { read in _ = try await read() }
  ) async throws -> SyncAnswer {
    // A program that asks for the replicas need not be one.
    let producer = request.resource == .replicas ? nil : request.producer
    let key = producer.map { ReplicaTable.Key(subject: access.subject, producer: $0) }
    let asked = key.map { ($0, table.note(request, of: $0)) }
    do { return try await answer(request, Scope(access, request, limits, turn, asked)) } catch let error as StoreError {
      if let key { table.noteRefusal(of: key) }
      throw error
    }
  }

  private func answer(_ request: SyncRequest, _ scope: Scope) async throws -> SyncAnswer {
    func read(_ body: @escaping @Sendable (inout ReadTransaction) throws -> SyncAnswer) async throws -> SyncAnswer {
      var answer = SyncAnswer(contentType: "", body: [])
      try await scope.turn {
        answer = try await store.read(body)
        return answer.body.count
      }
      return answer
    }
    return switch request.resource {
    case .server: try await read { users in try Self.server(&users, scope) }
    case .users(let last, let start):
      try await read { users in try Self.users(&users, after: last, from: start, scope.resolved(in: &users)) }
    case .changes(let cursor, let part, let also, _):
      try await changes(after: cursor, part: part, also: also, wait: request.wait, scope)
    case .push(let body): try await push(body, scope)
    case .replicas: try await read { [table] users in Self.answer(table.replicas(behind: try users.cursor)) }
    }
  }

  // MARK: Replicas

  /// The replicas that have sent requests since the service was created, first those that did so last.
  ///
  /// They are in memory. Of more than 10,000, those whose last requests are the oldest are forgotten.
  ///
  /// - Throws: The codes that every read can throw.
  public func replicas() async throws -> [ReplicaInfo] {
    try await store.read { [table] users in table.replicas(behind: try users.cursor) }
  }

  /// Counts an answer that refused a request before it came here, such as for a wrong token, if the replica is known.
  ///
  /// - Parameter replica: The value of the header `Userstore-Replica`; nil if there was none.
  public func noteRefusal(of replica: String?) {
    guard let producer = replica.flatMap({ Int64($0) }) else { return }
    table.noteRefusal(of: ReplicaTable.Key(subject: "", producer: producer))
  }

  private static func answer(_ replicas: [ReplicaInfo]) -> SyncAnswer {
    SyncAnswer(
      contentType: "application/json", body: JSON.object([("replicas", .list(replicas.map(\.json)))]).bytes)
  }

  /// What one request is answered with.
  struct Scope: Sendable {
    var access: Access
    let grant: String
    let limits: Limits
    /// The ids of the users that are shown, ascending; nil for all users, or all but the hidden ones.
    private(set) var ids: [Int64]?
    private let subset: Set<Int64>?
    let turn: Turn
    /// The replica and the number of its request; nil for another client.
    let asked: (replica: ReplicaTable.Key, number: Int)?

    init(
      _ access: Access, _ request: SyncRequest, _ limits: Limits, _ turn: @escaping Turn,
      _ asked: (replica: ReplicaTable.Key, number: Int)?
    ) {
      (self.access, grant, self.limits, self.turn, self.asked) = (access, access.grant, limits, turn, asked)
      ids = request.users ?? access.readableUsers?.map(\.rawValue).sorted()
      subset = request.users.map { Set($0) }
    }

    /// The same with the users that the subject owns now.
    func resolved(in users: inout ReadTransaction) throws(StoreError) -> Scope {
      var scope = self
      scope.access = try access.resolved(in: &users)
      if access.ownsUsers, subset == nil, let readable = access.readableUsers {
        scope.ids = readable.union(scope.access.ownedUsers).map(\.rawValue).sorted()
      }
      // Others are not read: the time would tell whether there are such users.
      scope.ids = scope.ids?.filter { scope.access.may(.read, User.ID($0)) }
      return scope
    }

    var subject: String { access.subject }

    var showsAll: Bool { subset == nil && access.readsAll }

    /// Whether the reader sees an entry of the log.
    func shows(_ entry: UserStore.Entry) -> Bool {
      guard let subset else { return access.shows(entry) }
      return entry.user.map { subset.contains($0.rawValue) } ?? false && access.shows(entry)
    }
  }

  // MARK: The server

  private static func server(_ users: inout ReadTransaction, _ scope: Scope) throws -> SyncAnswer {
    guard let server = try users.session.server() else {
      throw StoreError(.schemaChanged, "the tables for replicas are missing; they were created when the server started")
    }
    let state = ServerState(
      identity: ServerState.text(ofIdentity: server.identity), cursor: try users.cursor, (scope.subject, scope.grant),
      count: try users.count(where: scope.access.readable), purged: server.purged)
    return SyncAnswer(contentType: "application/json", body: state.json.bytes)
  }

  // MARK: Users

  private static func users(
    _ users: inout ReadTransaction, after last: Int64?, from start: Cursor, _ scope: Scope
  ) throws -> SyncAnswer {
    try users.requireState(from: start)
    var lines = SyncAnswer.Lines()
    lines.append([
      ("op", .text("users")), ("cursor", .text(try users.cursor.description)), ("grant", .text(scope.grant)),
    ])
    var (count, end, isFull) = (0, last, false)
    func take(_ user: User) -> Bool {
      guard let shown = scope.access.shown(user) else { return true }
      end = user.id.rawValue
      lines.append(shown.json)
      count += 1
      isFull = count >= scope.limits.users || lines.bytes.count >= scope.limits.bytes
      return !isFull
    }
    // Attributes that may not be read are not read: the time would tell how large they are.
    var query = UserStore.Query(showing: scope.access.readableAttributes?.sorted())
    if let ids = scope.ids {
      // As many at once as a condition can have values.
      var rest = last.map { last in ids.drop { $0 <= last } } ?? ids[...]
      while !rest.isEmpty, !isFull {
        let some = rest.prefix(500)
        if query.showing == nil {
          try users.forEachUser(in: some.map { UserStore.User.ID($0) }, while: take)
        } else {
          query.where = .isOneOf("id", some.map { .integer($0) })
          try users.iterateUsers(matching: query, while: take)
        }
        rest = rest.dropFirst(500)
      }
    } else if query.showing == nil {
      try users.forEachUser(after: last.map { UserStore.User.ID($0) }, while: take)
    } else {
      if let last { query.where = UserStore.Condition("id", .greater, .integer(last)) }
      try users.iterateUsers(matching: query, while: take)
    }
    lines.append([
      ("op", .text("end")), ("last", end.map { .integer($0) } ?? .null),
      ("more", .bool(isFull)),
    ])
    return SyncAnswer(contentType: SyncAnswer.lines, body: lines.bytes)
  }

  // MARK: Changes

  private func changes(
    after cursor: Cursor, part: Cursor?, also: Cursor?, wait: Int, _ scope: Scope
  ) async throws -> SyncAnswer {
    // Before the first read, so that no set is missed between it and the wait.
    let rings = wait > 0 ? store.rings() : nil
    var answer = ChangesAnswer(at: cursor, for: scope.access)
    try await scope.turn {
      // A set in parts is not shown to somebody who owns users, and the rights are those after `cursor`.
      if part != nil, scope.access.ownsUsers {
        throw StoreError(.diverged, "parts of a set are not shown to somebody who owns users")
      }
      guard try await ownership.start(from: cursor, for: scope.access) == cursor else {
        throw StoreError(.diverged, "the cursor is within a set")
      }
      answer = ChangesAnswer(at: cursor, for: try await ownership.access(scope.access, at: cursor))
      return 0
    }
    try await page(&answer, part: part, also: also, scope)
    if let rings, answer.isPending { try await waitForChanges(&answer, seconds: wait, rings, scope) }
    return answer.finished(asked: (cursor, part, also), scope)
  }

  /// Reads on from the cursor of an answer that has nothing yet.
  private func page(
    _ answer: inout ChangesAnswer, part: Cursor? = nil, also: Cursor? = nil, _ scope: Scope
  ) async throws {
    var (part, also) = (part, also)
    try await scope.turn {
      for _ in 0..<limits.hiddenPages {
        let found = try await store.logPart(after: answer.cursor, part: part, also: also)
        try answer.append(found, scope)
        (part, also) = (nil, nil)
        if !answer.hasMore || !answer.isEmpty || answer.part != nil { break }
      }
      return answer.byteCount
    }
  }

  /// Waits until there is something that the reader sees, or until the time is over.
  private func waitForChanges(
    _ answer: inout ChangesAnswer, seconds: Int, _ rings: Bell.Rings, _ scope: Scope
  ) async throws {
    if let (replica, number) = scope.asked { table.note(number, of: replica, waits: true) }
    defer { if let (replica, number) = scope.asked { table.note(number, of: replica, waits: false) } }
    let end = ContinuousClock.now + .seconds(seconds)
    // Ends the wait when its time is over.
    let timer = Task { if (try? await Task.sleep(until: end)) != nil { rings.ring() } }
    defer { timer.cancel() }
    for await _ in rings.stream {
      try await page(&answer, scope)
      if !answer.isPending || .now >= end { return }
    }
    try Task.checkCancellation()
    throw StoreError(.closed, "the store is closed")
  }
}

/// The answer to a replica.
public struct SyncAnswer: Sendable {
  /// The type of the body: `application/json` or `application/jsonl`.
  public let contentType: String
  /// A tag of an answer that only a purge changes, and with it the tag; nil for one that may be another one next time.
  public let etag: String?
  /// The body.
  public let body: [UInt8]

  static let lines = "application/jsonl"

  init(contentType: String, etag: String? = nil, body: [UInt8]) {
    (self.contentType, self.etag, self.body) = (contentType, etag, body)
  }

  /// Lines of JSON.
  struct Lines {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ members: [(name: String, value: JSON)]) { append(JSON.object(members).description) }

    mutating func append(_ json: String) {
      bytes += json.utf8
      bytes.append(UInt8(ascii: "\n"))
    }
  }
}

extension UserStore.Entry {
  /// The user that the entry is about.
  fileprivate var user: User.ID? {
    switch self {
    case .change(let change): change.user
    case .event(let event): event.user
    }
  }
}
