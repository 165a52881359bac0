import ArgumentParser
import UserStore

struct RemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove a user with all attributes and print each listener's updates.",
    usage: "usertool remove <user> [<options>]",
    discussion: """
      Examples:
        usertool remove Zoë
        usertool remove 7 --yes
        usertool remove 7 --dry-run
      """)

  @Argument(help: "The user's id or name.")
  var user: UserReference

  @Flag(help: "Do not ask for confirmation.")
  var yes = false

  @OptionGroup var listening: StandInOptions
  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func run() throws {
    var reference = user
    if !yes, !writing.isDryRun {
      try Confirmation.requireTerminal("remove deletes a user")
      let found = try common.read { try user.resolve(in: &$0) }
      try Confirmation.ask(
        "Remove user \(found.id) \"\(found.shownName)\" with all attributes?", otherwise: "nothing was removed")
      // By id: another user may have the name by now.
      reference = UserReference(argument: UserReference.text(of: found.id))
    }
    let write = ReportedWrite(common: common, standIns: listening.standIns, isDryRun: writing.isDryRun)
    try write.run(reference) { transaction, user in try transaction.remove(user.id) }
  }
}
