import ArgumentParser
import UserStore
import UserStoreText

struct AddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add a user and print the new id.",
    usage: "usertool add <name> [<options>]",
    discussion: """
      Examples:
        usertool add Zoë
        usertool add Zoë --hair-color auburn --set age=41 --set room:=007
      """)

  @Argument(help: "The name: 1 to 1,000 characters. Names need not be unique.")
  var name: String

  @Option(help: ArgumentHelp("The hair color: a color name or #rrggbb.", valueName: "color"))
  var hairColor: String?

  @Option(
    name: .customLong("set"),
    help: ArgumentHelp("Set a further attribute; may be repeated. k:=TEXT stores the value as text.", valueName: "k=v"))
  var assignments: [Assignment] = []

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func run() throws {
    let color = try hairColor.map(ColorText.color)
    let values = try assignments.map { (attribute: $0.attribute, value: try $0.value()) }
    var new = NewAttributes()
    if writing.isDryRun {
      try printDryRun(color, values, &new)
    } else {
      let user = try common.withStore(.createIfMissing) { store in
        try store.write(origin: "usertool") { try add(to: &$0, color, values, &new) }
      }
      if let user { printAdded(user) }
    }
    for note in new.notes { common.note(note) }
  }

  private func add(
    to transaction: inout WriteTransaction, _ color: Color?, _ values: [(attribute: AttributeName, value: StoredValue)],
    _ new: inout NewAttributes
  ) throws -> User? {
    try new.look(at: values.map(\.attribute), of: nil, in: &transaction)
    let id = try transaction.add(name: name, hairColor: color)
    for (attribute, value) in values { try transaction.set(attribute, of: id, to: value) }
    return try transaction.user(id)
  }

  /// Prints only the id in the table and plain formats, for people and shell scripts.
  private func printAdded(_ user: User) {
    let format = common.recordFormat
    let output = Output(isAfterChange: true)
    if format == .table || format == .plain {
      output.writeLine("\(user.id)")
    } else if format == .json {
      output.writeLine(user.json)
    } else {
      var printer = RecordPrinter(format, columns: nil, to: output, common.style)
      printer.print(user.record)
      printer.end()
    }
    output.flush()
  }

  private func printDryRun(
    _ color: Color?, _ values: [(attribute: AttributeName, value: StoredValue)], _ new: inout NewAttributes
  ) throws {
    // A dry run does not create a missing database.
    let store = try common.needsCreation ? UserStore.inMemory() : common.open(.readWrite)
    defer { store.close() }
    let changes = try store.write(origin: "usertool", isDryRun: true) { transaction in
      _ = try add(to: &transaction, color, values, &new)
      return try transaction.pendingChanges
    }
    var printer = StreamPrinter(common.streamFormat, to: Output(), common.style, filter: Filter(), standIns: nil)
    printer.print(changes.map { Entry($0) }, at: nil, to: nil)
    printer.end()
    common.note("dry run: nothing was changed")
  }
}
