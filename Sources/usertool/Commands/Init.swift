import ArgumentParser
import UserStore

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

      Only you may read a new database. One that is there already is checked, and left as it is.
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func run() throws {
    let path = try common.path
    let isNew = System.isMissingOrEmpty(path)
    if writing.isDryRun {
      if !isNew { try common.withStore(.readOnly) { _ in } }
      return common.note(isNew ? "dry run: would create \(path.shown)" : "unchanged: \(path.shown) is there already")
    }
    try common.withStore(.createIfMissing) { _ in }
    common.note((isNew ? "created " : "unchanged: ") + path.shown + (isNew ? "" : " is there already"))
  }
}

/// What every writing command takes.
struct WritingOptions: ParsableArguments {
  @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Show what would be changed, and change nothing.")
  var isDryRun = false
}
