import ArgumentParser
import Foundation

/// Explains a token: `userserver token show`.
struct TokenShow: TokenSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Explain a token.",
    discussion: """
      Without --access-key, the signature is not checked: anybody can have written what is shown. With it, the exit code is 1 if the \
      server would refuse the token. A token is a secret; from standard input, it does not appear in lists of processes.
      """)

  @Argument(help: ArgumentHelp("The token; - or nothing for standard input.", valueName: "token"))
  var token = "-"

  @OptionGroup var access: AccessOptions

  func perform() async throws {
    let text = try token == "-" ? Self.standardInput() : token
    let explanation: TokenExplanation
    do throws(AccessKeys.Refused) { explanation = try TokenExplanation(text) } catch {
      throw Failure(65, "\(error.reason.rawValue): \(error.detail)")
    }
    explanation.lines.forEach(Self.show)
    guard let accessKey = access.accessKey else {
      Self.show("accepted", "not checked: name the keys with --access-key")
      return
    }
    // What is not to be compared is compared with itself.
    let keys = try await AccessKeys(
      file: accessKey, issuer: access.accessIssuer ?? explanation.issuer ?? "",
      audience: access.accessAudience ?? explanation.audience ?? "")
    let unchecked = [("issuer", access.accessIssuer), ("audience", access.accessAudience)].filter { $0.1 == nil }
    for (name, _) in unchecked { Self.show("note", "the \(name) is not compared without --access-\(name)") }
    do throws(AccessKeys.Refused) {
      let verified = try await keys.verify(text)
      Self.show("accepted", "yes, by the key \(verified.keyID)")
    } catch {
      Self.show("accepted", "no, \(error.reason.rawValue): \(error.detail)")
      throw ExitCode(1)
    }
  }

  /// Prints a line.
  ///
  /// The value was made safe to show.
  private static func show(_ name: String, _ value: String) {
    print(name.padding(toLength: 12, withPad: " ", startingAt: 0) + value)
  }

  private static func standardInput() throws -> String {
    let most = 4 * SignedToken.maximumSize
    let data = try FileHandle.standardInput.read(upToCount: most) ?? Data()
    return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

/// What a token says, in lines that are safe to show.
private struct TokenExplanation {
  private let header: [String: StrictJSON]
  private let claims: [String: StrictJSON]

  /// Reads a token without checking anything.
  ///
  /// Throws if it is not one.
  init(_ text: String) throws(AccessKeys.Refused) {
    let token = try SignedToken(text)
    header = token.header
    claims = try token.claims()
  }

  var issuer: String? { claims["iss"]?.text }
  var audience: String? { audiences?.first }

  private var audiences: [String]? { claims["aud"]?.texts ?? claims["aud"]?.text.map { [$0] } }

  var lines: [(name: String, value: String)] {
    var lines = [("algorithm", header["alg"].shown)]
    if let key = header["kid"] { lines.append(("key", Optional(key).shown)) }
    lines += [("subject", claims["sub"].shown), ("issuer", claims["iss"].shown)]
    lines.append(("audience", audiences.map { $0.map(\.shown).joined(separator: ", ") } ?? claims["aud"].shown))
    if claims["nbf"] != nil { lines.append(("valid from", time("nbf"))) }
    lines.append(("expires", time("exp")))
    return lines + rights
  }

  private var rights: [(name: String, value: String)] {
    do throws(AccessKeys.Refused) {
      let access = try AccessClaims(claims)
      let adds = access.write == .all ? "yes" : "yes, and reads and writes those"
      return [
        ("reads", access.read.shown), ("writes", access.write.shown), ("adds users", access.add ? adds : "no"),
        ("readable", Self.shown(access.readable)), ("writable", Self.shown(access.writable)),
      ]
    } catch {
      return [("mistake", error.detail)]
    }
  }

  private static func shown(_ attributes: [String]?) -> String {
    guard let attributes else { return "all attributes" }
    return attributes.isEmpty ? "no attributes" : attributes.map(\.shown).joined(separator: ", ")
  }

  /// A time in UTC, and how far away it is.
  private func time(_ name: String) -> String {
    guard let claim = claims[name] else { return "missing" }
    guard let seconds = claim.number else { return "not a number" }
    guard (0...253_402_300_799).contains(seconds) else { return "not in the years 1970 to 9999" }
    let date = Date(timeIntervalSince1970: seconds)
    // The style ends with Z.
    let text = date.formatted(.iso8601.dateTimeSeparator(.space)).dropLast()
    return "\(text) UTC, \(Self.distance(date.timeIntervalSinceNow))"
  }

  private static func distance(_ seconds: Double) -> String {
    let amount = abs(seconds)
    let units: [(seconds: Double, name: String)] = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")]
    let first = units.firstIndex { amount >= $0.seconds } ?? 3
    var rest = amount
    let parts = units[first...].prefix(2).map { unit in
      let count = (rest / unit.seconds).rounded(.down)
      rest -= count * unit.seconds
      return "\(Int(count)) \(unit.name)"
    }
    let text = parts.joined(separator: " ")
    return seconds >= 0 ? "in \(text)" : "\(text) ago"
  }
}

extension StrictJSON? {
  /// A claim that should be a text.
  fileprivate var shown: String {
    switch self {
    case nil: "missing"
    case .text(let text)?: text.shown
    default: "not a text"
    }
  }
}

extension AccessClaims.Scope {
  fileprivate var shown: String {
    switch self {
    case .all: "all users"
    case .ids([]): "no users"
    case .ids(let ids): ids.sorted().map { "\($0)" }.joined(separator: ", ")
    }
  }
}
