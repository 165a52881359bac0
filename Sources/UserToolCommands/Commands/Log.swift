import ArgumentParser
import UserStore

/// `usertool log`.
struct LogCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Print past changes with their old and new values.",
    usage: "usertool log [<user>] [<options>]",
    discussion: """
      Examples:
        usertool log
        usertool log Zoë --limit 20
        usertool log --last 12h
        usertool log --after v1-5c0ffee-2a-9e3779b9 --format jsonl

      Changes are printed in the order in which they were committed, the oldest first. --limit prints the newest ones, or \
      with --after the next ones. --last goes by the clock of the program that made the change.

      In every format except table, only the last line of each write has a cursor.
      """)

  @Argument(help: "Only changes of this user: a name, or an id, even of a removed user.")
  var user: UserReference?

  @Option(help: ArgumentHelp("Only changes after this cursor.", valueName: "cursor"))
  var after: String?

  @Option(
    help: ArgumentHelp(
      "Print at most this many changes: the newest ones, or with --after the next ones.", valueName: "n"))
  var limit: Int?

  @Option(help: ArgumentHelp("Only changes not older than this, with a unit: 30m, 12h, 7d.", valueName: "time"))
  var last: Timespan?

  @OptionGroup var common: CommonOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more") }
    try last?.checkUnit(of: "--last")
  }

  func run() throws {
    do { try print() } catch let error as StoreError where [.compacted, .diverged, .replaced].contains(error.code) {
      throw Failure(error, hint: "start again without --after")
    }
  }

  private func print() throws {
    let cursor = try after.map { try Cursor($0) }
    let store = try common.open(.readOnly)
    defer { store.close() }
    let (end, id) = try store.read { transaction in
      (try transaction.cursor, try user.map { try $0.id ?? $0.resolve(in: &transaction).id })
    }
    let filter = Filter(user: id, start: last.map { System.now - $0.milliseconds })
    let newest = cursor == nil ? try limit.map { try NewestChanges($0, filter, through: end, of: store) } : nil
    let start = cursor ?? newest?.start
    var printer = StreamPrinter(
      common.streamFormat, to: Output(), common.style, filter: filter, standIns: nil,
      remaining: limit, showsDate: true)
    let result = try print(from: start, through: end, of: store, with: &printer)
    printer.end()
    if let newest {
      // What is cut then was committed after the end was read.
      if newest.hasEarlier { common.note("there are earlier changes; use a larger --limit") }
      return
    }
    switch result {
    case .all: break
    case .cut(let position?) where position != start: common.note("there is more; continue with --after \(position)")
    case .cut: common.note("there is more in the same write; use a larger --limit")
    }
  }

  private enum End {
    case all
    /// The limit was reached; the cursor is the end of the last set that was printed completely.
    case cut(Cursor?)
  }

  private func print(
    from start: Cursor?, through end: Cursor, of store: UserStore, with printer: inout StreamPrinter
  ) throws -> End {
    var position = start
    while true {
      let sets = try store.page(after: position)
      if sets.isEmpty { return .all }
      for set in sets {
        guard try printer.print(set, to: nil) else { return .cut(position) }
        position = set.cursor
        if set.revision >= end.revision { return .all }
      }
    }
  }
}
