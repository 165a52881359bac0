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
        usertool follow http://127.0.0.1:8080 --db own.db --write

      The server is userserver --replicas. The first time, the database must be new or empty; it is then a replica for good. \
      Other programs can read it at any time. Follows until it is stopped; what fails is tried again. On a terminal, prints \
      the state in one line; in a pipe, a line of JSON for each new state.

      With --write, every program can write to the database, also while nothing follows; what is written is sent to the \
      server in its order, and accepted or refused. A refused write is taken back; usertool sync lists it until it is \
      acknowledged. A user who is added here has a negative id, such as -5. Without --write, all other writes are refused, \
      also if there was a --write before; what was written until then is still sent.
      """)

  @Argument(help: "The address of the server.")
  var address: String

  @Option(
    help: ArgumentHelp("A file whose first line is the token of the server.", valueName: "file"), completion: .file())
  var tokenFile: String?

  @Option(help: ArgumentHelp("Follow only the users with these ids.", valueName: "ids"))
  var users: UserIDs?

  @Flag(help: "Let programs write to the database, and send what they write to the server.")
  var write = false

  @Flag(help: "Stop when the database has everything that the server has, and every write is decided.")
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
    let store = try common.open(.createIfMissing, isWatching: write)
    defer { store.close() }
    do {
      let transport = try engine.connect(address, tokenFile)
      let replica = try Replica(
        of: store, from: transport, users: users?.users ?? .all, writes: write ? .queued : .none)
      if let confirm { try replica.confirm(identity: confirm) }
      let printer = StatePrinter(address, common, writes: write)
      try await Deadline.run(timeout: timeout?.duration) { [once] in
        try await printer.follow(replica, of: store) {
          if once { try await replica.catchUp() } else { try await replica.run() }
        }
        return once && !Task.isCancelled
      }
    } catch let error as StoreError {
      throw Failure(error, ofReplica: try common.database)
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
    case .anotherSubject:
      self.init(.conflict, "\(problem)", hint: "follow with the token of before, or choose another file with --db")
    case .damaged(let detail):
      self.init(
        .badData, detail,
        hint: "usertool sync discard gives up what was not sent, and usertool check looks for damage of the file")
    case .badRequest: self.init(.failure, "\(problem)")
    }
  }

  /// A failure for an error of a store that is a replica.
  init(_ error: StoreError, ofReplica database: DatabaseAddress) {
    if error.code == .corrupt { self.init(.damaged(error.message)) } else { self.init(error, in: database) }
  }
}
