import ArgumentParser
import UserStore

/// `usertool import`.
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
        zcat huge.jsonl.gz | usertool import - --batch 10000

      A record is a JSON object, {"name":"Zoë","hair_color":"auburn","age":41}, or a line of CSV below a header line \
      with the attribute names; usertool export --help describes how types are written. Each record adds a user with a \
      new id, unless you pass --keep-ids or --update. With --update, attributes that a record does not name keep their \
      values, and attributes that are null or empty are removed.

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

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func validate() throws {
    if keepIDs, update { throw ValidationError("--keep-ids and --update cannot be combined") }
    if let batch, batch < 1 { throw ValidationError("--batch must be 1 or more") }
  }

  func run() throws {
    guard let format = try TransferFormat(common.format, path: file) ?? (file == "-" ? .jsonl : nil) else {
      throw Failure(
        .usage, "cannot tell whether \(file) is JSON lines or CSV", hint: "pass --format jsonl or --format csv")
    }
    let rejects = try rejects.map { file throws(Failure) in try Rejects.path(file, common) }
    let isSkipping = skipBad || rejects != nil
    if file != "-" { try common.requireOther(file) }
    let source = try Source(file, keepsReading: isSkipping)
    let identity: Importer.Identity = keepIDs ? .kept : update ? .updating : .new
    var run = ImportRun(
      importer: Importer(
        name: source.name, identity: identity, records: try source.records(format),
        rejects: isSkipping ? Rejects(of: source.name, into: writing.isDryRun ? nil : rejects) : nil),
      size: source.size, batch: writing.isDryRun ? nil : batch, isDryRun: writing.isDryRun)
    let store = try openStore()
    defer { store.close() }
    let report = try run.write(to: store, isQuiet: common.quiet)
    common.note(report)
  }

  private func openStore() throws -> UserStore {
    // A dry run does not create a missing database.
    if writing.isDryRun, try common.needsCreation {
      return try OpenStores.shared.open { try UserStore.temporary() }
    }
    return try common.open(writing.isDryRun ? .readWrite : .createIfMissing)
  }
}
