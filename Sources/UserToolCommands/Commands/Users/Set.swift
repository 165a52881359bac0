import ArgumentParser
import UserStore
import UserStoreText

struct SetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Set attributes in one write and print each listener's updates.",
    usage: "usertool set <user> <k=v> ... [<options>]",
    discussion: """
      Examples:
        usertool set Zoë hair_color=#ff8800 age=41
        usertool set 7 room:=007 --unset age
        usertool set 7 'photo={"base64":"iVBORw0="}'

      A value that reads as a JSON number, true or false is stored as a number; k:=TEXT stores text. Setting an \
      attribute that no user has creates it, and a line on standard error says so; usertool undo reverts a mistyped \
      one. Changes that no listener receives are printed too, in JSON with a null listener.
      """)

  @Argument(help: "The user's id or name.")
  var user: UserReference

  @Argument(help: ArgumentHelp("The attributes and their new values.", valueName: "k=v"))
  var assignments: [Assignment] = []

  @Option(
    help: ArgumentHelp("Remove this attribute; may be repeated.", valueName: "attribute"))
  var unset: [AttributeName] = []

  @OptionGroup var listening: StandInOptions
  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func validate() throws {
    if assignments.isEmpty, unset.isEmpty { throw ValidationError("nothing to set: pass k=v or --unset k") }
  }

  func run() throws {
    let values = try assignments.map { (attribute: $0.attribute, value: try $0.value()) }
    let names = values.map(\.attribute) + unset
    if let twice = names.first(where: { name in names.count { $0 == name } > 1 }) {
      throw Failure(.usage, "\"\(twice)\" is given twice")
    }
    let write = ReportedWrite(common: common, standIns: listening.standIns, isDryRun: writing.isDryRun)
    var new = NewAttributes()
    try write.run(user) { transaction, user in
      try new.look(at: values.filter { !$0.value.isNull }.map(\.attribute), of: user.id, in: &transaction)
      for (attribute, value) in values { try transaction.set(attribute, of: user.id, to: value) }
      for attribute in unset { try unset(attribute, of: user, in: &transaction) }
    }
    for note in new.notes { common.note(note) }
  }

  private func unset(_ attribute: AttributeName, of user: User, in transaction: inout WriteTransaction) throws {
    if try transaction.update(attribute, of: user.id, to: .null) { return }
    let question = Suggestion.question(for: attribute, among: user.storedValues.keys.sorted().filter { $0 != .name })
    if !question.isEmpty {
      throw Failure(.notFound, "user \(user.id) has no \"\(attribute)\"" + question, hint: "nothing was changed")
    }
  }
}
