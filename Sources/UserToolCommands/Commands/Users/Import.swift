import ArgumentParser
import UserStore
import UserStoreText

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Import users from JSON lines or CSV, all or none.",
    usage: "usertool import <file> [<options>]",
    discussion: """
      Examples:
        usertool import users.jsonl --dry-run
        usertool import users.csv
        usertool import users.csv --update               # update users by id
        usertool import people.csv --rejects bad.jsonl   # skip bad records
        usertool import kunden.csv --name-column Kunde --text PLZ --dry-run
        gunzip -c huge.jsonl.gz | usertool import - --batch 10000

      A record is a JSON object, {"name":"Zoë","hair_color":"auburn","age":41}, or a line of CSV below a header line \
      with the attribute names; usertool export --help describes how types are written. Each record adds a user with a \
      new id, unless you pass --keep-ids or --update. With --update, attributes that a record does not name keep their \
      values, and attributes that are null or empty are removed. --dry-run shows the first five users as they would be \
      stored.

      In CSV, the character between the fields is recognized, or named by the line sep=; at the start. So is the encoding: \
      that of a byte order mark, else UTF-8, or Windows-1252 if the first character beyond ASCII is not UTF-8; any \
      other is named with --encoding. If it is not UTF-8 with commas, the import says how it reads the file. White space \
      around the names of columns does not count, and Name is name. A field is a number only if the number would be \
      written in the same way: 41 and 1.5 are numbers, 01067, 1.50 and 12e5 are text. Name the columns that differ with \
      --text or --type.

      The first bad record ends the import with FILE:LINE: and the reason, and nothing is changed. Ctrl-C changes \
      nothing either. Other writers wait during the import; --batch lets them write between batches, and an error keeps \
      the batches before it. Standard input is read to its end before the first user is written.
      """)

  @Argument(help: "The file, named .jsonl or .csv; - for standard input.", completion: .file())
  var file: String

  @Flag(
    name: .customLong("keep-ids"), help: "Use the ids in the file; an id that a user already has is an error.")
  var keepIDs = false

  @Flag(help: "Update the users whose ids are in the file and add the others.")
  var update = false

  @Option(help: ArgumentHelp("Commit after every n records; each batch is one change set.", valueName: "n"))
  var batch: Int?

  @Flag(help: "Skip bad records and report them.")
  var skipBad = false

  @Option(
    help: ArgumentHelp("Skip bad records and write them, with the reasons, to this new file.", valueName: "file"),
    completion: .file())
  var rejects: String?

  @OptionGroup var csv: CSVOptions
  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func validate() throws {
    if keepIDs, update { throw ValidationError("--keep-ids and --update cannot be combined") }
    if let batch, batch < 1 { throw ValidationError("--batch must be 1 or more") }
  }

  func run() throws {
    // Rejects a format that cannot be imported before standard input is read.
    let named = try TransferFormat(common.format, path: file)
    let rejects = try rejects.map { file throws(Failure) in try Rejects.path(file, common) }
    let isSkipping = skipBad || rejects != nil
    if file != "-" { try common.requireOther(file) }
    Signals.shared.setFarewell("stopped: nothing was changed")
    let source = try Source(file, keepsReading: isSkipping)
    let records = try source.records(try format(of: source, named), csv.choices)
    if let remark = records.remark { common.note(remark.shown) }
    var run = ImportRun(
      (source.name, source.size), records, identity: keepIDs ? .kept : update ? .updating : .new,
      rejects: isSkipping ? Rejects(of: source.name, into: writing.isDryRun ? nil : rejects) : nil,
      batch: writing.isDryRun ? nil : batch, isDryRun: writing.isDryRun)
    let store = try openStore()
    defer { store.close() }
    let report = try run.write(to: store, common)
    if !common.quiet { Output.print(run.preview) }
    for note in run.notes { common.note(note.shown) }
    common.note(report)
  }

  /// The format; `named` is that of the option or of the file's name, if any.
  private func format(of source: borrowing Source, _ named: TransferFormat?) throws(Failure) -> TransferFormat {
    let start = source.start
    if csv.encoding == nil, let encoding = FileKind.utf16(start) {
      throw Failure(
        .badData, "\(source.name) is UTF-16 without a byte order mark", hint: "pass --encoding \(encoding)")
    }
    let known = named ?? TransferFormat(imported: file, start)
    if let kind = FileKind(start, known) { throw kind.failure(source.name, at: file, named) }
    guard let known else {
      throw Failure(
        .usage, "cannot tell whether \(file) is JSON lines or CSV", hint: "pass --format jsonl or --format csv")
    }
    if known == .jsonl { try csv.checkJSONLines() }
    if known == .csv, common.format == nil, FileKind.text(start).first == UInt8(ascii: "{") {
      throw Failure(.badData, "\(source.name) is JSON lines", hint: "pass --format jsonl")
    }
    return known
  }

  private func openStore() throws -> UserStore {
    // A dry run does not create a missing database.
    if writing.isDryRun, try common.needsCreation {
      return try OpenStores.shared.open { try UserStore.temporary() }
    }
    return try common.open(writing.isDryRun ? .readWrite : .createIfMissing)
  }
}
