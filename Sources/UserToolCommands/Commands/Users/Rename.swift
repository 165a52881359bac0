import ArgumentParser
import UserStore

struct RenameCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rename",
    abstract: "Rename a user and print each listener's updates.",
    usage: "usertool rename <user> <new-name> [<options>]",
    discussion: """
      Examples:
        usertool rename Zoë Zoe
        usertool rename 7 Zoe --expect Zoë
        usertool rename 7 Zoe --listener Title=name --listener Journal
      """)

  @Argument(help: "The user's id or name.")
  var user: UserReference

  @Argument(help: ArgumentHelp("The new name.", valueName: "new-name"))
  var name: String

  @Option(help: ArgumentHelp("Rename only if this is the current name; otherwise exit with 4.", valueName: "name"))
  var expect: String?

  @OptionGroup var listening: StandInOptions
  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func run() throws {
    let write = ReportedWrite(common: common, standIns: listening.standIns, isDryRun: writing.isDryRun)
    try write.run(user) { transaction, user in
      if let expect {
        try transaction.set(.name, of: user.id, to: name, expecting: expect)
      } else {
        try transaction.rename(user.id, to: name)
      }
    }
  }
}
