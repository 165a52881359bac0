import UserStore

/// What the server has answered to a step.
enum ReplicaAnswer {
  case server(ServerState)
  case users(UsersPage)
  case changes(ChangesPage)
  case replicas(ReplicaList)
  /// The server's log does not go on where the step starts.
  case lost

  /// Reads the answer to a request.
  ///
  /// - Throws: `Replica.Problem` if asking again does not help, `SyncFailure` for any other answer that is no success.
  init(_ response: SyncResponse, to request: SyncRequest) async throws {
    let bytes = try await response.bytes()
    switch response.status {
    case 200: try self.init(bytes, to: request)
    case 409, 410: self = .lost
    case 400: throw Replica.Problem.badRequest(Self.detail(bytes))
    default: throw SyncFailure(Self.message(response.status, bytes), retryAfter: response.retryAfter)
    }
  }

  init(_ bytes: [UInt8], to request: SyncRequest) throws {
    self =
      switch request.resource {
      case .server: .server(try ServerState(bytes))
      case .users: .users(try UsersPage(bytes))
      case .changes: .changes(try ChangesPage(bytes))
      case .replicas: .replicas(try ReplicaList(bytes))
      }
  }

  private static func message(_ status: Int, _ bytes: [UInt8]) -> String {
    let reason =
      switch status {
      case 401, 403: "the server does not accept the token"
      case 404: "the server has no replicas (userserver --replicas)"
      default: "the server answers with status \(status)"
      }
    let detail = detail(bytes)
    return detail.isEmpty ? reason : "\(reason): \(detail)"
  }

  /// The `detail` of problem details (RFC 9457); empty if there is none.
  private static func detail(_ bytes: [UInt8]) -> String {
    guard bytes.count <= 1 << 16, let text = String(validating: bytes, as: UTF8.self),
      case .object(let members)? = JSONScanner.value(in: text),
      case .text(let detail)? = members.first(where: { $0.name == "detail" })?.value
    else { return "" }
    return String(detail.prefix(500))
  }
}

/// What a step has changed.
struct ReplicaOutcome: Sendable {
  /// Whether users were purged, so that old pages of the file have to be erased.
  var hasPurged = false
  /// Whether a copy began because the log here or there did not go on.
  var hasBegun = false
  /// Whether the step was of a state that the file no longer has.
  var isLate = false
  /// Whether users may have become visible, or a page of a copy was staged.
  var hasMoved = false
  /// How many revisions of the server are still to be read.
  var behind = 0
}

extension ReplicaStep {
  /// The next step of a file; nil if a copy has to begin first.
  static func next(in transaction: inout ReadTransaction, wait: Int) throws(StoreError) -> ReplicaStep? {
    ReplicaStep(try ReplicaFile(PartTables(transaction.session)), wait: wait)
  }

  /// Begins the first copy.
  static func begin(in transaction: inout WriteTransaction) throws(StoreError) {
    try ReplicaTransaction.run(in: &transaction) { own throws(StoreError) in
      if own.file.cursor == nil, own.file.copy == nil { try own.beginCopy() }
    }
  }

  /// Installs the copy.
  func install(in transaction: inout WriteTransaction) throws(StoreError) -> ReplicaOutcome {
    try ReplicaTransaction.run(in: &transaction) { own throws(StoreError) in
      guard isCurrent(in: own.file) else { return ReplicaOutcome(isLate: true) }
      return ReplicaOutcome(hasPurged: try own.install(), hasMoved: true)
    }
  }

  /// Applies an answer, in one transaction with the state of the file.
  ///
  /// - Throws: `Replica.Problem` if the server is another one.
  func apply(_ answer: ReplicaAnswer, in transaction: inout WriteTransaction) throws -> ReplicaOutcome {
    var problem: Replica.Problem?
    let outcome = try ReplicaTransaction.run(in: &transaction) { own throws(StoreError) in
      guard isCurrent(in: own.file) else { return ReplicaOutcome(isLate: true) }
      let copy = own.file.copy?.id
      var outcome = ReplicaOutcome(hasMoved: true)
      switch answer {
      case .server(let server):
        problem = Replica.Problem(server, known: own.file.identity)
        if problem == nil { try own.begin(server) }
      case .users(let page): try own.stage(page)
      case .changes(let page) where copy != nil: try own.catchUp(page)
      case .changes(let page):
        outcome.hasMoved = own.file.cursor != page.cursor || own.file.part != page.part
        outcome.hasPurged = try own.follow(page)
        outcome.behind = page.head.map { Int($0.revision.rawValue - page.cursor.revision.rawValue) } ?? 0
      case .lost: try own.beginCopy()
      // No step asks for them.
      case .replicas: break
      }
      outcome.hasBegun = own.file.copy?.id != copy
      return outcome
    }
    if let problem { throw problem }
    return outcome
  }
}
