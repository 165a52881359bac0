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
    let name = try common.database.description
    let isNew = try common.isMissing
    if writing.isDryRun {
      if !isNew { try common.withStore(.readOnly) { _ in } }
      return common.note(isNew ? "dry run: would create \(name)" : "unchanged: \(name) already exists")
    }
    try common.withStore(.createIfMissing) { _ in }
    common.note(isNew ? "created \(name)" : "unchanged: \(name) already exists")
  }
}

/// The options of every writing command.
struct WritingOptions: ParsableArguments {
  @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Show what would change, without changing anything.")
  var isDryRun = false
}
