/// A JSON Web Token in its compact form, taken apart; nothing in it is trusted yet.
struct SignedToken: Sendable {
  static let maximumSize = 8 << 10

  let header: [String: StrictJSON]
  /// The JSON text of the claims.
  let payload: [UInt8]
  /// What the signature signs.
  let signed: [UInt8]
  let signature: [UInt8]

  /// Takes a token apart.
  ///
  /// Throws `missing` for an empty text, and `malformed` for one that is too long or is not a token.
  init(_ text: String) throws(AccessKeys.Refused) {
    if text.isEmpty { throw AccessKeys.Refused(.missing, "it is empty") }
    if text.utf8.count > Self.maximumSize {
      throw .malformed("it has \(text.utf8.count) bytes, and at most 8192 are allowed")
    }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3 else {
      throw .malformed("it has \(parts.count) parts, and not a header, claims, and a signature")
    }
    guard let header = Base64URL.bytes(parts[0]), let payload = Base64URL.bytes(parts[1]),
      let signature = Base64URL.bytes(parts[2])
    else { throw .malformed("a part of it is not base64url") }
    self.header = try Self.members(header, of: "header")
    self.payload = payload
    self.signature = signature
    signed = Array("\(parts[0]).\(parts[1])".utf8)
  }

  private static func members(_ json: [UInt8], of part: String) throws(AccessKeys.Refused) -> [String: StrictJSON] {
    do throws(StrictJSON.Mistake) { return try StrictJSON.members(json) } catch {
      throw .malformed("its \(part) cannot be read: \(error.reason)")
    }
  }

  /// The claims, which are to be read only after the signature was verified.
  ///
  /// Throws `malformed` if they are not a JSON object.
  func claims() throws(AccessKeys.Refused) -> [String: StrictJSON] { try Self.members(payload, of: "claims") }

  /// The name of the key that signed the token, if the token says it.
  ///
  /// Throws `malformed` if the name is not a text.
  func keyName() throws(AccessKeys.Refused) -> String? {
    guard let name = header["kid"] else { return nil }
    guard let text = name.text else { throw .malformed("kid is not a text") }
    return text
  }

  /// The algorithm that the token claims.
  ///
  /// Throws `notAccepted` for every other one than RS256, ES256, and EdDSA, for extensions that must be understood, and for a token
  /// that says that it is no access token.
  ///
  /// The keys that a header can carry or point to (`jwk`, `jku`, `x5c`, `x5u`) have no effect.
  func algorithm() throws(AccessKeys.Refused) -> AccessKey.Algorithm {
    guard let name = header["alg"]?.text else { throw .malformed("its header has no alg") }
    guard let algorithm = AccessKey.Algorithm(rawValue: name) else {
      throw .notAccepted("the algorithm \"\(name.excerpt)\" is none of RS256, ES256, and EdDSA")
    }
    for extensions in ["crit", "b64"] where header[extensions] != nil {
      throw .notAccepted("its header has \(extensions), and the server understands no extension")
    }
    if let type = header["typ"] {
      guard let name = type.text, ["jwt", "at+jwt", "application/at+jwt"].contains(name.lowercased()) else {
        throw .notAccepted("its type is neither JWT nor at+jwt")
      }
    }
    return algorithm
  }
}
