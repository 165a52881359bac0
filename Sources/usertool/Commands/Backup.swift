import ArgumentParser
import UserStore

/// `usertool backup`.
struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy the database into a file, while others go on writing.",
    usage: "usertool backup <file> [<options>]",
    discussion: """
      Examples:
        usertool backup users-$(date +%F).db
        usertool backup /media/stick/users.db --force
        usertool list --db users-2026-11-21.db       # a backup is a database

      The backup is one file that only you may read. It is checked before it gets its name, as usertool check would: \
      what lies there is always whole. Where check finds problems there is no backup, unless --ignore-problems is given; \
      where it finds damaged pages there is none at all. usertool restore brings it back.
      """)

  @Argument(help: "The new file; its folder must be there.", completion: .file())
  var file: String

  @Flag(help: "Replace a file that is there.")
  var force = false

  @Flag(help: "Back up a database in which check finds problems.")
  var ignoreProblems = false

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func validate() throws {
    if file == "-" { throw ValidationError("a backup is written to a file, not to standard output") }
  }

  func run() throws {
    let cursor = try common.withStore(.readOnly) { store in
      writing.isDryRun ? try preview(store) : try backup(store)
    }
    let what = writing.isDryRun ? "dry run: would back up" : "backed up"
    common.note("\(what) \(try common.path.shown) to \(file.shown), as of revision \(cursor.revision)")
  }

  /// Ctrl-C ends it between two steps, so that no draft is left behind.
  private func backup(_ store: UserStore) throws -> Cursor {
    let ticker = Ticker("backing up", isQuiet: common.quiet)
    defer { ticker.end() }
    do {
      return try store.backup(to: file, replacing: force, ignoringProblems: ignoreProblems) { fraction in
        ticker.note(fraction)
        if let status = Signals.shared.status { throw Exit(status: status) }
      }
    } catch let error as StoreError {
      throw Failure(error, hint: Self.hint(for: error.code))
    }
  }

  private static func hint(for code: StoreError.Code) -> String? {
    switch code {
    case .cannotCreate: "name another file"
    case .problemsFound: "usertool check says more; --ignore-problems backs it up all the same"
    default: nil
    }
  }

  private func preview(_ store: UserStore) throws -> Cursor {
    guard force || System.isMissing(file) else {
      throw Failure(StoreError(.alreadyExists, "\(file) is there already"))
    }
    return try store.read { try $0.cursor }
  }
}
