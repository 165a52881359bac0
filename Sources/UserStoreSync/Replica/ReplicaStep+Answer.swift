import UserStore

/// What the server has answered to a step.
enum ReplicaAnswer {
  case server(ServerState)
  case users(UsersPage)
  case changes(ChangesPage)
  case replicas(ReplicaList)
  case push(PushAnswer)
  /// The sets are larger than the server, or a proxy, accepts.
  case tooLarge
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
    case 413 where request.isPush: self = .tooLarge
    case 400: throw Replica.Problem.badRequest(Self.detail(bytes).detail)
    case 403 where Self.detail(bytes).code == StoreError.Code.wrongSubject.rawValue:
      throw Replica.Problem.anotherSubject
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
      case .push: .push(try PushAnswer(bytes))
      }
  }

  private static func message(_ status: Int, _ bytes: [UInt8]) -> String {
    let reason =
      switch status {
      case 401, 403: "the server does not accept the token"
      case 404: "the server has no replicas (userserver --replicas)"
      default: "the server answers with status \(status)"
      }
    let detail = detail(bytes).detail
    return detail.isEmpty ? reason : "\(reason): \(detail)"
  }

  /// The `detail` of problem details (RFC 9457), and the code of the error; empty if there is none.
  private static func detail(_ bytes: [UInt8]) -> (detail: String, code: String) {
    guard bytes.count <= 1 << 16, let text = String(validating: bytes, as: UTF8.self),
      case .object(let members)? = JSONScanner.value(in: text)
    else { return ("", "") }
    func member(_ name: String) -> String {
      if case .text(let text)? = members.first(where: { $0.name == name })?.value {
        String(text.prefix(500))
      } else {
        ""
      }
    }
    return (member("detail"), member("code"))
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
  /// Whether the sets were larger than the server, or a proxy, accepts.
  var isTooLarge = false
  /// Whether there are sets that the server has not decided.
  var hasUndecided = false
  /// How many revisions of the server are still to be read.
  var behind = 0
}

extension ReplicaStep {
  /// The next step of a file; nil if a copy has to begin first.
  ///
  /// The server may wait for changes so many seconds. `push` is how many sets may be sent; nil for none.
  static func next(
    in transaction: inout ReadTransaction, wait: Int, push: PushSize? = .batch
  ) throws(StoreError) -> ReplicaStep? {
    let tables = try PartTables(transaction.session)
    let file = try ReplicaFile(tables)
    var sets: Push?
    if let push { sets = try Outbox(tables: tables).push(file, isSingle: push == .single) }
    return ReplicaStep(file, wait: wait, push: sets)
  }

  /// How many sets a request may have.
  enum PushSize {
    case batch, single
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
        problem = Replica.Problem(server, of: own.file)
        if problem == nil { try own.begin(server) }
      case .users(let page): try own.stage(page)
      case .changes(let page) where copy != nil: try own.catchUp(page)
      case .changes(let page):
        outcome.hasMoved = own.file.cursor != page.cursor || own.file.part != page.part
        outcome.hasPurged = try own.follow(page)
        outcome.behind = page.head.map { Int($0.revision.rawValue - page.cursor.revision.rawValue) } ?? 0
      case .lost: try own.beginCopy()
      case .push(let answer): if let push { try own.receive(answer, of: push.producer) }
      case .tooLarge: if let push, push.sets.count == 1 { try own.refuse(push) }
      // No step asks for them.
      case .replicas: break
      }
      outcome.hasBegun = own.file.copy?.id != copy
      if case .tooLarge = answer { outcome.isTooLarge = true }
      outcome.hasUndecided = try own.outbox.hasSets
      return outcome
    }
    if let problem { throw problem }
    return outcome
  }
}
