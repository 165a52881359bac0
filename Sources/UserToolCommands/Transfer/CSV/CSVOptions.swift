import ArgumentParser
import UserStore
import UserStoreText

/// The options for reading a file; all but the encoding are for CSV.
struct CSVOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The encoding, as iconv names it. Default: that of a byte order mark, else UTF-8, or Windows-1252 in CSV.",
      valueName: "name"))
  var encoding: String?

  @Option(
    help: ArgumentHelp(
      "The character between the fields of CSV, or tab. Default: the one that fits the first lines.",
      valueName: "character"))
  var delimiter: CSVDelimiter?

  @Option(help: ArgumentHelp("The column of CSV that has the names.", valueName: "column"))
  var nameColumn: String?

  @Option(help: ArgumentHelp("Store a column of CSV as text, whatever it looks like.", valueName: "column"))
  var text: [String] = []

  @Option(
    help: ArgumentHelp(
      "Store a column of CSV as text, integer, real, boolean, or decimal-comma (1.234,5).", valueName: "column=type"))
  var type: [ColumnAssignment] = []

  @Option(help: ArgumentHelp("Store a column of CSV as another attribute.", valueName: "old=new"))
  var rename: [ColumnAssignment] = []

  func validate() throws {
    for type in type where CSVType(rawValue: type.value) == nil {
      let types = CSVType.allCases.map(\.rawValue)
      throw ValidationError(
        "--type: \"\(type.value)\" is not a type" + Suggestion.question(for: type.value, among: types) + "; a type is "
          + types.dropLast().joined(separator: ", ") + " or \(types[types.count - 1])")
    }
  }

  /// Throws for the first option that does not apply to JSON lines.
  func checkJSONLines() throws(Failure) {
    let given = [
      ("--delimiter", delimiter != nil), ("--name-column", nameColumn != nil), ("--text", !text.isEmpty),
      ("--type", !type.isEmpty), ("--rename", !rename.isEmpty),
    ]
    guard let option = given.first(where: \.1)?.0 else { return }
    throw Failure(
      .usage, "\(option) is for CSV, but the file is read as JSON lines", hint: "pass --format csv if it is CSV")
  }

  var choices: CSVChoices { CSVChoices(encoding: encoding, delimiter: delimiter, columns: columns) }

  private var columns: [(title: String, use: CSVChoices.ColumnUse)] {
    (nameColumn.map { [($0, .name(.name))] } ?? []) + rename.map { ($0.column, .name(AttributeName(typed: $0.value))) }
      + text.map { ($0, .type(.text)) } + type.map { ($0.column, .type(CSVType(rawValue: $0.value) ?? .text)) }
  }
}

struct CSVChoices {
  enum ColumnUse {
    case name(AttributeName)
    case type(CSVType)
  }

  var encoding: String?
  var delimiter: CSVDelimiter?
  /// The columns that the user has named, by their titles in the header line.
  var columns: [(title: String, use: ColumnUse)] = []
}
