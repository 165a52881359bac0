import ArgumentParser
import Foundation
import UserStore
import UserStoreText

struct Options: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "userserver",
    abstract: "Serves a page and an HTTP API for a database of users.",
    usage: """
      userserver [<options>]
      userserver token <command>
      """,
    discussion: """
      It prints the address to open in a browser on standard output, with the token, and the database on standard error. \
      It runs until Ctrl-C or SIGTERM.

      Exit codes: 0 success, 1 failure, 64 usage, 65 not a database of users, 66 no database or token file, 69 the \
      address cannot be used, 71 too few open files, 73 cannot create, 77 no permission, 78 an unsuitable file with a token or keys.
      """,
    version: UserStore.version,
    // Only for the help and the completions: the options of the server are not those of the command (`UserServer`).
    subcommands: [TokenCommand.self])

  @Option(
    help: ArgumentHelp(
      "The database: a file, which is created, with its folder, if it is missing, or postgres://host/database. Default: $USERTOOL_DB, else users.db in $XDG_DATA_HOME/usertool.",
      valueName: "database"),
    completion: .file())
  var db: String?

  @Option(help: ArgumentHelp("The address to listen on. Port 0 is any free port.", valueName: "host:port"))
  var listen = ListenAddress(argument: "127.0.0.1:8080")!

  @Option(
    help: ArgumentHelp(
      "A file with the token that clients send, readable only by its owner. Default: a new token at each start.",
      valueName: "path"),
    completion: .file())
  var tokenFile: String?

  @Flag(help: "Let every process that can reach the address read and write.")
  var noToken = false

  @OptionGroup var access: AccessOptions

  @Flag(help: "Refuse writes.")
  var readOnly = false

  @Flag(help: "Let replicas copy and follow the database. A file gets tables for them.")
  var replicas = false

  @Option(
    help: ArgumentHelp(
      "Another name under which clients reach the server, such as that of a reverse proxy; may be repeated.",
      valueName: "name[:port]"))
  var host: [String] = []

  @Option(
    help: ArgumentHelp(
      "A web site whose pages may use the API from a browser (CORS), such as https://example.com; may be repeated.",
      valueName: "origin"))
  var allowOrigin: [String] = []

  @Option(help: ArgumentHelp("How often a stream without changes sends a heartbeat.", valueName: "time"))
  var heartbeat = Timespan(argument: "15s")!

  @Option(
    help: ArgumentHelp(
      "How many streams can be open at the same time. Default: 1000, or fewer if the limit of open files is low.",
      valueName: "n"))
  var maxStreams: Int?

  @Option(
    help: ArgumentHelp(
      "How many MiB the bodies of requests and answers may take together, 64 or more.", valueName: "MiB"))
  var maxMemory = 256

  @Option(
    help: ArgumentHelp(
      "How many requests each person with a token of --access-key may send in a minute.", valueName: "number"))
  var requestsPerMinute = 600

  @Option(
    help: ArgumentHelp(
      "How long an answer to a person with a token of --access-key may take to read.", valueName: "time"))
  var queryTimeout = Timespan(argument: "5s")!

  @Option(
    help: ArgumentHelp(
      "How many KiB of JSON a user can have after a person with a token of --access-key has written it.",
      valueName: "KiB"))
  var maxUserSize = 1_024

  @Option(help: ArgumentHelp("How long a stream lasts; its client connects again and continues.", valueName: "time"))
  var streamAge = Timespan(argument: "1h")!

  func validate() throws {
    if noToken, tokenFile != nil { throw ValidationError("--no-token and --token-file cannot be combined") }
    try validateAccess()
    if let maxStreams, maxStreams < 1 { throw ValidationError("--max-streams must be 1 or more") }
    // The largest body and the largest answer must fit.
    if !(64...(1 << 20)).contains(maxMemory) { throw ValidationError("--max-memory must be between 64 and 1048576") }
    if !(1...1_000_000).contains(requestsPerMinute) {
      throw ValidationError("--requests-per-minute must be between 1 and 1000000")
    }
    if heartbeat.duration < .seconds(1) || heartbeat.duration > .seconds(300) {
      throw ValidationError("--heartbeat must be between 1s and 5m")
    }
    if queryTimeout.duration < .seconds(1) { throw ValidationError("--query-timeout must be 1s or more") }
    if !(1...(64 << 10)).contains(maxUserSize) { throw ValidationError("--max-user-size must be between 1 and 65536") }
    if streamAge.duration < .seconds(1) { throw ValidationError("--stream-age must be 1s or more") }
    if listen.isEverywhere, host.isEmpty {
      throw ValidationError("--listen \(listen.host) needs --host: the name under which clients reach the server")
    }
    for origin in allowOrigin where !Self.isOrigin(origin) {
      throw ValidationError("--allow-origin \(origin): an origin is a scheme and a host, such as https://example.com")
    }
    if let name = host.first(where: { $0.isEmpty || $0.contains { "/@ ".contains($0) } }) {
      throw ValidationError("--host \(name): this is not the name of a host")
    }
  }

  /// Throws for an access key without an issuer or an audience, and for one that `--no-token` makes useless.
  private func validateAccess() throws {
    if access.accessKey == nil { return }
    if noToken {
      throw ValidationError("--no-token and --access-key cannot be combined: everybody could read and write everything")
    }
    // A token that the same issuer made for another service must not open this one.
    for (name, value) in [("--access-issuer", access.accessIssuer), ("--access-audience", access.accessAudience)]
    where value == nil {
      throw ValidationError("--access-key needs \(name)")
    }
  }

  private static func isOrigin(_ text: String) -> Bool {
    guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty else { return false }
    return ["http", "https"].contains(parts.scheme) && parts.path.isEmpty && parts.query == nil && parts.user == nil
  }

  var database: DatabaseAddress {
    get throws(Failure) {
      let environment = ProcessInfo.processInfo.environment
      if let db {
        if db.isEmpty { throw Failure(64, "--db must not be empty") }
        do throws(TextError) { return try DatabaseAddress(argument: db) } catch {
          throw Failure(64, error.message, hint: error.hint)
        }
      }
      if let text = environment["USERTOOL_DB"] {
        if !text.isEmpty { return DatabaseAddress(text) }
        throw Failure(64, "USERTOOL_DB is empty", hint: "unset it, or specify the database with --db")
      }
      if let folder = environment["XDG_DATA_HOME"], folder.hasPrefix("/") {
        return .file(folder + "/usertool/users.db")
      }
      guard let home = environment["HOME"] else {
        throw Failure(64, "cannot find the database: HOME is not set", hint: "specify the database with --db")
      }
      return .file(home + "/.local/share/usertool/users.db")
    }
  }
}

/// `127.0.0.1:8080`, `localhost:8080`, `[::1]:8080`, or only a port.
struct ListenAddress: ExpressibleByArgument {
  let host: String
  let port: Int

  var defaultValueDescription: String { "\(name):\(port)" }

  /// The host as written in a URL.
  var name: String { host.contains(":") ? "[\(host)]" : host }

  init?(argument: String) {
    let colon = argument.lastIndex(of: ":")
    let name = colon.map { argument[..<$0] } ?? "127.0.0.1"
    guard let port = UInt16(colon.map { argument[argument.index(after: $0)...] } ?? argument[...]) else { return nil }
    let isBracketed = name.hasPrefix("[") && name.hasSuffix("]")
    // Without brackets, the colons of an IPv6 address are ambiguous.
    if !isBracketed, name.contains(":") { return nil }
    host = name.isEmpty ? "127.0.0.1" : String(isBracketed ? name.dropFirst().dropLast() : name)
    self.port = Int(port)
  }

  /// Whether it stands for all addresses of the machine, which no client would name.
  var isEverywhere: Bool { ["0.0.0.0", "::", "*"].contains(host) }

  /// The names under which clients reach the address, with the port that was chosen.
  func names(port: Int) -> [String] {
    let isLoopback = host.hasPrefix("127.") || ["::1", "localhost"].contains(host)
    if isEverywhere { return [] }
    return ["\(name):\(port)"] + (isLoopback ? ["127.0.0.1", "localhost", "[::1]"].map { "\($0):\(port)" } : [])
  }
}

/// `500ms`, `15s`, `5m`, or `1h`.
struct Timespan: ExpressibleByArgument {
  let duration: Duration
  let defaultValueDescription: String

  init?(argument: String) {
    let units: [(suffix: String, milliseconds: Int64)] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)]
    guard let unit = units.first(where: { argument.hasSuffix($0.suffix) }),
      let number = UInt32(argument.dropLast(unit.suffix.count))
    else { return nil }
    duration = .milliseconds(Int64(number) * unit.milliseconds)
    defaultValueDescription = argument
  }
}
