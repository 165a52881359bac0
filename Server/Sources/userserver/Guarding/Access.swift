import Foundation
import HTTPTypes
import UserStoreSync

/// Who asks, and what they may do.
///
/// It alone decides, for every request: `API.Resource` says what each needs.
struct Access: Sendable {
  /// What a request needs.
  enum Need: Sendable {
    case nothing, read, write, add
  }

  /// Whom the token belongs to; empty for the single token of the server.
  let subject: String
  private let granted: Set<Need>
  private let isLimited: Bool
  /// Returns when the token ends; nil for the single token, which does not.
  private let end: (@Sendable () async throws -> Void)?

  /// A client without a token.
  static let nobody = Access(subject: "", granted: [.nothing], end: nil)
  /// The holder of the single token, and everybody on a server without one.
  static let everything = Access(subject: "", granted: [.nothing, .read, .write, .add], end: nil)

  private init(
    subject: String, granted: Set<Need>, isLimited: Bool = false, end: (@Sendable () async throws -> Void)?
  ) {
    (self.subject, self.granted, self.isLimited, self.end) = (subject, granted, isLimited, end)
  }

  /// The access that a token gives.
  ///
  /// A token that is limited to some users or attributes gives none: the server does not keep such limits.
  init(_ token: VerifiedToken, _ keys: AccessKeys) {
    let claims = token.claims
    let isLimited =
      [claims.read, claims.write].contains { $0 != .all && $0 != .none } || claims.readable != nil
      || claims.writable != nil || claims.add && claims.write != .all
    var granted: Set<Need> = [.nothing]
    if !isLimited {
      if claims.read == .all { granted.insert(.read) }
      if claims.write == .all { granted.insert(.write) }
      if claims.add { granted.insert(.add) }
    }
    // A stream that began before the expiry ends then, although clocks may differ: its client connects again once, and no more.
    let (now, expiry) = (Date(), token.expires.addingTimeInterval(-AccessKeys.skew))
    let end = now < expiry ? expiry : token.expires
    self.init(subject: claims.subject, granted: granted, isLimited: isLimited) {
      while Date() < end, keys.has(token.keyID) {
        try await Task.sleep(for: .seconds(min(0.4, max(0.001, end.timeIntervalSinceNow))))
      }
    }
  }

  /// - Throws: `forbidden` if the token does not give what a request needs.
  func require(_ need: Need) throws(Problem) {
    if granted.contains(need) { return }
    if isLimited {
      throw Problem(
        .forbidden, "forbidden",
        "the token is limited to some users or attributes, and this server gives access to all or to none",
        hint: "the issuer can set read and write to \"all\"")
    }
    let what =
      switch need {
      case .nothing, .read: "read users"
      case .write: "change users"
      case .add: "add users"
      }
    throw Problem(.forbidden, "forbidden", "the token does not allow its holder to \(what)")
  }

  /// The access of a replica.
  var replica: SyncService.Access {
    SyncService.Access(subject: subject, mayAdd: granted.contains(.add))
  }

  // MARK: The end of a token

  /// The token has expired, or its key was withdrawn.
  struct Ended: Error {}

  /// Does `body`, and cancels it when the token ends.
  ///
  /// - Throws: `Ended`, and the errors of `body`.
  func whileValid<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
    guard let end else { return try await body() }
    return try await withThrowingTaskGroup(of: Result?.self) { group in
      group.addTask { try await body() }
      group.addTask {
        try await end()
        return nil
      }
      defer { group.cancelAll() }
      guard let result = try await group.next() ?? nil else { throw Ended() }
      return result
    }
  }
}
