import ArgumentParser
import UserStore
import UserStoreText

struct ExportCommand: ParsableCommand, QueryCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Export users as JSON lines or CSV.",
    usage: "usertool export [<file>] [<options>]",
    discussion: """
      Examples:
        usertool export users.jsonl
        usertool export users.csv --where 'age>=18'
        usertool export | jq .name
        usertool export --format csv > users.csv

      An export is a snapshot of the database, even while others write. A file gets its name when it is complete, and \
      only you can read it; a file that the shell makes (>) keeps a part if the export fails. Output to a pipe is first collected in a temporary file ($TMPDIR, else /var/tmp), so that a \
      slow reader does not keep a read of the database open.

      usertool import reads both formats back and preserves every value, also those of other programs that usertool \
      itself would refuse. In CSV, a field that is written as a number is one, := before a text marks it as text (:=41), \
      and an empty field is not set. Bytes are {"base64":"…"}; text that is not valid UTF-8 is {"text_base64":"…"}, as is, \
      in JSON, a name or a color that usertool would refuse. := before the name of an attribute marks it as exact. An export \
      fails if such a name is not valid UTF-8.

      --where, --with and --without select users as in usertool list.
      """)

  @Argument(help: "The file to create; standard output if omitted.", completion: .file())
  var file: String?

  @Flag(help: "Replace an existing file.")
  var force = false

  @OptionGroup var conditions: UserConditions
  @OptionGroup var common: CommonOptions

  func run() throws {
    let selection = try UserSelection(conditions)
    let destination = try destination
    let format = try TransferFormat(common.format, exportingTo: file)
    for contradiction in selection.contradictions { common.note("note: " + contradiction) }
    if destination.hasDraft { Signals.shared.takeOver {} }
    var count = 0
    try common.withStore(.readOnly) { store in
      try destination.write { writer in
        count = try store.read { try export(from: &$0, format, to: &writer, selection, destination.isTerminal) }
      }
    }
    if let file { common.note("exported \(count) user\(count == 1 ? "" : "s") to \(file.shown)") }
  }

  var doubts: [TextError] {
    get throws(TextError) { try UserSelection(conditions).doubts }
  }

  private var destination: Destination {
    get throws(Failure) {
      guard let file, file != "-" else { return .standardOutput }
      let target = try common.writable(file, acceptsStreams: true)
      if target.content == .file, !force { throw System.alreadyExists(file) }
      return .file(target, replacing: force)
    }
  }

  /// Throws for an attribute name that is not valid UTF-8: an import would read another name, and replace that attribute.
  private static func check(_ names: [AttributeName], in transaction: inout ReadTransaction) throws {
    for name in names where name.text.unicodeScalars.contains("\u{FFFD}") {
      // Such a name is read with U+FFFD, which valid names can contain too.
      if try transaction.hasAttribute(name), names.count(where: { $0 == name }) == 1 { continue }
      throw Failure(
        .badData, "an export cannot bring back the attribute \"\(name)\", whose name is not valid UTF-8",
        hint: "usertool check lists the users that have it; rename it in sqlite3, or use usertool backup")
    }
  }

  private func export(
    from transaction: inout ReadTransaction, _ format: TransferFormat, to writer: inout FileWriter,
    _ selection: UserSelection, _ isTerminal: Bool
  ) throws -> Int {
    try selection.check(in: &transaction)
    let attributes = try transaction.attributeNames
    try Self.check(attributes, in: &transaction)
    let encoder = UserEncoder(format: format, attributes: attributes, isTerminal: isTerminal)
    // With a condition, the number of users is unknown.
    let total = selection.condition == .always ? try transaction.count() : nil
    var count = 0
    try writer.write(encoder.header)
    try common.showProgress("exported", countsUsers: true) { progress in
      try transaction.forEachUser(matching: Query(where: selection.condition)) { user in
        try Signals.shared.check()
        progress.note(total.map { Double(count) / Double($0) }, users: count)
        try writer.write(encoder.line(user))
        count += 1
      }
    }
    return count
  }
}
