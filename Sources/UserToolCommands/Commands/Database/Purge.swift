import ArgumentParser
import UserStore

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
    let id = try common.withStore(.readOnly) { try RemovedUser.resolve(user, in: $0) }
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

/// A removed user, whom only the log contains.
enum RemovedUser {
  /// Finds a removed user by id, or by the last name.
  ///
  /// - Throws: `Failure` with status `notFound` if no user or several users match, with `conflict` if the user exists.
  static func resolve(_ reference: UserReference, in store: UserStore) throws -> User.ID {
    if let id = reference.id {
      if try store.read({ try $0.user(id) }) != nil { throw stillExists(id) }
      return id
    }
    let name = reference.name
    if let id = try store.read({ try $0.ids(named: name).first }) { throw stillExists(id) }
    var candidates: [(id: User.ID, removedAt: Int64)] = []
    try store.forEachChange { change in
      guard change.kind == .removed, change.attribute == .name, change.old == .text(name) else { return }
      candidates.removeAll { $0.id == change.user }
      candidates.append((change.user, change.timestamp))
    }
    candidates = try store.read { transaction in
      try candidates.filter { try transaction.user($0.id) == nil }
    }
    guard candidates.count <= 1 else { throw ambiguous(candidates, name) }
    if let candidate = candidates.first { return candidate.id }
    throw Failure(.notFound, "the log has no removed user \"\(name)\"", hint: "specify the user by id")
  }

  /// Counts a user's changes in the log, and those of them that still have values.
  static func count(_ id: User.ID, in store: UserStore) throws -> (found: Int, valued: Int) {
    var count = (found: 0, valued: 0)
    try store.forEachChange { change in
      guard change.user == id else { return }
      count.found += 1
      if !change.old.isNull || !change.new.isNull { count.valued += 1 }
    }
    return count
  }

  private static func stillExists(_ id: User.ID) -> Failure {
    Failure(
      .conflict, "user \(id) still exists",
      hint: "remove it first with usertool remove \(UserReference.text(of: id))")
  }

  private static func ambiguous(_ candidates: [(id: User.ID, removedAt: Int64)], _ name: String) -> Failure {
    Failure(
      .notFound, "\(candidates.count) removed users were named \"\(name)\"", hint: "specify one of them by id",
      details: candidates.prefix(20).map { "\($0.id)\tremoved \(Timestamp(milliseconds: $0.removedAt).local)" })
  }
}

extension UserStore {
  fileprivate func forEachChange(_ body: (Change) -> Void) throws {
    try forEachSet { set in
      try set.forEach(body)
      return true
    }
  }
}
