import ArgumentParser
import UserStore

/// `usertool import`.
struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Add users from JSON lines or CSV: all of them or none.",
    usage: "usertool import <file> [<options>]",
    discussion: """
      Examples:
        usertool import users.jsonl --dry-run
        usertool import users.csv
        usertool import users.csv --update               # changes users by their id
        usertool import people.csv --rejects bad.jsonl   # leaves bad records out
        zcat huge.jsonl.gz | usertool import - --batch 10000

      A record is a JSON object, {"name":"Zoë","hair_color":"auburn","age":41}, or a line of CSV under a line with the \
      names of the attributes; usertool export --help tells how types are written. Every record is a new user with a \
      new id, unless --keep-ids or --update is given. With --update, attributes that a record does not name are left \
      alone, and those that are null or empty are taken away.

      The first record that cannot be taken ends the import, as FILE:LINE: and the reason, and nothing is changed; nor \
      is it by Ctrl-C. Other writers wait meanwhile: --batch lets them in between, and keeps the batches before an \
      error. Standard input is read to its end before the first user is written.
      """)

  @Argument(help: "The file, by its name .jsonl or .csv; - for standard input.", completion: .file())
  var file: String

  @Flag(
    name: .customLong("keep-ids"), help: "Give the users the ids that the file says; one that is taken is an error.")
  var keepIDs = false

  @Flag(help: "Change the users whose ids the file says, and add the others.")
  var update = false

  @Option(help: ArgumentHelp("Commit after every n records; each batch is a change set.", valueName: "n"))
  var batch: Int?

  @Flag(help: "Leave out records that cannot be taken, and tell them.")
  var skipBad = false

  @Option(
    help: ArgumentHelp("Leave them out, and write them to this new file with the reasons.", valueName: "file"),
    completion: .file())
  var rejects: String?

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func validate() throws {
    if keepIDs, update { throw ValidationError("--keep-ids adds users and --update changes them: give one") }
    if let batch, batch < 1 { throw ValidationError("--batch is a number from 1") }
  }

  func run() throws {
    guard let format = try TransferFormat(common.format, path: file) ?? (file == "-" ? .jsonl : nil) else {
      throw Failure(.usage, "\(file): is it JSON lines or CSV?", hint: "say it with --format jsonl or --format csv")
    }
    let isSkipping = skipBad || rejects != nil
    let source = try Source(file, keepsReading: isSkipping)
    let identity: Importer.Identity = keepIDs ? .kept : update ? .updating : .new
    var run = ImportRun(
      importer: Importer(
        name: source.name, identity: identity, records: try source.records(format),
        rejects: isSkipping ? try Rejects(of: source.name, into: writing.isDryRun ? nil : rejects) : nil),
      size: source.size, batch: writing.isDryRun ? nil : batch, isDryRun: writing.isDryRun)
    let store = try openStore()
    defer { store.close() }
    let report = try run.write(to: store, isQuiet: common.quiet)
    common.note(report)
  }

  private func openStore() throws -> UserStore {
    // A database that is not there is not created for a dry run.
    if writing.isDryRun, System.isMissingOrEmpty(try common.path) {
      return try OpenStores.shared.open { try UserStore.temporary() }
    }
    return try common.open(writing.isDryRun ? .readWrite : .createIfMissing)
  }
}
