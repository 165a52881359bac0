import Foundation
import TestSupport
import UserStore

@testable import UserStoreSync

/// A broken rule: what it changes in the messages or in a file.
///
/// The histories must notice it.
enum Fault: String, CaseIterable {
  /// A page of a copy is not compared with the log that the copy follows.
  case pageNotVerified
  /// Catching up does not let the server verify the cursor of the page.
  case targetNotVerified
  /// Pages of several cursors are taken for one state.
  case copyWithoutCatchingUp
  /// The server compares the number and the epoch of a cursor, not the nonce.
  case nonceNotCompared
  /// A change of what may be read starts no copy.
  case grantNotCompared
  /// The notes of purges get lost.
  case purgesLost
  /// Changes whose values were purged are applied.
  case purgedChangesApplied
  /// Writes past the triggers are not noticed.
  case foreignWritesNotSeen

  /// What has to happen often for the fault to matter.
  var focus: [String] {
    switch self {
    case .pageNotVerified, .targetNotVerified: ["restore", "file restore"]
    case .copyWithoutCatchingUp: ["subset"]
    case .nonceNotCompared: ["file restore"]
    case .grantNotCompared: ["grant"]
    case .purgesLost, .purgedChangesApplied: ["purge"]
    case .foreignWritesNotSeen: ["tamper"]
    }
  }

  /// The request that the server receives.
  func request(_ request: SyncRequest, _ server: SimulatedServer) throws -> SyncRequest {
    func known(_ cursor: Cursor) throws -> Cursor { try server.cursor(like: cursor) }
    switch (self, request.resource) {
    case (.pageNotVerified, .users(let last, _)):
      return SyncRequest(.users(after: last, from: server.end), users: request.users)
    case (.targetNotVerified, .changes(let after, let part, _, _)):
      return SyncRequest(.changes(after: after, part: part, also: nil, wait: 0), users: request.users)
    case (.nonceNotCompared, .users(let last, let start)):
      return SyncRequest(.users(after: last, from: try known(start)), users: request.users)
    case (.nonceNotCompared, .changes(let after, let part, let also, _)):
      return SyncRequest(
        .changes(after: try known(after), part: try part.map(known), also: try also.map(known), wait: 0),
        users: request.users)
    default: return request
    }
  }

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
}
