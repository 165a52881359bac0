import ArgumentParser
import UserStore
import UserStoreText

/// `usertool init`.
struct InitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Create the database.",
    usage: "usertool init [<options>]",
    discussion: """
      Examples:
        usertool init
        usertool --db ./users.db init

      Only you can read a new database. An existing database is checked and left unchanged.
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func run() throws {
    let path = try common.path
    let isNew = System.isMissingOrEmpty(path)
    if writing.isDryRun {
      if !isNew { try common.withStore(.readOnly) { _ in } }
      return common.note(isNew ? "dry run: would create \(path.shown)" : "unchanged: \(path.shown) already exists")
    }
    try common.withStore(.createIfMissing) { _ in }
    common.note(isNew ? "created \(path.shown)" : "unchanged: \(path.shown) already exists")
  }
}

/// The options of every writing command.
struct WritingOptions: ParsableArguments {
  @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Show what would change, without changing anything.")
  var isDryRun = false
}
