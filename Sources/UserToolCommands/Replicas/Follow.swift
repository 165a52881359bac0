import ArgumentParser
import UserStore
import UserStoreSync
import UserStoreText

struct FollowCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "follow",
    abstract: "Make a database a replica of a server's users, and keep it up to date.",
    usage: "usertool follow <address> --db <path> [<options>]",
    discussion: """
      Examples:
        usertool follow https://users.example.com --db copy.db --token-file token
        usertool follow http://127.0.0.1:8080 --db copy.db --once
        usertool follow http://127.0.0.1:8080 --db some.db --users 1,7,12

      The server is userserver --replicas. The first time, the database must be new or empty; it is then a replica for good: \
      every other write is refused. Other programs can read it at any time. Follows until it is stopped; what fails is tried \
      again. On a terminal, prints the state in one line; in a pipe, a line of JSON for each new state.
      """)

  @Argument(help: "The address of the server.")
  var address: String

  @Option(
    help: ArgumentHelp("A file whose first line is the token of the server.", valueName: "file"), completion: .file())
  var tokenFile: String?

  @Option(help: ArgumentHelp("Follow only the users with these ids.", valueName: "ids"))
  var users: UserIDs?

  @Flag(help: "Stop when the database has everything that the server has.")
  var once = false

  @Option(help: ArgumentHelp("Stop after this time with exit code 124: 30s, 500ms, 2m.", valueName: "time"))
  var timeout: Timespan?

  @Option(
    help: ArgumentHelp(
      "Copy the users of another server in place of those that were copied before; a message names it.",
      valueName: "identity"))
  var confirm: String?

  @OptionGroup var common: CommonOptions

  func run() async throws {
    let engine = try SyncEngine.required()
    let store = try common.open(.createIfMissing)
    defer { store.close() }
    do {
      let transport = try engine.connect(address, tokenFile)
      let replica = try Replica(of: store, from: transport, users: users?.users ?? .all, writes: .none)
      if let confirm { try replica.confirm(identity: confirm) }
      let printer = StatePrinter(address, common)
      replica.state.bindAndFire("usertool") { printer.show($0) }
      defer { printer.end() }
      try await Deadline.run(timeout: timeout?.duration) { [once] in
        if once { try await replica.catchUp() } else { try await replica.run() }
        return once && !Task.isCancelled
      }
    } catch let error as StoreError {
      throw Failure(error, in: try common.database)
    } catch let problem as Replica.Problem {
      throw Failure(problem)
    }
  }
}

/// The ids of `--users`.
struct UserIDs: ExpressibleByArgument {
  let users: Replica.Users

  init?(argument: String) {
    let ids = argument.split(separator: ",", omittingEmptySubsequences: false).map { Int64($0) }
    guard ids.allSatisfy({ $0 != nil }) else { return nil }
    users = .ids(ids.compactMap { $0 }.map { UserStore.User.ID($0) })
  }
}

extension Failure {
  fileprivate init(_ problem: Replica.Problem) {
    switch problem {
    case .anotherServer(let identity):
      self.init(.conflict, "\(problem)", hint: "to copy its users in place of the others, add --confirm \(identity)")
    case .newerServer: self.init(.failure, "\(problem)", hint: "update usertool")
    case .anotherSubject, .damaged, .badRequest: self.init(.failure, "\(problem)")
    }
  }
}

/// Prints the states of a replica: in one line of a terminal, or as lines of JSON.
final class StatePrinter: Sendable {
  private let address: String
  private let isQuiet: Bool
  private let isLive: Bool
  private let hasShown = Lock(false)

  init(_ address: String, _ common: CommonOptions) {
    self.address = address
    isQuiet = common.quiet
    isLive = common.format == nil && System.isTerminal(System.standardOutput)
  }

  func show(_ state: Replica.State) {
    if !isLive { return Output.print([state.json.description]) }
    if isQuiet { return }
    hasShown.withLock { $0 = true }
    Messages.shared.showProgress(state.text(address))
  }

  /// Leaves the last state on the terminal.
  func end() {
    if hasShown.withLock({ $0 }) { Messages.shared.writeLine("") }
  }
}

extension Replica.State {
  func text(_ address: String) -> String {
    switch self {
    case .copying(_, 0): "copying the users of \(address)"
    case .copying(let done, let count): "copying the users of \(address): \(done) of \(count)"
    case .following(0): "following \(address): up to date"
    case .following(let behind): "following \(address): \(behind) revisions behind"
    case .waiting(let reason, let time):
      "waiting: \(reason.shown); next attempt in \(max(0, (time - WallClock.milliseconds + 999) / 1_000)) s"
    case .refused(let problem): "stopped: \("\(problem)".shown)"
    }
  }

  /// The members of a line of JSON.
  var json: JSON {
    switch self {
    case .copying(let done, let count):
      .object([
        ("state", .text("copying")), ("done", .integer(Int64(done))), ("of", .integer(Int64(count))),
      ])
    case .following(let behind): .object([("state", .text("following")), ("behind", .integer(Int64(behind)))])
    case .waiting(let reason, let time):
      .object([
        ("state", .text("waiting")), ("reason", .text(reason)), ("retry_at", .text(Timestamp(milliseconds: time).utc)),
      ])
    case .refused(let problem): .object([("state", .text("refused")), ("reason", .text("\(problem)"))])
    }
  }
}
