import ArgumentParser
import UserStore
import UserStoreText

struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Back up the database to a file without blocking writers.",
    usage: "usertool backup <file> [<options>]",
    discussion: """
      Examples:
        usertool backup users-$(date +%F).db
        usertool backup /media/stick/users.db --force
        usertool list --db users-2026-11-21.db       # a backup is a database

      The backup is a single file that only you can read. It is checked, as by usertool check, before it gets its name, \
      so a backup is always complete. If the check finds problems, no backup is created unless you pass \
      --ignore-problems; if it finds damaged pages, no backup is created at all. usertool restore restores a backup.
      """)

  @Argument(help: "The file to create, in an existing folder.", completion: .file())
  var file: String

  @Flag(help: "Replace an existing file.")
  var force = false

  @Flag(help: "Back up the database even if check finds problems.")
  var ignoreProblems = false

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func validate() throws {
    if file == "-" { throw ValidationError("a backup must be written to a file, not to standard output") }
  }

  func run() throws {
    let cursor = try common.withStore(.readOnly) { store in
      writing.isDryRun ? try preview(store) : try backup(store)
    }
    let what = writing.isDryRun ? "dry run: would back up" : "backed up"
    common.note("\(what) \(try common.database) to \(file.shown), as of revision \(cursor.revision)")
  }

  /// Ctrl-C stops it between two steps, so that no draft is left behind.
  private func backup(_ store: UserStore) throws -> Cursor {
    do {
      return try common.showProgress("backing up") { progress in
        try store.backup(to: file, replacing: force, ignoringProblems: ignoreProblems) { fraction in
          progress.note(fraction)
          try Signals.shared.check()
        }
      }
    } catch let error as StoreError {
      throw Failure(error, hint: Self.hint(for: error.code))
    }
  }

  private static func hint(for code: StoreError.Code) -> String? {
    switch code {
    case .cannotCreate: "choose another file"
    case .problemsFound: "usertool check lists the problems; --ignore-problems backs up anyway"
    default: nil
    }
  }

  private func preview(_ store: UserStore) throws -> Cursor {
    let target = try common.writable(file)
    try DatabasePath.checkLength(of: target.path, .cannotCreate)
    guard force || target.content == .nothing else {
      throw Failure(StoreError(.alreadyExists, "\(file) already exists"))
    }
    return try store.read { try $0.cursor }
  }
}
