import ArgumentParser
import UserStore

/// `usertool purge`.
struct PurgeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purge",
    abstract: "Erase a removed user's values from the log.",
    usage: "usertool purge <user> [<options>]",
    discussion: """
      Examples:
        usertool purge 7 --yes
        usertool purge "Zoë Müller" --yes --vacuum
        usertool purge 7 --dry-run

      The changes stay in the log without their values, so that cursors remain valid. The bytes are overwritten in the \
      database and removed from its -wal file. Where SQLite split a page, a copy may remain; --vacuum rewrites the \
      whole file while other writers wait. Backups and other copies keep the values.
      """)

  @Argument(help: "The removed user's id, or the name that the user had when removed.")
  var user: UserReference

  @Flag(help: "Do not ask for confirmation.")
  var yes = false

  @Flag(help: "Also rewrite the whole file.")
  var vacuum = false

  @OptionGroup var common: CommonOptions
  @OptionGroup var writing: WritingOptions

  func run() throws {
    let isAsked = !yes && !writing.isDryRun
    if isAsked { try Confirmation.requireTerminal("purge erases values") }
    let id = try common.withStore(.readOnly) { store in try RemovedUser.resolve(user, in: store) }
    if writing.isDryRun {
      let found = try count(id)
      print(id, found: found.found, blanked: found.valued)
      return common.note("dry run: nothing was purged")
    }
    if isAsked {
      try Confirmation.ask("Purge \(try count(id).valued) changes of user \(id)?", otherwise: "nothing was purged")
    }
    let purge = try common.withStore(.readWrite) { store in try store.purge(id, vacuums: vacuum) }
    if purge.found == 0 { throw unknown(id) }
    print(id, found: purge.found, blanked: purge.blanked)
    if !purge.isErased {
      throw Failure(
        .busy, "the log no longer has the values, but the -wal file keeps an older state that another program reads",
        hint: "purge again when that program has ended")
    }
  }

  private func count(_ id: User.ID) throws -> (found: Int, valued: Int) {
    let found = try common.withStore(.readOnly) { store in try RemovedUser.count(id, in: store) }
    if found.found == 0 { throw unknown(id) }
    return found
  }

  private func unknown(_ id: User.ID) -> Failure {
    Failure(.notFound, "the log has no changes of user \(id)", hint: "usertool log prints all changes")
  }

  private func print(_ id: User.ID, found: Int, blanked: Int) {
    if common.quiet { return }
    common.print(
      ["user", "changes", "blanked"], [[id.rawValue, Int64(found), Int64(blanked)].map { .integer($0) }],
      isAfterChange: !writing.isDryRun)
  }
}
