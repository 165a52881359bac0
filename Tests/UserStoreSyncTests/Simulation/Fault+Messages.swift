import TestSupport
import UserStore

@testable import UserStoreSync

// MARK: Requests

extension Fault {
  /// The request that the server receives.
  func request(
    _ request: SyncRequest, of step: ReplicaStep, _ replica: SimulatedReplica, subject: String,
    _ server: SimulatedServer
  ) throws -> SyncRequest {
    func known(_ cursor: Cursor) throws -> Cursor { try server.cursor(like: cursor) }
    switch (self, request.resource) {
    case (.pageNotVerified, .users(let last, _)):
      return SyncRequest(.users(after: last, from: server.end), users: request.users)
    case (.targetNotVerified, .changes(let after, let part, _, _)):
      return SyncRequest(.changes(after: after, part: part, also: nil, wait: 0), users: request.users)
    case (.answeredNotVerified, .changes(let after, let part, _, _)) where step.copy == nil:
      return SyncRequest(.changes(after: after, part: part, also: nil, wait: 0), users: request.users)
    case (.nonceNotCompared, .users(let last, let start)):
      return SyncRequest(.users(after: last, from: try known(start)), users: request.users)
    case (.nonceNotCompared, .changes(let after, let part, let also, _)):
      return SyncRequest(
        .changes(after: try known(after), part: try part.map(known), also: try also.map(known), wait: 0),
        users: request.users)
    case (_, .push(let body)):
      let altered = try push(Push(body), of: replica, subject: subject, server)
      return SyncRequest(.push(altered.bytes), producer: request.producer)
    default: return request
    }
  }

  private func push(
    _ push: Push, of replica: SimulatedReplica, subject: String, _ server: SimulatedServer
  ) throws -> Push {
    var altered = Push(
      identity: push.identity, subject: self == .subjectNotCompared ? subject : push.subject, producer: push.producer,
      cursor: self == .pushCursorNotVerified ? server.end : push.cursor, decided: push.decided)
    altered.sets = try push.sets.map { set in
      switch (self, set.rows) {
      case (.expectationsNotSent, let rows?):
        return Push.Set(
          number: set.number, nonce: set.nonce, origin: set.origin,
          rows: rows.filter { if case .expect = $0 { false } else { true } })
      case (.purgedSetsSent, nil):
        return Push.Set(
          number: set.number, nonce: set.nonce, origin: set.origin, rows: try replica.rowsAsTheyAre(of: set.nonce))
      case (.numberIsEnough, _):
        let known = try server.nonce(of: push.producer, set.number)
        return Push.Set(number: set.number, nonce: known ?? set.nonce, origin: set.origin, rows: set.rows)
      default: return set
      }
    }
    return altered
  }
}

extension SimulatedReplica {
  /// The rows of a set as they are in the log, with null for values that were purged.
  fileprivate func rowsAsTheyAre(of nonce: Int64) throws -> [OwnRow]? {
    let rows = try plain.run(
      """
      SELECT op, user, attribute FROM changes JOIN userstore_outbox ON seq BETWEEN first AND last
      WHERE userstore_outbox.nonce = \(nonce) AND op BETWEEN 1 AND 3 ORDER BY seq
      """)
    if rows.isEmpty { return nil }
    return rows.compactMap { row in
      guard case .integer(let op) = row[0], case .integer(let user) = row[1], let name = row[2].utf8 else { return nil }
      let attribute = AttributeName(String(decoding: name, as: UTF8.self))
      return switch op {
      case 1 where attribute == .name: .add(user, name: .null)
      case 2: .set(user, attribute, .null)
      case 3 where attribute == .name: .remove(user)
      default: nil
      }
    }
  }
}

// MARK: Answers

extension Fault {
  /// The body that the replica receives; `grant` is the one that it has stored.
  func answer(_ body: [UInt8], to request: SyncRequest, _ step: ReplicaStep, grant: String?) -> [UInt8] {
    var lines = String(decoding: body, as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    switch (self, request.resource) {
    case (.copyWithoutCatchingUp, .users(_, let start)):
      // The page claims to be of the state where the copy is.
      lines[0].replace(/"cursor":"[^"]*"/, with: #""cursor":"\#(start)""#)
    case (.grantNotCompared, .changes):
      if step.copy == nil, let grant { lines[0].replace(/"grant":"[^"]*"/, with: #""grant":"\#(grant)""#) }
    case (.purgedChangesApplied, .changes):
      lines = lines.map { line in
        // No replica could apply a name without a value.
        line.contains(#""attribute":"name""#)
          ? line : line.replacing(#""old":null,"new":null"#, with: #""old":0,"new":null"#)
      }
    case (.purgesLost, .changes): lines.removeAll { $0.contains(#""op":"purged""#) }
    case (.purgesLost, .server): lines[0].replace(/"purged":\[[^\]]*\]/, with: #""purged":[]"#)
    default: break
    }
    return Array(lines.joined(separator: "\n").utf8)
  }

  /// The answer as the replica reads it.
  func answer(
    _ answer: ReplicaAnswer, to step: ReplicaStep, _ replica: SimulatedReplica, _ server: SimulatedServer
  ) throws -> ReplicaAnswer {
    switch (self, answer) {
    case (.answerAppliesAtOnce, .push(let answer)):
      return .push(PushAnswer(answer.results, forked: answer.forked, cursor: try replica.storedCursor ?? answer.cursor))
    case (.numberIsEnough, .push(let answer)):
      let results = zip(step.push?.sets ?? [], answer.results).map { (nonce: $0.nonce, decision: $1.decision) }
      return .push(PushAnswer(results, forked: answer.forked, cursor: answer.cursor))
    case (.echoWithoutNonce, .changes(var page)):
      page.sets = try page.sets.map { set in
        let rows = try set.rows.map { row in
          guard case .pushed(let nonce) = row, let (producer, number) = try server.number(of: nonce) else { return row }
          return SyncRow.pushed(try replica.nonce(of: producer, number) ?? nonce)
        }
        return (rows, set.cursor, set.origin)
      }
      return .changes(page)
    default: return answer
    }
  }

  /// The step as which an answer is applied; `now` is what the file would ask now.
  func step(_ step: ReplicaStep, now: ReplicaStep?) -> ReplicaStep {
    guard step.push == nil, step.copy == nil, let now, now.copy == nil,
      case .ask(let asked) = step.action, case .changes(let after, let part, let also, _) = asked.resource,
      case .ask(let next) = now.action, case .changes(let newAfter, let newPart, let newAlso, _) = next.resource
    else { return step }
    let isSameUsers = step.users == now.users
    let isSamePlace = after == newAfter && part == newPart
    return switch self {
    case .pageProvesNothing where isSamePlace && isSameUsers: now
    case .subsetNotCompared where isSamePlace: now
    case .cursorNotCompared where isSameUsers && also == newAlso: now
    default: step
    }
  }
}
