import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import UserStore
import UserStoreSync

/// The key of a request that its client may send again (draft-ietf-httpapi-idempotency-key-header): the second one changes nothing, and is
/// answered as the first one was.
struct IdempotencyKey: Sendable {
  /// The identity of the request in the store: a hash of the subject and the key.
  let identity: Int64
  /// A hash of all that the request asks for, and of the attributes that its client may read, which are in the answer.
  private let requestHash: String

  /// Reads the header; nil if the request does not have it.
  ///
  /// Its text is a string in quotation marks, as in RFC 9651, or the key as it is, as many clients send it.
  init?(_ request: Request, _ body: [UInt8], _ access: Access) throws(Problem) {
    let fields = request.headers[values: .idempotencyKey]
    if fields.isEmpty { return nil }
    guard fields.count == 1, let key = Self.key(in: fields[0].trimmed) else {
      throw .badRequest(
        "a key has 1 to \(Self.limit) characters of ASCII, in quotation marks or without any",
        parameter: HTTPField.Name.idempotencyKey.rawName,
        hint: "a random one, as \"8e03978e-40d5-43e8-bc93-6894a57f9324\"")
    }
    // No subject has a control character.
    let hash = SHA256.hash(data: Data("\(access.subject)\u{0}\(key)".utf8))
    identity = hash.prefix(8).reduce(0 as Int64) { $0 << 8 | Int64($1) }
    let attributes = access.rights.readableAttributes.map { $0.sorted().map(\.text).joined(separator: "\u{0}") }
    var asked = SHA256()
    // Each with its length, so that no two lists have the same bytes.
    let headers = [HTTPField.Name.ifMatch, .ifNoneMatch, .changeOrigin].map { request.headers[$0] }
    for part in [key, access.subject, request.method.rawValue, request.uri.string] + headers + [attributes] {
      asked.update(data: Data("\(part?.utf8.count ?? -1) \(part ?? "")".utf8))
    }
    asked.update(data: Data(body))
    requestHash = Base64URL.text(asked.finalize())
  }

  private static let limit = 255

  private static func key(in text: String) -> String? {
    // Each character can have a backslash.
    guard text.utf8.count <= 2 * limit + 2 else { return nil }
    var key = text
    if text.hasPrefix("\"") {
      guard text.count > 1, text.hasSuffix("\"") else { return nil }
      key = ""
      var isEscaped = false
      for character in text.dropFirst().dropLast() {
        if isEscaped {
          guard character == "\"" || character == "\\" else { return nil }
        } else if character == "\\" {
          isEscaped = true
          continue
        } else if character == "\"" {
          return nil
        }
        isEscaped = false
        key.append(character)
      }
      if isEscaped { return nil }
    }
    guard (1...limit).contains(key.utf8.count), key.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
    return key
  }

  // MARK: Outcomes

  /// How many rows of the log are read at most to answer as before: others wait for the session meanwhile.
  static let longestWay: Int64 = 10_000

  /// What is kept about a request; what its answer says of users is read again, as it was.
  struct Outcome: Codable, Sendable {
    let requestHash: String
    let revision: Int64
    let isUnchanged: Bool
    /// The user in the answer, if there is one.
    let user: Int64?
  }

  /// The outcome of the same request, if it was carried out before.
  ///
  /// - Throws: `keyReused` if it was another request; and `StoreError`.
  func outcome(in users: inout UserStore.WriteTransaction) throws -> Outcome? {
    do throws(StoreError) {
      guard let text = try users.outcome(of: identity) else { return nil }
      let outcome = try? JSONDecoder().decode(Outcome.self, from: Data(text.utf8))
      if let outcome, outcome.requestHash == requestHash, outcome.revision >= 0 { return outcome }
    } catch {
      // Somebody who knows the key has sent a set of a replica with this identity.
      if error.code != .conflict { throw error }
    }
    throw Problem(
      .unprocessableContent, "keyReused",
      "the Idempotency-Key was sent with another request, or with a token that may read other attributes",
      hint: "a new request needs a new key, which is random")
  }

  func keep(
    _ revision: UserStore.Revision, isUnchanged: Bool, _ user: User.ID?, in users: inout UserStore.WriteTransaction
  ) throws {
    let outcome = Outcome(
      requestHash: requestHash, revision: revision.rawValue, isUnchanged: isUnchanged, user: user?.rawValue)
    try users.keep(String(decoding: JSONEncoder().encode(outcome), as: UTF8.self), of: identity)
  }
}

extension HTTPField.Name {
  static let idempotencyKey = Self("Idempotency-Key")!
}
