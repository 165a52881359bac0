import ArgumentParser
import UserStore
import UserStoreText

struct GetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Print a user or a single value.",
    usage: "usertool get <user> [<attribute>] [<options>]",
    discussion: """
      Examples:
        usertool get Zoë
        usertool get 7 hair-color
        usertool get 7 --format json

      On a terminal, a record that is too wide is printed with one line per field. In a pipe, a single value is printed \
      byte for byte.
      """)

  @Argument(help: "The user's id or name.")
  var user: UserReference

  @Argument(help: "Print only the value of this attribute.")
  var attribute: AttributeName?

  @OptionGroup var common: CommonOptions

  func run() throws {
    let user = try common.read { try resolve(in: &$0) }
    let output = Output()
    if let attribute {
      try printValue(of: attribute, user, to: output)
    } else if common.recordFormat == .json {
      output.writeLine(user.json)
    } else {
      let fit = System.columns(of: System.standardOutput).map { RecordTable.Fit.turned(at: $0) }
      var printer = RecordPrinter(common.recordFormat, columns: nil, to: output, common.style, fit: fit ?? .none)
      printer.print(user.record, plain: user.plainRecord)
      printer.end()
    }
    output.flush()
  }

  private func resolve(in transaction: inout ReadTransaction) throws -> User {
    do { return try user.resolve(in: &transaction) } catch var failure as Failure {
      // The attribute may be the rest of a name that the shell has split at a space.
      if failure.status == .notFound, user.id == nil, let attribute {
        let name = UserReference(argument: user.text + " " + attribute.text)
        let isName = try !transaction.ids(named: name.name).isEmpty
        let line = isName ? CommandWords.current : nil
        if let correction = line.flatMap(Correction.joinedName) { failure.hint = correction.text }
      }
      throw failure
    }
  }

  private func printValue(of attribute: AttributeName, _ user: User, to output: Output) throws {
    guard let value = attribute == "id" ? .integer(user.id.rawValue) : user[stored: attribute] else {
      throw Failure(
        .notFound,
        "user \(user.id) has no \"\(attribute)\"" + Suggestion.question(for: attribute, among: known(user)),
        hint: "usertool get \(UserReference.text(of: user.id)) shows all attributes")
    }
    if value.isInvalid {
      throw Failure(
        .badData, "the \(attribute) of user \(user.id) is not valid UTF-8: another program stored it",
        hint: "usertool get \(UserReference.text(of: user.id)) shows it with the invalid bytes escaped")
    }
    if attribute == .hairColor { _ = try user.hairColor }
    switch common.recordFormat {
    // A program that reads a pipe needs the exact value; only a terminal acts on control characters.
    case .table, .plain: output.writeLine(System.isTerminal(1) ? value.shown : value.bare)
    case .json, .jsonl: output.writeLine(value.json)
    case .csv:
      let record = Record(fields: [(attribute.text, value)])
      var printer = RecordPrinter(.csv, columns: [attribute.text], to: output, common.style)
      printer.print(record)
    }
  }

  private func known(_ user: User) -> [AttributeName] {
    // Built-in attributes that are not set are not suggested.
    user.storedValues.keys.sorted() + AttributeName.builtIn.filter { $0 != attribute && user[stored: $0] == nil }
  }
}
