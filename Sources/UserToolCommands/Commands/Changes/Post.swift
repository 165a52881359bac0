import ArgumentParser
import UserStore

struct PostCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "post",
    abstract: "Post an event, which is delivered in order with the changes.",
    usage: "usertool post <event> [<payload>] [--about <user>] [<options>]",
    discussion: """
      Examples:
        usertool post invited --about Zoë '{"by":2}'
        usertool post restarted

      An event changes no record: it is kept in the log, for watch, log, consumers and listeners. The payload is stored as \
      text, as it is given; mostly it is JSON.
      """)

  @Argument(help: "The name of the event.")
  var event: String

  @Argument(help: "What to keep with it.")
  var payload: String?

  @Option(help: ArgumentHelp("The user that the event is about: an id or a name.", valueName: "user"))
  var about: UserReference?

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func run() throws {
    let write = ReportedWrite(common: common, standIns: [], isDryRun: writing.isDryRun)
    let payload = payload.map { StoredValue.text($0) } ?? .null
    if let about {
      try write.run(about) { transaction, user in try transaction.post(event, payload, about: user.id) }
    } else {
      try write.run(origin: "usertool") { transaction in try transaction.post(event, payload) }
    }
  }
}
