import Foundation
import JWTKit

/// Reads the public keys of `--access-key`: PEM, one or several in a file, or a JWKS.
enum AccessKeyFile {
  static let maximumKeys = 100

  /// The keys of a file, at least one.
  ///
  /// Throws for a private key, a shared secret, a key that no accepted algorithm uses, and more than 100 keys.
  static func keys(_ file: KeyFile) async throws(Failure) -> [AccessKey] {
    try file.requireUnchangeable()
    do throws(Mistake) {
      let isJSON = file.content.trimmingCharacters(in: .whitespacesAndNewlines).hasPrefix("{")
      let keys = isJSON ? try await jwks(file.content) : try await pem(file.content)
      if keys.isEmpty { throw Mistake("it has no key for RS256, ES256, or EdDSA") }
      return keys
    } catch {
      throw Failure(78, "\(file.path) is no file with access keys: \(error.reason)", hint: error.hint)
    }
  }

  private struct Mistake: Error {
    let reason: String
    let hint: String?

    init(_ reason: String, hint: String? = nil) { (self.reason, self.hint) = (reason, hint) }

    static func privateKey(_ position: Int) -> Mistake {
      Mistake(
        "key \(position) is private, and everybody who has it can issue tokens",
        hint: "give the server the public key: openssl pkey -in PRIVATE -pubout")
    }
  }

  private static func checkCount(_ count: Int) throws(Mistake) {
    if count > maximumKeys { throw Mistake("it has \(count) keys, and at most \(maximumKeys) are allowed") }
  }

  // MARK: PEM

  private static func pem(_ text: String) async throws(Mistake) -> [AccessKey] {
    let blocks = try PEMBlock.blocks(in: text)
    if blocks.isEmpty {
      throw Mistake("it is neither PEM nor a JWKS", hint: "a public key begins with -----BEGIN PUBLIC KEY-----")
    }
    try checkCount(blocks.count)
    var keys: [AccessKey] = []
    for (index, block) in blocks.enumerated() { keys.append(try await key(block, index + 1)) }
    return keys
  }

  private static func key(_ block: PEMBlock, _ position: Int) async throws(Mistake) -> AccessKey {
    switch block.label {
    case "PUBLIC KEY", "RSA PUBLIC KEY": break
    case _ where block.label.contains("PRIVATE"): throw .privateKey(position)
    case "CERTIFICATE":
      throw Mistake(
        "key \(position) is a certificate, whose end the server would not notice",
        hint: "openssl x509 -in CERTIFICATE -noout -pubkey prints its key")
    default: throw Mistake("key \(position) is \"\(block.label.excerpt)\", which is no public key")
    }
    if let key = try? ES256PublicKey(pem: block.text) {
      return try await made(position) { try await AccessKey(key, name: nil) }
    }
    if let key = try? EdDSA.PublicKey(pem: block.text) {
      return try await made(position) { try await AccessKey(key, name: nil) }
    }
    return try await made(position) { try await AccessKey(Insecure.RSA.PublicKey(pem: block.text), name: nil) }
  }

  /// Turns the errors of jwt-kit, which do not say what a key must be, into one that does.
  private static func made(_ position: Int, _ key: () async throws -> AccessKey) async throws(Mistake) -> AccessKey {
    do { return try await key() } catch {
      throw Mistake(
        "key \(position) is invalid, or is none of RSA with at least 2048 bits, ECDSA on the curve P-256, and Ed25519")
    }
  }

  // MARK: JWKS

  private static func jwks(_ text: String) async throws(Mistake) -> [AccessKey] {
    let members: [String: StrictJSON]
    do throws(StrictJSON.Mistake) { members = try StrictJSON.members(Array(text.utf8)) } catch {
      throw Mistake("its JSON cannot be read: \(error.reason)")
    }
    guard case .list(let elements) = members["keys"] else {
      throw Mistake("it has no list of keys", hint: "a JWKS is {\"keys\": […]}")
    }
    try checkCount(elements.count)
    var keys: [AccessKey] = []
    for (index, element) in elements.enumerated() {
      guard case .object(let members) = element else { throw Mistake("key \(index + 1) is not an object") }
      if let key = try await key(members, index + 1) { keys.append(key) }
    }
    return keys
  }

  /// The key of a JWK; nil for one that is not for the accepted algorithms.
  ///
  /// Providers publish such keys beside the others (RFC 7517, 5).
  private static func key(_ members: [String: StrictJSON], _ position: Int) async throws(Mistake) -> AccessKey? {
    let type = members["kty"]?.text
    if type == "oct" || members["k"] != nil {
      throw Mistake("key \(position) is a shared secret, and everybody who has it can issue tokens")
    }
    if ["d", "p", "q", "dp", "dq", "qi", "oth"].contains(where: { members[$0] != nil }) { throw .privateKey(position) }
    if let use = members["use"], use.text != "sig" { return nil }
    if let operations = members["key_ops"]?.texts, !operations.contains("verify") { return nil }
    let (name, curve, algorithm) = (members["kid"], members["crv"]?.text, members["alg"])
    if let name, name.text == nil { throw Mistake("the kid of key \(position) is not a text") }
    func value(_ name: String) throws(Mistake) -> String {
      if let text = members[name]?.text, Base64URL.bytes(text) != nil { return text }
      throw Mistake("\(name) of key \(position) is not base64url")
    }
    func isFor(_ own: AccessKey.Algorithm) -> Bool { algorithm == nil || algorithm?.text == own.rawValue }

    switch (type, curve) {
    case ("RSA", _) where isFor(.rs256):
      let (modulus, exponent) = (try value("n"), try value("e"))
      return try await made(position) {
        try await AccessKey(Insecure.RSA.PublicKey(modulus: modulus, exponent: exponent), name: name?.text)
      }
    case ("EC", "P-256") where isFor(.es256):
      let (x, y) = (try value("x"), try value("y"))
      return try await made(position) { try await AccessKey(ES256PublicKey(parameters: (x, y)), name: name?.text) }
    case ("OKP", "Ed25519") where isFor(.edDSA):
      let x = try value("x")
      return try await made(position) { try await AccessKey(EdDSA.PublicKey(x: x, curve: .ed25519), name: name?.text) }
    default: return nil
    }
  }

  /// One key of a PEM file.
  private struct PEMBlock {
    let label: String
    /// The block with its first and its last line.
    let text: String

    /// The blocks of a file; other lines are comments.
    ///
    /// Throws for a block without an end: the file may be written just now.
    static func blocks(in text: String) throws(Mistake) -> [PEMBlock] {
      var blocks: [PEMBlock] = []
      var open: (label: String, lines: [String])?
      for line in text.split(whereSeparator: \.isNewline) {
        let line = line.trimmingCharacters(in: .whitespaces)
        if let label = label(of: line, "-----BEGIN ") {
          if open != nil { throw Mistake("key \(blocks.count + 1) has no end") }
          open = (label, [line])
        } else if let (label, lines) = open {
          open?.lines.append(line)
          guard let last = Self.label(of: line, "-----END ") else { continue }
          if last != label { throw Mistake("key \(blocks.count + 1) has no end") }
          blocks.append(PEMBlock(label: label, text: (lines + [line]).joined(separator: "\n")))
          open = nil
        }
      }
      if open != nil { throw Mistake("key \(blocks.count + 1) has no end") }
      return blocks
    }

    private static func label(of line: String, _ beginning: String) -> String? {
      guard line.hasPrefix(beginning), line.hasSuffix("-----") else { return nil }
      return String(line.dropFirst(beginning.count).dropLast(5))
    }
  }
}
