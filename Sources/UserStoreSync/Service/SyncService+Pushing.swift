import UserStore

extension SyncService {
  /// How many sets are decided in one transaction.
  ///
  /// Other writers wait for as many. And PostgreSQL keeps a list of the savepoints of a transaction that have changed a row, which it
  /// reads at each further change of that row.
  private static let transactionLimit = 100

  /// Decides the sets that a replica has sent, in their order, and writes those that are accepted, each a set of the log with the
  /// replica's random number.
  ///
  /// A set that was decided before has the same result again; so an error between two transactions loses nothing.
  func push(_ body: [UInt8], _ scope: Scope) async throws -> SyncAnswer {
    var answer = SyncAnswer(contentType: SyncAnswer.lines, body: [])
    try await scope.turn {
      answer = try await decide(Push(body), scope)
      return answer.body.count
    }
    return answer
  }

  private func decide(_ push: Push, _ scope: Scope) async throws -> SyncAnswer {
    guard push.subject.utf8.elementsEqual(scope.subject.utf8) else {
      throw StoreError(
        .wrongSubject,
        "the changes were written for “\(push.subject.prefix(100))”, not for “\(scope.subject.prefix(100))”")
    }
    var (results, forked): ([(nonce: Int64, decision: Decision)], Int64?) = ([], nil)
    for start in stride(from: 0, to: push.sets.count, by: Self.transactionLimit) where forked == nil {
      let sets = push.sets[start...].prefix(Self.transactionLimit)
      let decided = try await store.write { transaction in try Self.decide(sets, of: push, scope, in: &transaction) }
      (results, forked) = (results + decided.results, decided.forked)
    }
    // Read after the commit: on PostgreSQL, other programs can commit before it.
    let cursor = try await store.read { try $0.cursor }
    return SyncAnswer(contentType: SyncAnswer.lines, body: PushAnswer(results, forked: forked, cursor: cursor).bytes)
  }

  private static func decide(
    _ sets: ArraySlice<Push.Set>, of push: Push, _ scope: Scope, in transaction: inout WriteTransaction
  ) throws -> (results: [(nonce: Int64, decision: Decision)], forked: Int64?) {
    try scope.access.requireValid()
    let session = try transaction.session
    guard let replicated = session.replicated, try replicated.decides(), let server = try session.server() else {
      throw StoreError(.schemaTooOld, "replicas cannot send changes until the owner has migrated the schema")
    }
    if try replicated.followsServer() { throw StoreError(.readOnlyReplica, "the server is a replica itself") }
    guard ServerState.text(ofIdentity: server.identity) == push.identity else {
      throw StoreError(.diverged, "the changes were written for other records")
    }
    try transaction.requireState(from: push.cursor)
    let known = try replicated.decisions(about: sets.map { ($0.number, $0.nonce) }, of: push.producer)
    var access = scope.access
    var results: [(nonce: Int64, decision: Decision)] = []
    var new: [(number: Int64, nonce: Int64, decision: Decision)] = []
    var forked: Int64?
    for (set, known) in zip(sets, known) {
      if known == .forked {
        forked = set.number
        break
      }
      // A set with the identity of another request, which its sender has chosen, is not carried out; nor is the outcome told.
      let known = known?.isKept == true ? .expired : known
      let decision = try known ?? decide(set, &access, in: &transaction)
      if known == nil { new.append((set.number, set.nonce, decision)) }
      // The detail has values, which the subject may no longer read; and whose the decision was is not known.
      let hidesDetail = known != nil && !access.readsAll
      results.append((set.nonce, hidesDetail ? Decision(decision.result) : decision))
    }
    try replicated.store(new, of: push.producer)
    // Once for each push.
    if sets.startIndex == 0, push.decided > 0, let time = try session.oldestTime() {
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
    _ set: Push.Set, _ access: inout Access, in transaction: inout WriteTransaction
  ) throws -> Decision {
    do {
      guard let rows = set.rows else { throw Refusal(.userRemoved, "the values of the user were purged") }
      // With the users that the set adds, if it is accepted.
      var further = access
      try transaction.undoingOnAnyError { transaction in
        var hasChanged = false
        for row in rows where try perform(row, &further, in: &transaction) { hasChanged = true }
        if !hasChanged { return }
        try requireSizes(of: rows, further, in: &transaction)
        let session = try transaction.session
        try session.append(.pushed(set.nonce))
        // Who it is was verified; what the set says was not.
        let origin = further.subject.isEmpty ? set.origin : further.subject
        do throws(StoreError) { try session.endSet(origin: origin) } catch { throw refusal(error, further) }
      }
      access = further
      return .accepted
    } catch let refusal as Refusal {
      return refusal.decision
    }
  }

  /// How many bytes are set between two looks at the size of a user, on average: a look reads the whole user.
  private static let sizeInterval = 1 << 16

  /// Refuses users that would be too large for others to read.
  private static func requireSizes(
    of rows: [OwnRow], _ access: Access, in transaction: inout WriteTransaction
  ) throws {
    if access.subject.isEmpty { return }
    var changed: [Int64: Int] = [:]
    for case .set(let id, let attribute, let value) in rows {
      changed[id, default: 0] += value.byteCount + attribute.text.utf8.count
    }
    for (id, bytes) in changed where Int.random(in: 0..<sizeInterval) < bytes {
      guard let user = try access.user(User.ID(id), in: &transaction), access.isTooLarge(user) else { continue }
      throw Refusal(.invalid, "user \(id) would have more than \(access.userByteLimit >> 10) KiB of JSON")
    }
  }

  /// Does what a row says; returns whether that changed anything.
  ///
  /// On PostgreSQL, each look takes as long as a change, so what the change itself finds is not looked for before.
  private static func perform(
    _ row: OwnRow, _ access: inout Access, in transaction: inout WriteTransaction
  ) throws -> Bool {
    func exists(_ id: Int64) throws -> Bool {
      // Without a lock on a user who may be hidden, if this is somebody with limits.
      if access.ownsUsers { return try transaction.count(where: .isOneOf("id", [.integer(id)])) > 0 }
      return try !transaction.storedValue(.name, of: User.ID(id)).isNull
    }
    if let id = row.user { try access.resolve(User.ID(id), in: &transaction) }
    do {
      switch row {
      case .add(let id, let name):
        if !access.mayAdd { throw Refusal(.forbidden, "no users may be added") }
        guard access.mayAdd(User.ID(id)) else { throw Refusal(.forbidden, "user \(id) may not be written") }
        if !access.may(.write, .name) { throw Refusal(.forbidden, "name may not be written") }
        if try exists(id) { throw Refusal(.userExists, "there is a user \(id)") }
        _ = try transaction.add(access.owned([(.name, name)]), as: User.ID(id))
        access.add(User.ID(id))
        return true
      case .set(let id, let attribute, let value):
        try require(access, id, attribute)
        return try transaction.update(attribute, of: User.ID(id), to: value)
      case .remove(let id):
        try require(access, id)
        if access.writableAttributes != nil { throw Refusal(.forbidden, "not all attributes may be written") }
        guard try exists(id) else { return false }
        try transaction.remove(User.ID(id))
        return true
      case .post(let id, let name, let payload):
        if let id {
          try require(access, id)
        } else if access.writableUsers != nil {
          throw Refusal(.forbidden, "an event about no user may not be posted")
        }
        guard let text = String(storedValue: name) else { throw Refusal(.invalid, "the name of an event is no text") }
        try transaction.post(text, payload, about: id.map { User.ID($0) })
        return true
      case .expect(let id, let attribute, let expected):
        try require(access, id, attribute, .read)
        let value = try transaction.storedValue(attribute, of: User.ID(id))
        if value.isNull, try !exists(id) { throw Refusal(.userRemoved, "there is no user \(id)") }
        if value != expected {
          throw Refusal(.conflict, "\(attribute) of user \(id) is \(value.forMessages), not \(expected.forMessages)")
        }
        return false
      }
    } catch let error as StoreError {
      throw refusal(error, access)
    }
  }

  /// Before anything is looked at: a refusal must not say whether there is such a user.
  private static func require(
    _ access: Access, _ id: Int64, _ attribute: AttributeName? = nil, _ action: Access.Action = .write
  ) throws {
    guard access.may(.write, User.ID(id)) else { throw Refusal(.forbidden, "user \(id) may not be written") }
    guard let attribute, !access.may(action, attribute) else { return }
    throw Refusal(.forbidden, "\(attribute) may not be \(action == .read ? "read" : "written")")
  }

  /// A refusal for an error that a set meets each time that it is sent; any other error as it is.
  private static func refusal(_ error: StoreError, _ access: Access) -> any Error {
    let message = access.message(of: error)
    return switch error.code {
    case .userNotFound: Refusal(.userRemoved, message)
    case .badValue: Refusal(.invalid, message)
    case .notUnique: Refusal(.notUnique, message)
    case .stillReferenced: Refusal(.stillReferenced, message)
    default: error
    }
  }
}
