import ArgumentParser
import Foundation
import JWTKit
import UserStoreText

/// Prints a token: `userserver token issue`.
struct TokenIssue: TokenSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "issue",
    abstract: "Print a token for a person.",
    discussion: """
      What you do not name is denied, and who may write a user may read it. Without --readable and --writable, there is no limit on \
      attributes.
      """)

  @Option(
    help: ArgumentHelp("The private key, readable only by its owner.", valueName: "path"), completion: .file())
  var key: String

  @Option(help: ArgumentHelp("The issuer (iss), as in --access-issuer.", valueName: "name"))
  var issuer: String

  @Option(help: ArgumentHelp("The audience (aud), as in --access-audience.", valueName: "name"))
  var audience: String

  @Option(help: ArgumentHelp("The person (sub): the origin of what is written.", valueName: "name"))
  var subject: String

  @Option(
    parsing: .unconditional, help: ArgumentHelp("The users that may be read: 1,2,-5, or all.", valueName: "ids"))
  var read: ScopeArgument?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("The users that may be written: 1,2,-5, or all.", valueName: "ids"))
  var write: ScopeArgument?

  @Flag(help: "Let the person add users.")
  var add = false

  @Option(help: ArgumentHelp("The attributes that may be read: name,age.", valueName: "attributes"))
  var readable: AttributesArgument?

  @Option(help: ArgumentHelp("The attributes that may be written: name,age.", valueName: "attributes"))
  var writable: AttributesArgument?

  @Option(name: .customLong("for"), help: ArgumentHelp("How long the token is valid.", valueName: "time"))
  var lifetime = Timespan(argument: "1h")!

  func validate() throws {
    if lifetime.duration < .seconds(1) { throw ValidationError("--for must be 1s or more") }
    for (name, value) in [("--issuer", issuer), ("--audience", audience)] where value.isEmpty {
      throw ValidationError("\(name) must not be empty")
    }
  }

  func perform() async throws {
    let key = try await SigningKey(file: key)
    let header = Self.object([
      ("alg", key.algorithm.rawValue.json), ("typ", "JWT".json), ("kid", key.id.json),
    ])
    let signed = [header, claims].map { Base64URL.text($0.utf8) }.joined(separator: ".")
    let token = try signed + "." + Base64URL.text(key.signature(of: signed))
    // The server must accept what this command prints.
    do throws(AccessKeys.Refused) { _ = try AccessClaims(SignedToken(token).claims()) } catch {
      throw Failure(64, "the server would refuse this token: \(error.detail)")
    }
    print(token)
  }

  private var claims: String {
    let now = Int64(Date().timeIntervalSince1970)
    return Self.object([
      ("iss", issuer.json), ("aud", audience.json), ("sub", subject.json), ("iat", "\(now)"),
      ("exp", "\(now + lifetime.duration.components.seconds)"), ("userstore", Self.object(rights)),
    ])
  }

  private var rights: [(name: String, json: String)] {
    func list(_ attributes: AttributesArgument?) -> String? {
      attributes.map { Self.list($0.names.map(\.json)) }
    }
    let rights = [
      ("read", read.map(\.scope.json)), ("write", write.map(\.scope.json)), ("add", add ? "true" : nil),
      ("readable", list(readable)), ("writable", list(writable)),
    ]
    return rights.compactMap { name, json in json.map { (name, $0) } }
  }

  private static func object(_ members: [(name: String, json: String)]) -> String {
    "{" + members.map { "\"\($0.name)\":\($0.json)" }.joined(separator: ",") + "}"
  }

  fileprivate static func list(_ elements: [String]) -> String { "[" + elements.joined(separator: ",") + "]" }
}

extension String {
  /// The text as a JSON string.
  fileprivate var json: String { RecordText.json(self) }
}

extension AccessClaims.Scope {
  fileprivate var json: String {
    switch self {
    case .all: "all".json
    case .ids(let ids): TokenIssue.list(ids.sorted().map { "\($0)" })
    }
  }
}

/// A private key in a file that only its owner can read.
private struct SigningKey {
  let algorithm: AccessKey.Algorithm
  /// The thumbprint, by which the server finds the public key.
  let id: String
  private let signer: any JWTAlgorithm

  /// Reads the key.
  ///
  /// Throws if others can read it, or if it is for none of the accepted algorithms.
  init(file path: String) async throws {
    let file = try Self.open(path)
    try file.requireSecret()
    if file.content.contains("-----BEGIN PUBLIC KEY-----") {
      throw Failure(78, "\(path) has a public key", hint: "--key takes the private key, without .pub")
    }
    let (collection, pem) = (JWTKeyCollection(), file.content)
    let published: AccessKey
    if let key = try? EdDSA.PrivateKey(pem: pem) {
      await collection.add(eddsa: key)
      published = try await AccessKey(key.publicKey, name: nil)
    } else if let key = try? ES256PrivateKey(pem: pem) {
      await collection.add(ecdsa: key)
      published = try await AccessKey(key.publicKey, name: nil)
    } else if let key = try? Insecure.RSA.PrivateKey(pem: pem) {
      await collection.add(rsa: key, digestAlgorithm: .sha256)
      published = try await AccessKey(key.publicKey, name: nil)
    } else {
      throw Failure(
        78, "\(path) is no private key for RS256 with at least 2048 bits, ES256, or EdDSA",
        hint: "userserver token key makes one")
    }
    (algorithm, id) = (published.algorithm, published.id)
    signer = try await collection.getKey()
  }

  private static func open(_ path: String) throws(Failure) -> KeyFile {
    do throws(Failure) { return try KeyFile(path) } catch {
      let hint = error.status == 66 ? "userserver token key makes a pair of keys" : nil
      throw Failure(error.status, error.message, hint: error.hint ?? hint)
    }
  }

  func signature(of text: String) throws -> [UInt8] { try signer.sign(Array(text.utf8)) }
}
