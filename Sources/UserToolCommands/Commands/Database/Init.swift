import ArgumentParser
import UserStore
import UserStoreText

struct InitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Create the database.",
    usage: "usertool init [<options>]",
    discussion: """
      Examples:
        usertool init
        usertool --db ./users.db init

      Only you can read a new database. An existing database stays as it is, unless an older version of usertool made it, or \
      the log's triggers are missing: then its tables are updated, or a new log starts.

      A copy that the sqlite3 shell made with .dump or .clone lacks the mark of a database of users. --adopt takes it over if \
      its tables and triggers are those of usertool. Its records stay. Its log starts again, so cursors that were saved before are no longer valid.
        usertool --db copy.db init --adopt

      On a PostgreSQL server, your role owns the database's schema userstore. Programs should not be its owner, who can change the
      log: give their roles rights.
        usertool --db postgres://host/database init --writer app --reader reports
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  @Flag(help: "Take over a copy that lacks the mark of a database of users.")
  var adopt = false

  @Option(
    name: .customLong("reader"),
    help: ArgumentHelp("Let a role of the server read. Can be repeated.", valueName: "role"))
  var readers: [String] = []

  @Option(
    name: .customLong("writer"),
    help: ArgumentHelp("Let a role of the server read and write. Can be repeated.", valueName: "role"))
  var writers: [String] = []

  func run() throws {
    try checkRoles()
    if adopt { return try takeOver() }
    let name = try common.database.description
    let isNew = try writing.isDryRun ? common.needsCreation : common.isMissing
    if writing.isDryRun {
      let opening = try isNew ? nil : effectOfOpening(would: true)
      common.note(isNew ? "dry run: would create \(name)" : opening ?? "unchanged: \(name) already exists")
      for (role, rights) in roles { common.note("dry run: would let \(role.shown) \(rights)") }
      return
    }
    let opening = try isNew ? nil : effectOfOpening(would: false)
    try common.withStore(.createIfMissing) { _ in }
    if !isNew {
      common.note(opening ?? "unchanged: \(name) already exists")
    } else if case .postgres = try common.database {
      common.note("created \(name)")
    }
    try allow()
  }

  /// The effect of opening the existing database for writing; nil if there is none.
  private func effectOfOpening(would: Bool) throws -> String? {
    let database = try common.database
    let name = database.description
    // A file with several names cannot be opened for writing, and opening it for reading leaves a file beside it.
    if !would, case .file(let path) = database, let count = try? Files.linkCount(of: path), count > 1 { return nil }
    do {
      try common.withStore(.readOnly) { _ in }
      return nil
    } catch let failure as Failure {
      switch failure.code {
      case .logIncomplete:
        let done = would ? "dry run: would repair" : "repaired"
        return "\(done) the log of \(name): a new log starts, and saved cursors diverge"
      case .schemaTooOld where !failure.hasHintOfStore:
        return (would ? "dry run: would update" : "updated") + " the tables of \(name)"
      // The caller opens the database for writing, which reports the problem.
      default: if would { throw failure } else { return nil }
      }
    }
  }

  private func takeOver() throws {
    let database = try common.database
    guard case .file(let path) = database else {
      throw Failure(.usage, "--adopt takes over a file, but \(database) is on a server")
    }
    do throws(StoreError) {
      let isCopy = try UserStore.adopt(
        path: path, busyTimeout: common.busyTimeout.duration, isKept: !writing.isDryRun)
      let done = writing.isDryRun ? "dry run: would take over" : "took over"
      common.note(
        isCopy
          ? "\(done) \(database); saved cursors are not valid in it"
          : "unchanged: \(database) has the mark of a database of users")
    } catch {
      throw Failure(error, opening: database)
    }
    // Migrates a copy of an older version, and reports a file that is not a store.
    if !writing.isDryRun { try common.withStore(.readWrite) { _ in } }
  }

  private var roles: [(name: String, rights: String)] {
    readers.map { ($0, "read") } + writers.map { ($0, "read and write") }
  }

  private func checkRoles() throws {
    if roles.isEmpty { return }
    let database = try common.database
    guard case .postgres = database else {
      throw Failure(.usage, "--reader and --writer name roles of a server, but \(database) is a file")
    }
    if let role = readers.first(where: writers.contains) {
      throw Failure(.usage, "\(role.shown) is both a reader and a writer", hint: "a writer may read")
    }
  }

  private func allow() throws {
    guard !roles.isEmpty, case .postgres(let url) = try common.database else { return }
    let engine = try ServerEngine.required()
    for (role, rights) in roles {
      do throws(StoreError) {
        try engine.allow(role, writers.contains(role), url)
      } catch {
        let hint = error.code == .notFound ? "create it in psql: CREATE ROLE … LOGIN" : nil
        throw Failure(error, hint: hint ?? "only the owner of the database's schema userstore can give rights")
      }
      common.note("\(role.shown) may \(rights)")
    }
  }
}
