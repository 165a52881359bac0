import ArgumentParser
import UserStore

/// `usertool remove`.
struct RemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove",
    abstract: "Remove a user with all attributes, and print what each listener hears.",
    usage: "usertool remove <user> [<options>]",
    discussion: """
      Examples:
        usertool remove Zoë
        usertool remove 7 --yes
        usertool remove 7 --dry-run
      """)

  @Argument(help: "The id, or the name.")
  var user: UserReference

  @Flag(help: "Do not ask.")
  var yes = false

  @OptionGroup var listening: StandInOptions
  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func run() throws {
    var meant = user
    if !yes, !writing.isDryRun {
      guard System.isTerminal(0), System.isTerminal(2) else {
        throw Failure(.usage, "remove destroys a record, and there is nobody to ask", hint: "repeat it with --yes")
      }
      let found = try common.withStore(.readOnly) { store in
        try store.read { transaction in try user.resolve(in: &transaction) }
      }
      guard ask(found) else { throw Failure(.failure, "nothing was removed") }
      // The one that was asked about, whoever has the name by now.
      meant = UserReference(argument: "\(found.id)")
    }
    let telling = Telling(common: common, standIns: listening.standIns, isDryRun: writing.isDryRun)
    try telling.run(meant) { transaction, user in try transaction.remove(user.id) }
  }

  private func ask(_ user: User) -> Bool {
    Messages.shared.write("Remove user \(user.id) \"\(user.shownName)\" with all attributes? [y/N] ")
    return ["y", "yes"].contains(readLine()?.lowercased())
  }
}
