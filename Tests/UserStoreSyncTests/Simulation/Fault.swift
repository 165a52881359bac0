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
  /// Writes past the triggers are not noticed.
  case foreignWritesNotSeen

  /// What has to happen often for the fault to matter.
  var focus: [String] {
    switch self {
    case .pageNotVerified, .targetNotVerified: ["restore", "file restore"]
    case .copyWithoutCatchingUp: ["subset"]
    case .nonceNotCompared: ["file restore"]
    case .grantNotCompared: ["grant"]
    case .purgesLost: ["purge"]
    case .foreignWritesNotSeen: ["tamper"]
    }
  }

  var needsHuge: Bool { false }

  func request(_ request: SyncRequest, _ server: SimulatedServer) -> SyncRequest {
    switch (self, request.resource) {
    case (.pageNotVerified, .users(let last, _)):
      SyncRequest(.users(after: last, from: server.end), users: request.users)
    case (.targetNotVerified, .changes(let after, let part, _, _)):
      SyncRequest(.changes(after: after, part: part, also: nil, wait: 0), users: request.users)
    default: request
    }
  }

  func answer(
    _ body: [UInt8], status: Int, to request: SyncRequest, _ step: ReplicaStep, _ server: SimulatedServer
  ) -> [UInt8] {
    guard status == 200 else { return body }
    var lines = String(decoding: body, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false).map(
      String.init)
    switch self {
    case .copyWithoutCatchingUp:
      guard case .users(_, let start) = request.resource else { return body }
      // The page claims to be of the state where the copy is.
      lines[0] = #"{"op":"users","cursor":"\#(start)","grant":"\#(server.grant)"}"#
    case .grantNotCompared:
      guard case .changes = request.resource, step.copy == nil else { return body }
      return body
    case .purgesLost: lines.removeAll { $0.contains(#""op":"purged""#) }
    default: return body
    }
    return Array(lines.joined(separator: "\n").utf8)
  }

  func afterTransaction(_ path: String) {
    guard self == .foreignWritesNotSeen || self == .grantNotCompared else { return }
  }
}
