import ArgumentParser
import UserStore

/// `usertool purge`.
struct PurgeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purge",
    abstract: "Take the values of a removed user out of the log.",
    usage: "usertool purge <user> [<options>]",
    discussion: """
      Examples:
        usertool purge 7 --yes
        usertool purge "Zoë Müller" --yes --vacuum
        usertool purge 7 --dry-run

      The changes stay, without their values, so that no cursor breaks. The bytes are overwritten in the database, and \
      cut off from its -wal file. Where SQLite divided a page a copy may be left; --vacuum writes the whole file anew, \
      while other writers wait. Backups and other copies are not reached.
      """)

  @Argument(help: "The id, or the last name of one who was removed.")
  var user: UserReference

  @Flag(help: "Do not ask.")
  var yes = false

  @Flag(help: "Write the whole file anew too.")
  var vacuum = false

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func run() throws {
    let isAsked = !yes && !writing.isDryRun
    if isAsked, !System.isTerminal(0) || !System.isTerminal(2) {
      throw Failure(.usage, "purge destroys values, and there is nobody to ask", hint: "repeat it with --yes")
    }
    let id = try common.withStore(.readOnly) { store in try RemovedUser.resolve(user, in: store) }
    if writing.isDryRun {
      let found = try count(id)
      print(id, found: found.found, blanked: found.valued)
      return common.note("dry run: nothing was purged")
    }
    if isAsked, !ask(id, try count(id).valued) { throw Failure(.failure, "nothing was purged") }
    let purge = try common.withStore(.readWrite) { store in try store.purge(id, vacuums: vacuum) }
    if purge.found == 0 { throw unknown(id) }
    print(id, found: purge.found, blanked: purge.blanked)
    if !purge.isErased {
      throw Failure(
        .busy, "the values are out of the log, but another program reads an older state, which the -wal file must keep",
        hint: "purge again when it has ended")
    }
  }

  private func count(_ id: User.ID) throws -> (found: Int, valued: Int) {
    let found = try common.withStore(.readOnly) { store in try RemovedUser.count(id, in: store) }
    if found.found == 0 { throw unknown(id) }
    return found
  }

  private func unknown(_ id: User.ID) -> Failure {
    Failure(.notFound, "the log knows no user \(id)", hint: "usertool log shows all that it knows")
  }

  private func ask(_ id: User.ID, _ count: Int) -> Bool {
    Messages.shared.write("Purge \(count) changes of user \(id)? [y/N] ")
    return ["y", "yes"].contains(readLine()?.lowercased())
  }

  private func print(_ id: User.ID, found: Int, blanked: Int) {
    if common.quiet { return }
    var printer = RecordPrinter(
      common.recordFormat, columns: ["user", "changes", "blanked"], to: Output(), common.style)
    printer.print(
      Record(fields: [
        ("user", .integer(id.rawValue)), ("changes", .integer(Int64(found))), ("blanked", .integer(Int64(blanked))),
      ]))
    printer.end()
  }
}
