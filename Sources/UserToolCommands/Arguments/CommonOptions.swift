import ArgumentParser
import UserStore
import UserStoreText

struct CommonOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The database: a file, or postgres://host/database. Default: $USERTOOL_DB, else users.db in $XDG_DATA_HOME/usertool.",
      valueName: "path"),
    completion: .file())
  var db: String?

  @Option(help: "The output format. Default: table on a terminal; otherwise plain, and jsonl for updates.")
  var format: OutputFormat?

  @Option(help: "When to use colors; auto respects NO_COLOR and CLICOLOR_FORCE.")
  var color: ColorChoice = .auto

  @Option(help: ArgumentHelp("How long to wait for another writer: 500ms, 5s, 1m.", valueName: "time"))
  var busyTimeout = Timespan(argument: "5s")!

  @Flag(name: [.short, .long], help: "Suppress messages other than errors, and the updates of writing commands.")
  var quiet = false
}

extension CommonOptions {
  /// The options that may also precede the command, and whether each takes a value.
  static let names: [String: Bool] = [
    "--db": true, "--format": true, "--color": true, "--busy-timeout": true, "--quiet": false, "-q": false,
  ]

  var style: Style { Style(color, isTerminal: System.isTerminal(1)) }

  var recordFormat: OutputFormat { format ?? (System.isTerminal(1) ? .table : .plain) }

  var streamFormat: OutputFormat { format ?? (System.isTerminal(1) ? .table : .jsonl) }

  /// The format of a list that is followed: a table needs a terminal on which the cursor can be moved.
  var liveFormat: OutputFormat { format ?? (Self.canDrawFrames ? .table : .jsonl) }

  static var canDrawFrames: Bool { System.isTerminal(1) && System.environment("TERM").map { $0 != "dumb" } ?? false }

  func note(_ line: String) {
    if !quiet, Signals.shared.status != .brokenPipe { Messages.shared.writeLine(line) }
  }

  // MARK: The database

  /// The database; throws when neither the options nor the environment specify it.
  var database: DatabaseAddress {
    get throws(Failure) {
      if let text = db ?? System.environment("USERTOOL_DB") {
        if text.isEmpty { throw Failure(.usage, "--db must not be empty") }
        guard let db else { return DatabaseAddress(text) }
        do throws(TextError) { return try DatabaseAddress(argument: db) } catch { throw Failure(error) }
      }
      if let folder = System.environment("XDG_DATA_HOME"), folder.hasPrefix("/") {
        return .file(folder + "/usertool/users.db")
      }
      guard let home = System.environment("HOME") else {
        throw Failure(.usage, "cannot find the database: HOME is not set", hint: "specify the database with --db")
      }
      return .file(home + "/.local/share/usertool/users.db")
    }
  }

  var isMissing: Bool {
    get throws {
      switch try database {
      case .file(let path): return System.isMissingOrEmpty(path)
      case .postgres:
        do {
          try withStore(.readOnly) { _ in }
          return false
        } catch let error as Failure where error.code == .notFound { return true }
      }
    }
  }

  /// Whether the database does not exist, so that a dry run needs none; throws if it could not be created either.
  var needsCreation: Bool {
    get throws {
      guard try isMissing else { return false }
      let database = try database
      do throws(StoreError) { if case .file(let path) = database { try DatabasePath.checkCreation(of: path) } } catch {
        throw Failure(error, opening: database)
      }
      return true
    }
  }

  /// The checked path of a file to write, which must not belong to the database.
  ///
  /// A pipe or a device is refused unless `acceptsStreams`.
  func writable(_ file: String, acceptsStreams: Bool = false) throws(Failure) -> WritablePath {
    let databaseFile = try databaseFile
    do throws(StoreError) {
      let target = try WritablePath(file, besides: databaseFile)
      if !acceptsStreams { _ = try target.file }
      return target
    } catch {
      throw Failure(error, hint: "choose another file")
    }
  }

  /// Throws if a file to read belongs to the database: closing the file would drop the database's locks.
  func requireOther(_ file: String) throws(Failure) {
    guard let owner = WritablePath.owner(of: file, besides: try databaseFile) else { return }
    throw Failure(.badData, "\(file) \(owner)", hint: "choose another file")
  }

  private var databaseFile: String? {
    get throws(Failure) { if case .file(let path) = try database { path } else { nil } }
  }

  /// Opens the database, and reports a file that this creates, since its path may be mistyped.
  ///
  /// Only a watching store follows other processes, because that takes a thread.
  func open(_ access: Configuration.Access, isWatching: Bool = false) throws -> UserStore {
    var configuration = Configuration()
    configuration.access = access
    configuration.busyTimeout = busyTimeout.duration
    configuration.watchesOtherProcesses = isWatching
    if isWatching { configuration.onListenerError = Self.report }
    let database = try database
    do {
      switch database {
      case .file(let path):
        let isNew = access == .createIfMissing && System.isMissingOrEmpty(path)
        let store = try OpenStores.shared.open { try UserStore(path: path, configuration: configuration) }
        if isNew { note("created \(database)") }
        return store
      case .postgres(let url):
        return try OpenStores.shared.openOnServer { try ServerEngine.required().open(url, configuration) }
      }
    } catch let error as StoreError { throw Failure(error, opening: database) }
  }

  /// Reports why a followed list cannot be read, unless another file has replaced the database: then the list continues from that
  /// file.
  @Sendable private static func report(_ listener: String?, _ error: any Error) {
    guard let error = error as? StoreError, ![.moved, .replaced].contains(error.code) else { return }
    Messages.shared.report(Failure(error))
  }

  /// Opens the database, passes it to `body`, and closes it, so that every commit is in the database file itself.
  func withStore<Result>(_ access: Configuration.Access, _ body: (UserStore) throws -> Result) throws -> Result {
    let store = try open(access)
    defer { store.close() }
    do { return try body(store) } catch let error as StoreError {
      throw Failure(error, in: try database)
    }
  }

  func read<Result>(_ body: (inout ReadTransaction) throws -> Result) throws -> Result {
    try withStore(.readOnly) { try $0.read(body) }
  }
}
