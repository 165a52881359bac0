import Foundation
import ServiceLifecycle
import Synchronization

/// A token whose signature, issuer, audience, and times were checked.
struct VerifiedToken: Sendable {
  let claims: AccessClaims
  /// The key that signed the token; `AccessKeys.has` says whether it is still accepted.
  let keyID: String
  /// The time from which the server refuses the token: `exp`, and the tolerated difference of clocks.
  let expires: Date
}

/// The keys of `--access-key`, and what tokens must have to be accepted.
///
/// The file is read again when it changes. While it cannot be read, the last keys that could be read are used, and standard error has
/// one line about it. Replace the file with `mv`, which is one step: half of a file with several keys is a file with fewer keys.
final class AccessKeys: Service {
  /// The tolerated difference between the clocks of the issuer and the server, in seconds.
  static let skew = 30.0

  private let path: String
  private let issuer: String
  private let audience: String
  private let state: Mutex<State>

  private struct State {
    var keys: [AccessKey]
    var ids: Set<String>
    var file: KeyFile
    /// When the file was last looked at.
    var checked = ContinuousClock.now
    /// Why the file cannot be used now.
    var mistake: String?
    /// The number of the last reading that was begun.
    var begun = 0
    /// The number of the reading whose result is used.
    ///
    /// A slow one must not replace a later one.
    var used = 0
  }

  /// Reads the keys.
  ///
  /// Throws if there is no file with keys, or if a key in it cannot be used.
  init(file path: String, issuer: String, audience: String) async throws(Failure) {
    (self.path, self.issuer, self.audience) = (path, issuer, audience)
    let file = try KeyFile(path)
    let keys = try await AccessKeyFile.keys(file)
    state = Mutex(State(keys: keys, ids: Set(keys.map(\.id)), file: file))
  }

  /// The tokens that are accepted, for the line that the server prints when it starts.
  var description: String {
    let count = state.withLock { $0.keys.count }
    return
      "tokens of \(issuer) for \(audience), signed with \(count == 1 ? "the key" : "one of \(count) keys") in \(path)"
  }

  /// Whether a key is still in the file: once this is false, tokens that it signed are refused, and their streams must end.
  func has(_ keyID: String) -> Bool { state.withLock { $0.ids.contains(keyID) } }

  // MARK: Verifying

  /// Checks a token.
  ///
  /// Throws the reason why it is not accepted.
  ///
  /// Looks at the file first if that was not done within the last second.
  func verify(_ text: String) async throws(Refused) -> VerifiedToken {
    if state.withLock({ $0.checked.duration(to: .now) >= .seconds(1) }) { await refresh() }
    let token = try SignedToken(text)
    let key = try key(of: token)
    // Only now: claims that nobody has signed are not worth reading.
    let claims = try token.claims()
    try checkIssuer(claims["iss"])
    try checkAudience(claims["aud"])
    let expires = try Self.checkTimes(claims, at: Date())
    return VerifiedToken(claims: try AccessClaims(claims), keyID: key.id, expires: expires)
  }

  /// Finds the key that signed the token: the one that the token names, and if no key has this name, any of its algorithm.
  private func key(of token: SignedToken) throws(Refused) -> AccessKey {
    let (algorithm, name) = (try token.algorithm(), try token.keyName())
    let keys = state.withLock { $0.keys }
    let named = keys.filter { $0.name == name }
    let candidates = (named.isEmpty ? keys : named).filter { $0.algorithm == algorithm }
    if let key = candidates.first(where: { $0.verifies(token) }) { return key }
    let owner = named.isEmpty ? "no key" : "the key \"\((name ?? "").excerpt)\" is not"
    if candidates.isEmpty { throw .notAccepted("\(owner) for \(algorithm.rawValue)") }
    let tried = named.isEmpty ? "none of \(candidates.count) keys" : "the key \"\((name ?? "").excerpt)\" not"
    throw .notAccepted("\(tried) for \(algorithm.rawValue) made its signature")
  }

  private func checkIssuer(_ claim: StrictJSON?) throws(Refused) {
    guard let name = claim?.text else { throw .notAccepted("iss is missing or not a text") }
    if !name.utf8.elementsEqual(issuer.utf8) {
      throw .notAccepted("iss is \"\(name.excerpt)\", and not \"\(issuer.excerpt)\"")
    }
  }

  private func checkAudience(_ claim: StrictJSON?) throws(Refused) {
    guard let names = claim?.texts ?? claim?.text.map({ [$0] }) else {
      throw .notAccepted("aud is missing, or neither a text nor a list of texts")
    }
    if !names.contains(where: { $0.utf8.elementsEqual(audience.utf8) }) {
      let list = names.prefix(3).map { "\"\($0.excerpt)\"" }.joined(separator: ", ")
      throw .notAccepted("aud is \(list.isEmpty ? "empty" : list), and not \"\(audience.excerpt)\"")
    }
  }

  /// Checks `exp` and `nbf`, and returns the time from which the token is refused.
  ///
  /// `iat` has no effect.
  private static func checkTimes(_ claims: [String: StrictJSON], at now: Date) throws(Refused) -> Date {
    let time = now.timeIntervalSince1970
    if let claim = claims["nbf"] {
      guard let begin = claim.number else { throw .notAccepted("nbf is not a number") }
      if time < begin - skew { throw Refused(.notYetValid, "nbf is \(Int((begin - time).clamped)) s in the future") }
    }
    guard let end = claims["exp"]?.number else { throw .notAccepted("exp is missing or not a number") }
    if time >= end + skew { throw Refused(.expired, "exp is \(Int((time - end).clamped)) s in the past") }
    // The last second of the year 9999.
    if end > 253_402_300_799 { throw .notAccepted("exp is after the year 9999") }
    return Date(timeIntervalSince1970: end + skew)
  }

  // MARK: Rotation

  /// Reads the file again if it has changed.
  func refresh() async {
    let number: Int? = state.withLock { state in
      state.checked = .now
      if state.mistake == nil, KeyFile.Stamp(path)?.isUnchanged(since: state.file.stamp) == true { return nil }
      state.begun += 1
      return state.begun
    }
    guard let number else { return }
    do throws(Failure) {
      let file = try KeyFile(path)
      // A file without a change needs no reading of its keys, but its permissions can have changed.
      try file.requireUnchangeable()
      if use(file, number) { return }
      use(try await AccessKeyFile.keys(file), of: file, number)
    } catch {
      report(error, number)
    }
  }

  /// Looks at the file twice a second until the server ends, so that a stream can notice a withdrawn key within a second.
  func run() async {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        try? await Task.sleep(for: .milliseconds(500))
        await self.refresh()
      }
    }
  }

  /// Notes a file with the content that is in use.
  ///
  /// Returns false if the content is another one.
  private func use(_ file: KeyFile, _ number: Int) -> Bool {
    state.withLock { state in
      guard state.file.content.utf8.elementsEqual(file.content.utf8) else { return false }
      if number > state.used { (state.file, state.mistake, state.used) = (file, nil, number) }
      return true
    }
  }

  private func use(_ keys: [AccessKey], of file: KeyFile, _ number: Int) {
    let ids = Set(keys.map(\.id))
    let withdrawn: Int? = state.withLock { state in
      guard number > state.used else { return nil }
      let before = state.ids
      (state.keys, state.ids, state.file, state.mistake, state.used) = (keys, ids, file, nil, number)
      return before.subtracting(ids).count
    }
    if let withdrawn {
      StandardError.write("userserver: \(path) has changed: access keys: \(keys.count), withdrawn: \(withdrawn)")
    }
  }

  /// Reports a file that cannot be used, once for each reason.
  private func report(_ failure: Failure, _ number: Int) {
    let isNew = state.withLock { state in
      guard number > state.used else { return false }
      defer { (state.mistake, state.used) = (failure.message, number) }
      return state.mistake != failure.message
    }
    if isNew { StandardError.write("userserver: error: \(failure.message); the access keys stay as they were") }
  }
}

extension AccessKeys {
  /// The reason why a token is not accepted.
  ///
  /// The client gets only `reason`. `detail` is for the server's log: it helps to find a mistake, and to forge a token.
  struct Refused: Error {
    enum Reason: String, Sendable {
      case missing = "the token is missing"
      case malformed = "the token is malformed"
      case expired = "the token is expired"
      case notYetValid = "the token is not yet valid"
      case notAccepted = "the token is not accepted"
    }

    let reason: Reason
    /// What is wrong, precisely.
    ///
    /// Texts of the token are in it, made short and safe to show.
    let detail: String

    init(_ reason: Reason, _ detail: String) { (self.reason, self.detail) = (reason, detail) }

    static func malformed(_ detail: String) -> Refused { Refused(.malformed, detail) }
    static func notAccepted(_ detail: String) -> Refused { Refused(.notAccepted, detail) }
  }
}

extension Double {
  /// The number, or the nearest one that an `Int` certainly holds.
  var clamped: Double { Swift.min(Swift.max(self, -1e15), 1e15) }
}
