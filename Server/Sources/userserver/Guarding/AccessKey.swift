import Crypto
import Foundation
import JWTKit

/// A public key that signatures of tokens are checked with.
///
/// It belongs to one algorithm.
struct AccessKey: Sendable {
  /// The algorithms of signatures that are accepted: none with a shared secret, and none without a signature.
  enum Algorithm: String, Sendable, CaseIterable {
    /// RSA with at least 2048 bits.
    case rs256 = "RS256"
    /// ECDSA on the curve P-256.
    case es256 = "ES256"
    /// Ed25519.
    case edDSA = "EdDSA"
  }

  /// The key's thumbprint (RFC 7638), which is the same in every file and under every name.
  let id: String
  /// The name by which tokens choose the key: its `kid`, or its thumbprint.
  let name: String
  let algorithm: Algorithm
  private let verifier: any JWTAlgorithm

  init(_ key: JWTKit.Insecure.RSA.PublicKey, name: String?) async throws {
    let (modulus, exponent) = try key.getKeyPrimitives()
    let members = [("e", Self.number(exponent)), ("kty", "RSA"), ("n", Self.number(modulus))]
    let collection = JWTKeyCollection()
    await collection.add(rsa: key, digestAlgorithm: .sha256)
    try await self.init(collection, .rs256, name: name, members)
  }

  init(_ key: ES256PublicKey, name: String?) async throws {
    let (x, y) = key.parameters ?? ("", "")
    let members = [("crv", "P-256"), ("kty", "EC"), ("x", Self.coordinate(x)), ("y", Self.coordinate(y))]
    let collection = JWTKeyCollection()
    await collection.add(ecdsa: key)
    try await self.init(collection, .es256, name: name, members)
  }

  init(_ key: EdDSA.PublicKey, name: String?) async throws {
    let members = [("crv", "Ed25519"), ("kty", "OKP"), ("x", Base64URL.text(key.rawRepresentation))]
    let collection = JWTKeyCollection()
    await collection.add(eddsa: key)
    try await self.init(collection, .edDSA, name: name, members)
  }

  /// Takes the only key of a collection.
  ///
  /// The collection could verify tokens too, but it ignores `crit`, decodes base64 that is not base64url, and accepts a member that is
  /// given twice.
  private init(
    _ collection: JWTKeyCollection, _ algorithm: Algorithm, name: String?, _ members: [(name: String, value: String)]
  ) async throws {
    verifier = try await collection.getKey()
    self.algorithm = algorithm
    id = Self.thumbprint(members)
    self.name = name ?? id
  }

  /// Whether the key signed the token.
  ///
  /// The caller has checked that the token names the key's algorithm.
  func verifies(_ token: SignedToken) -> Bool {
    // A signature of a wrong length is an error.
    (try? verifier.verify(token.signature, signs: token.signed)) ?? false
  }

  // MARK: The thumbprint

  /// The digest of the members in the order of their names.
  private static func thumbprint(_ members: [(name: String, value: String)]) -> String {
    let json = members.map { "\"\($0.name)\":\"\($0.value)\"" }.joined(separator: ",")
    return Base64URL.text(SHA256.hash(data: Data("{\(json)}".utf8)))
  }

  /// The bytes of a number without leading zeros.
  private static func number(_ bytes: Data) -> String { Base64URL.text(bytes.drop { $0 == 0 }) }

  /// jwt-kit has the coordinates as base64.
  private static func coordinate(_ base64: String) -> String { Base64URL.text(Data(base64Encoded: base64) ?? Data()) }
}
