import ArgumentParser
import UserStore

/// What every command takes.
struct CommonOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The database: else $USERTOOL_DB, else users.db in $XDG_DATA_HOME/usertool.", valueName: "path"),
    completion: .file())
  var db: String?

  @Option(help: "The layout; a table on a terminal, else plain, for updates jsonl.")
  var format: OutputFormat?

  @Option(help: "Colours; NO_COLOR and CLICOLOR_FORCE are heard too.")
  var color: ColorChoice = .auto

  @Option(help: ArgumentHelp("How long to wait for another writer: 500ms, 5s, 1m.", valueName: "time"))
  var busyTimeout = Timespan(argument: "5s")!

  @Flag(name: [.short, .long], help: "Errors only.")
  var quiet = false
}

extension CommonOptions {
  /// The options that may also stand before the command, and whether each takes a value.
  static let names: [String: Bool] = [
    "--db": true, "--format": true, "--color": true, "--busy-timeout": true, "--quiet": false, "-q": false,
  ]

  var style: Style { Style(color, isTerminal: System.isTerminal(1)) }

  /// The layout of records.
  var recordFormat: OutputFormat { format ?? (System.isTerminal(1) ? .table : .plain) }

  /// The layout of updates and of the log.
  var streamFormat: OutputFormat { format ?? (System.isTerminal(1) ? .table : .jsonl) }

  /// Says something that is no error; after a closed pipe, nothing.
  func note(_ line: String) {
    if !quiet, Signals.shared.status != .brokenPipe { Messages.shared.say(line) }
  }

  // MARK: The database

  /// Where the database is.
  ///
  /// - Throws: `Failure` when nothing says it.
  var path: String {
    get throws(Failure) {
      if let path = db ?? System.environment("USERTOOL_DB") {
        if path.isEmpty { throw Failure(.usage, "--db names no file") }
        return path
      }
      if let folder = System.environment("XDG_DATA_HOME"), folder.hasPrefix("/") {
        return folder + "/usertool/users.db"
      }
      guard let home = System.environment("HOME") else {
        throw Failure(.usage, "HOME is not set", hint: "name the database with --db")
      }
      return home + "/.local/share/usertool/users.db"
    }
  }

  /// Opens the database.
  ///
  /// Only a watching store listens for other processes: it costs a thread.
  ///
  /// - Throws: `Failure`.
  func open(_ access: Configuration.Access, isWatching: Bool = false) throws -> UserStore {
    var configuration = Configuration()
    configuration.access = access
    configuration.busyTimeout = busyTimeout.duration
    configuration.watchesOtherProcesses = isWatching
    let path = try path
    do { return try OpenStores.shared.open { try UserStore(path: path, configuration: configuration) } } catch {
      guard let error = error as? StoreError else { throw error }
      var failure = Failure(error)
      if error.code == .notFound { failure.hint = "create it with usertool init" + (db.map { " --db \($0)" } ?? "") }
      throw failure
    }
  }

  /// Opens the database, hands it out, and closes it, so that the file is left whole.
  func withStore<Result>(_ access: Configuration.Access, _ body: (UserStore) throws -> Result) throws -> Result {
    let store = try open(access)
    defer { store.close() }
    return try body(store)
  }
}
