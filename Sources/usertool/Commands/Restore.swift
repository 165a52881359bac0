import ArgumentParser
import UserStore

/// `usertool restore`.
struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Put the records and the log of a backup in the place of those that there are.",
    usage: "usertool restore <file> [<options>]",
    discussion: """
      Examples:
        usertool restore users-2026-11-21.db
        usertool restore users-2026-11-21.db --dry-run
        usertool restore users-2026-11-21.db --yes

      Others may have the database open: they see the old records or the restored ones, and watch says \
      "reset: diverged". Saved cursors do not go on. Back up what there is first: usertool backup before.db

      The file is checked first, as usertool check would. Where check finds problems nothing is restored, unless \
      --ignore-problems is given; where it finds damage that a database cannot live with, nothing at all.
      """)

  @Argument(help: "The backup, or any other database of usertool; its records stay as they are.", completion: .file())
  var file: String

  @Flag(help: "Do not ask.")
  var yes = false

  @Flag(help: "Restore a file in which check finds problems.")
  var ignoreProblems = false

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func run() throws {
    if writing.isDryRun { return try preview() }
    let path = try common.path
    // Where there is no database yet, none is left behind for a file that cannot be restored.
    if System.isMissingOrEmpty(path) { _ = try tried() } else if !yes { try ask() }
    let found = try common.withStore(.createIfMissing) { store in
      try restore(into: store)
      return try Self.contents(of: store)
    }
    common.note("restored \(path.shown) from \(file.shown): \(found); saved cursors do not go on")
  }

  private func ask() throws {
    guard System.isTerminal(0), System.isTerminal(2) else {
      throw Failure(.usage, "restore replaces all records, and there is nobody to ask", hint: "repeat it with --yes")
    }
    let present = try common.withStore(.readOnly) { try Self.contents(of: $0) }
    Messages.shared.write("Replace the \(present) of \(try common.path.shown)? [y/N] ")
    guard ["y", "yes"].contains(readLine()?.lowercased()) else { throw Failure(.failure, "nothing was restored") }
  }

  private func preview() throws {
    let found = try tried()
    common.note("dry run: would restore \(try common.path.shown) from \(file.shown): \(found)")
  }

  /// Restores it into a store that goes at once: what cannot be restored is said as it would be.
  private func tried() throws -> String {
    let store = try OpenStores.shared.open { try UserStore.temporary() }
    defer { store.close() }
    try restore(into: store)
    return try Self.contents(of: store)
  }

  private func restore(into store: UserStore) throws(Failure) {
    let ticker = Ticker("restoring", isQuiet: common.quiet)
    defer { ticker.end() }
    do { try store.restore(from: file, ignoringProblems: ignoreProblems, progress: ticker.note) } catch {
      throw Failure(error, hint: Self.hint(for: error.code))
    }
  }

  private static func contents(of store: UserStore) throws -> String {
    try store.read { transaction in
      let count = try transaction.userCount
      return "\(count) user\(count == 1 ? "" : "s") as of revision \(try transaction.cursor.revision)"
    }
  }

  private static func hint(for code: StoreError.Code) -> String? {
    switch code {
    case .notFound, .cannotOpen, .notADatabase, .notAUserStore, .schemaChanged: "nothing was changed; name a backup"
    case .corrupt: "nothing was changed; usertool check --db FILE says more"
    case .problemsFound:
      "nothing was changed; usertool check --db FILE says more; --ignore-problems restores it all the same"
    default: nil
    }
  }
}
