package import UserStore
import UserStoreText

/// Where the records are.
enum Database {
  case file(String)
  case server(ServerAddress)

  init(_ text: String) { self = ServerAddress(text).map { .server($0) } ?? .file(text) }

  /// The path of the file; nil for a server.
  var path: String? {
    if case .file(let path) = self { path } else { nil }
  }

  /// The name in messages, safe to show.
  var shown: String {
    switch self {
    case .file(let path): path.shown
    case .server(let address): address.shown
    }
  }
}

/// The address of a PostgreSQL database, as libpq reads it: `postgres://host/database`.
struct ServerAddress {
  let text: String

  /// Reads an address; nil if the text is the path of a file.
  init?(_ text: String) {
    guard ["postgres://", "postgresql://"].contains(where: text.hasPrefix) else { return nil }
    self.text = text
  }

  /// Whether the address has a password: after the user's name, or as a parameter.
  var hasPassword: Bool { userinfo.contains(":") || parameters.contains(where: Self.isSecret) }

  /// The address without its password, safe to show.
  var shown: String {
    if !hasPassword { return text.shown }
    let user = userinfo.prefix { $0 != ":" }
    let rest = text[start...].dropFirst(userinfo.count).prefix { $0 != "?" }
    let others = parameters.filter { !Self.isSecret($0) }
    return (text[..<start] + user + rest + (others.isEmpty ? "" : "?" + others.joined(separator: "&"))).shown
  }

  private var start: String.Index {
    text.firstIndex(of: ":").map { text.index($0, offsetBy: 3) } ?? text.endIndex
  }

  /// The user's name and password, which end with an @.
  ///
  /// libpq ends them at the first @ that precedes the first slash. A password that contains an @ or a slash breaks that rule;
  /// it must not be shown either, so that they end at the last @ here.
  private var userinfo: Substring {
    let head = text[start...].prefix { $0 != "/" }
    let place = head.lastIndex(of: "@") ?? text[start...].prefix { $0 != "?" }.lastIndex(of: "@")
    return place.map { text[start..<$0] } ?? ""
  }

  private var parameters: [Substring] {
    let rest = text[userinfo.endIndex...]
    return rest.firstIndex(of: "?").map { rest[$0...].dropFirst().split(separator: "&") } ?? []
  }

  /// Whether a parameter is a password; a name that is percent-encoded may be one.
  private static func isSecret(_ parameter: Substring) -> Bool {
    let name = parameter.prefix { $0 != "=" }
    return name.hasSuffix("password") || name.contains("%")
  }
}

/// The engine for databases on a server.
///
/// usertool has none, because libpq loads many libraries at each start.
package struct ServerEngine: Sendable {
  /// Opens the store at an address.
  package let open: @Sendable (_ address: String, UserStore.Configuration) throws(StoreError) -> UserStore
  /// Checks the store at an address.
  package let check: @Sendable (_ address: String, UserStore.Configuration) throws(StoreError) -> [UserStore.Finding]

  /// Lets a role of the server read the store at an address, or also write.
  package let allow: @Sendable (_ role: String, _ mayWrite: Bool, _ address: String) throws(StoreError) -> Void

  package init(
    open: @escaping @Sendable (String, UserStore.Configuration) throws(StoreError) -> UserStore,
    check: @escaping @Sendable (String, UserStore.Configuration) throws(StoreError) -> [UserStore.Finding],
    allow: @escaping @Sendable (String, Bool, String) throws(StoreError) -> Void
  ) {
    (self.open, self.check, self.allow) = (open, check, allow)
  }

  private static let shared = Lock<ServerEngine?>(nil)

  /// The engine of this program; nil in usertool itself.
  static var current: ServerEngine? { shared.withLock { $0 } }

  static func use(_ engine: ServerEngine?) { shared.withLock { $0 = engine } }

  /// The program with the same commands that has an engine.
  private static let program = "usertool-postgres"

  /// Lets the other program run the command line, if it is installed and the database is on a server.
  ///
  /// That program reads the command line as this one does, so that it does no harm if the words after `--db` were meant otherwise.
  static func handOver(_ arguments: ArraySlice<String>) {
    guard current == nil, let text = database(in: arguments), ServerAddress(text) != nil else { return }
    for path in System.places(of: program) { System.replaceProcess(by: path, Array(arguments)) }
  }

  private static func database(in arguments: ArraySlice<String>) -> String? {
    let words = arguments.prefix { $0 != "--" }
    if let index = words.lastIndex(where: { $0 == "--db" || $0.hasPrefix("--db=") }) {
      return words[index] == "--db" ? words[(index + 1)...].first : String(words[index].dropFirst("--db=".count))
    }
    return System.environment("USERTOOL_DB")
  }

  /// The engine of this program; throws if it has none.
  static func required() throws(Failure) -> ServerEngine {
    if let current { return current }
    throw Failure(
      .failure, "\(program), which opens databases on PostgreSQL, is not installed",
      hint: "scripts/install --postgres in the sources of UserStore installs it")
  }
}
