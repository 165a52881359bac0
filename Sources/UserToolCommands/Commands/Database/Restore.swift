import ArgumentParser
import UserStore
import UserStoreText

struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Replace all records and the log with those of a backup.",
    usage: "usertool restore <file> [<options>]",
    discussion: """
      Examples:
        usertool restore users-2026-11-21.db
        usertool restore users-2026-11-21.db --dry-run
        usertool restore users-2026-11-21.db --yes

      Other programs may have the database open: they see the old records or the restored ones, and watch prints \
      "reset: diverged". Saved cursors become invalid. To keep the current records, back them up first: \
      usertool backup before.db

      The file is checked first, as by usertool check. If the check finds problems, nothing is restored unless you pass \
      --ignore-problems; if it finds damage that makes the database unusable, nothing is restored at all.
      """)

  @Argument(help: "The backup, or another usertool database; its records stay unchanged.", completion: .file())
  var file: String

  @Flag(help: "Do not ask for confirmation.")
  var yes = false

  @Flag(help: "Restore the file even if check finds problems.")
  var ignoreProblems = false

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func run() throws {
    if case .postgres = try common.database {
      throw Failure(
        .failure, "a database on a server is restored with pg_restore", hint: "usertool import adds records")
    }
    if writing.isDryRun { return try preview() }
    let name = try common.database.description
    // A restore that fails must not leave a new, empty database behind.
    if try common.isMissing { _ = try tryRestoring() } else if !yes { try ask() }
    let found = try common.withStore(.createIfMissing) { store in
      try restore(into: store)
      return try Self.contents(of: store)
    }
    common.note("restored \(name) from \(file.shown): \(found); saved cursors are no longer valid")
  }

  private func ask() throws {
    try Confirmation.requireTerminal("restore replaces all records")
    let current = try common.withStore(.readOnly) { try Self.contents(of: $0) }
    try Confirmation.ask("Replace \(try common.database) (\(current))?", otherwise: "nothing was restored")
  }

  private func preview() throws {
    if try !common.needsCreation { try common.withStore(.readWrite) { _ in } }
    let found = try tryRestoring()
    common.note("dry run: would restore \(try common.database) from \(file.shown): \(found)")
  }

  /// Restores into a temporary store, which fails as the real restore would.
  private func tryRestoring() throws -> String {
    let store = try OpenStores.shared.open { try UserStore.temporary() }
    defer { store.close() }
    try restore(into: store)
    return try Self.contents(of: store)
  }

  private func restore(into store: UserStore) throws {
    try common.showProgress("restoring") { progress in
      do throws(StoreError) {
        try store.restore(from: file, ignoringProblems: ignoreProblems) { progress.note($0) }
      } catch {
        throw Failure(error, hint: hint(for: error.code))
      }
    }
  }

  private static func contents(of store: UserStore) throws -> String {
    try store.read { transaction in
      let count = try transaction.count()
      return "\(count) user\(count == 1 ? "" : "s") as of revision \(try transaction.cursor.revision)"
    }
  }

  private func hint(for code: StoreError.Code) -> String? {
    let option = "--db " + file.shellWord()
    return switch code {
    case .notFound, .cannotOpen, .notADatabase, .notAUserStore, .schemaChanged: "nothing was changed; choose a backup"
    case .needsAdoption: "nothing was changed; take the file over with usertool init --adopt \(option)"
    case .corrupt: "nothing was changed; usertool check \(option) lists the damage"
    case .problemsFound:
      "nothing was changed; usertool check \(option) lists the problems; --ignore-problems restores anyway"
    default: nil
    }
  }
}
