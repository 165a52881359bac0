/// The address of a database: the path of a file, or a URL such as `postgres://host/database`.
///
/// The description is safe to show: it contains no password, and it escapes characters that act on a terminal.
public enum DatabaseAddress: Sendable, CustomStringConvertible {
  /// A file.
  case file(String)
  /// A database on PostgreSQL; the URL has the same meaning as in psql.
  case postgres(url: String)

  /// Reads an address that other users of the machine cannot see, such as one in an environment variable.
  public init(_ text: String) {
    self = PostgresURL(text) == nil ? .file(text) : .postgres(url: text)
  }

  /// Reads an address from a program's arguments, which every user of the machine can see.
  ///
  /// - Throws: `TextError` if the address has a password, or is ambiguous and may have one.
  public init(argument: String) throws(TextError) {
    self.init(argument)
    guard let url = PostgresURL(argument) else { return }
    if !url.hasPassword, url.isCertain() { return }
    if !url.hasPassword, url.isCertain(withAnyPort: true) {
      throw TextError(
        .notation, "the port in the address is not between 1 and 65535",
        hint: "the form is postgres://user@host:port/database; write a password to ~/.pgpass, or set PGPASSWORD")
    }
    throw TextError(
      .notation, "a password in an argument can be read by every user of this machine",
      hint: "write it to ~/.pgpass, or set PGPASSWORD; in names, write @ as %40, : as %3A, and / as %2F")
  }

  /// The path of the file, or the URL without its password.
  public var description: String {
    switch self {
    case .file(let path): path.shown
    case .postgres(let text):
      if let url = PostgresURL(text), url.isCertain() { url.withoutPassword.shown } else { "postgres://…" }
    }
  }
}

/// The parts of `postgres://user:password@host:port,…/database?name=value&…`.
package struct PostgresURL {
  private typealias Text = Substring.UnicodeScalarView

  private let scheme: String
  private let user: Text
  private let password: Text
  /// The hosts, each with its port.
  private let hosts: [Text]
  private let place: Text
  private let parameters: [Text]
  /// Whether libpq may read a part of the password as a host or the database, because it contains an unencoded “@” or “/”.
  package let isAmbiguous: Bool
  /// Whether a “?” may belong to a password: libpq reads everything before the “@” as the user, but a person may mean otherwise.
  private let isDoubtful: Bool

  /// Reads a URL; nil for another text.
  package init?(_ text: String) {
    // By bytes: libpq finds the scheme even if a combining character follows it.
    guard let scheme = ["postgres://", "postgresql://"].first(where: { text.utf8.starts(with: $0.utf8) }) else {
      return nil
    }
    self.scheme = scheme
    let rest = text[...].unicodeScalars.dropFirst(scheme.unicodeScalars.count)
    let at = rest.firstIndex(of: "@")
    let userinfo = rest[..<(at ?? rest.startIndex)]
    let others = at.map { rest[$0...].dropFirst() } ?? rest
    isAmbiguous = userinfo.contains("/") || others.contains("@")
    isDoubtful = isAmbiguous || userinfo.contains("?")
    user = userinfo.prefix { $0 != ":" }
    password = userinfo.dropFirst(user.count + 1)
    hosts = others.prefix { $0 != "/" && $0 != "?" }.split(separator: ",")
    place = others.prefix { $0 != "?" }
    parameters = others[place.endIndex...].dropFirst().split(separator: "&")
  }

  var hasPassword: Bool { !password.isEmpty || parameters.contains(where: Self.isSecret) }

  /// Whether no part of a password can be elsewhere; `withAnyPort` allows numbers larger than ports are.
  func isCertain(withAnyPort: Bool = false) -> Bool {
    !isDoubtful && hosts.allSatisfy { Self.isHost($0, withAnyPort) }
  }

  var withoutPassword: String {
    let others = parameters.filter { !Self.isSecret($0) }.map { String($0) }.joined(separator: "&")
    return "\(scheme)\(user.isEmpty ? "" : String(user) + "@")\(String(place))\(others.isEmpty ? "" : "?" + others)"
  }

  /// Whether the port is a number: in `user:password/database`, which has no host, the password is in its place.
  private static func isHost(_ host: Text, _ withAnyPort: Bool) -> Bool {
    let name = host.first == "[" ? host.prefix { $0 != "]" } : host.prefix { $0 != ":" }
    let rest = host[name.endIndex...].drop { $0 == "]" }
    guard (host.first == "[") == host.contains("]"), (rest.first ?? ":") == ":" else { return false }
    let port = rest.dropFirst()
    let isNumber = withAnyPort && port.allSatisfy { ("0"..."9").contains($0) }
    return port.isEmpty || isNumber || UInt16(String(port)).map { $0 > 0 } ?? false
  }

  /// Whether a parameter may be a password, even if its name is percent-encoded or misspelled.
  private static func isSecret(_ parameter: Text) -> Bool {
    let name = String(parameter.prefix { $0 != "=" }).lowercased()
    return (name.contains("pass") && name != "passfile") || name.utf8.contains(UInt8(ascii: "%"))
  }
}
