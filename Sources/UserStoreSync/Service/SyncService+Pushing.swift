import UserStore

extension SyncService {
  /// Decides the sets that a replica has sent, in their order, and writes those that are accepted: all in one transaction, each a set
  /// of the log with the replica's random number.
  ///
  /// A set that was decided before has the same result again.
  func push(_ body: [UInt8], _ scope: Scope) async throws -> SyncAnswer {
    var answer = SyncAnswer(contentType: SyncAnswer.lines, body: [])
    try await scope.turn {
      answer = try await decide(Push(body), scope)
      return answer.body.count
    }
    return answer
  }

  private func decide(_ push: Push, _ scope: Scope) async throws -> SyncAnswer {
    guard push.subject == scope.subject else {
      throw StoreError(
        .wrongSubject,
        "the changes were written for “\(push.subject.prefix(100))”, not for “\(scope.subject.prefix(100))”")
    }
    let (results, forked) = try await store.write { transaction in try Self.decide(push, scope, in: &transaction) }
    // Read after the commit: on PostgreSQL, other programs can commit before it.
    let cursor = try await store.read { try $0.cursor }
    return SyncAnswer(contentType: SyncAnswer.lines, body: PushAnswer(results, forked: forked, cursor: cursor).bytes)
  }

  private static func decide(
    _ push: Push, _ scope: Scope, in transaction: inout WriteTransaction
  ) throws -> (results: [(nonce: Int64, decision: Decision)], forked: Int64?) {
    let session = try transaction.session
    guard let replicated = session.replicated, try replicated.decides(), let server = try session.server() else {
      throw StoreError(.schemaTooOld, "replicas cannot send changes until the owner has migrated the schema")
    }
    if try replicated.followsServer() { throw StoreError(.readOnlyReplica, "the server is a replica itself") }
    guard ServerState.text(ofIdentity: server.identity) == push.identity else {
      throw StoreError(.diverged, "the changes were written for other records")
    }
    try transaction.requireState(from: push.cursor)
    let known = try replicated.decisions(about: push.sets.map { ($0.number, $0.nonce) }, of: push.producer)
    var results: [(nonce: Int64, decision: Decision)] = []
    var new: [(number: Int64, nonce: Int64, decision: Decision)] = []
    var forked: Int64?
    for (set, known) in zip(push.sets, known) {
      if known == .forked {
        forked = set.number
        break
      }
      let decision = try known ?? decide(set, scope, in: &transaction)
      if known == nil { new.append((set.number, set.nonce, decision)) }
      results.append((set.nonce, decision))
    }
    try replicated.store(new, of: push.producer)
    if push.decided > 0, let time = try session.oldestTime() {
      try replicated.forgetDecisions(of: push.producer, through: push.decided, before: time)
    }
    return (results, forked)
  }

  /// Why a set is refused; thrown to take back what it has written.
  private struct Refusal: Error {
    let decision: Decision

    init(_ reason: Replica.Refusal.Reason, _ detail: String) { decision = Decision(reason.rawValue, detail: detail) }
  }

  private static func decide(
    _ set: Push.Set, _ scope: Scope, in transaction: inout WriteTransaction
  ) throws -> Decision {
    do {
      guard let rows = set.rows else { throw Refusal(.userRemoved, "the values of the user were purged") }
      try transaction.undoingOnAnyError { transaction in
        for row in rows { try perform(row, scope, in: &transaction) }
        let session = try transaction.session
        guard try session.logEnd().revision > session.writingEnd().revision else { return }
        try session.append(.pushed(set.nonce))
        do throws(StoreError) { try session.endSet(origin: set.origin) } catch { throw refusal(error) }
      }
      return .accepted
    } catch let refusal as Refusal {
      return refusal.decision
    }
  }

  private static func perform(_ row: OwnRow, _ scope: Scope, in transaction: inout WriteTransaction) throws {
    func exists(_ id: Int64) throws -> Bool { try !transaction.storedValue(.name, of: User.ID(id)).isNull }
    func check(_ id: Int64, exists isExpected: Bool? = nil) throws {
      guard scope.mayWrite(id) else { throw Refusal(.forbidden, "user \(id) may not be written") }
      if isExpected == true, try !exists(id) { throw Refusal(.userRemoved, "there is no user \(id)") }
      if isExpected == false, try exists(id) { throw Refusal(.userExists, "there is a user \(id)") }
    }
    do {
      switch row {
      case .add(let id, let name):
        try check(id, exists: false)
        _ = try transaction.add([(.name, name)], as: User.ID(id))
      case .set(let id, let attribute, let value):
        try check(id, exists: true)
        try transaction.set(attribute, of: User.ID(id), to: value)
      case .remove(let id):
        try check(id)
        if try exists(id) { try transaction.remove(User.ID(id)) }
      case .post(let id, let name, let payload):
        if let id { try check(id, exists: true) }
        guard let text = String(storedValue: name) else { throw Refusal(.invalid, "the name of an event is no text") }
        try transaction.post(text, payload, about: id.map { User.ID($0) })
      case .expect(let id, let attribute, let expected):
        try check(id, exists: true)
        let value = try transaction.storedValue(attribute, of: User.ID(id))
        if value != expected {
          throw Refusal(.conflict, "\(attribute) of user \(id) is \(value.forMessages), not \(expected.forMessages)")
        }
      }
    } catch let error as StoreError {
      throw refusal(error)
    }
  }

  /// A refusal for an error that a set meets each time that it is sent; any other error as it is.
  private static func refusal(_ error: StoreError) -> any Error {
    switch error.code {
    case .badValue: Refusal(.invalid, error.message)
    case .notUnique: Refusal(.notUnique, error.message)
    case .stillReferenced: Refusal(.stillReferenced, error.message)
    default: error
    }
  }
}
