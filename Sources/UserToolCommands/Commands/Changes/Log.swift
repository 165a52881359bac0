import ArgumentParser
import UserStore

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

      A table names who has made a change: the origin of the write, unless that is usertool. In every other format, only \
      the last line of each write has a cursor.
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
    let filter = Filter(user: id, start: last.map { WallClock.milliseconds - $0.milliseconds })
    let newest = cursor == nil ? try limit.map { try NewestChanges($0, filter, through: end, of: store) } : nil
    let start = cursor ?? newest?.start
    var printer = StreamPrinter(
      common.streamFormat, to: Output(), common.style, filter: filter, standIns: nil,
      remaining: limit, showsDate: true)
    // The end of the last set that was printed in full, and whether the limit was reached after it.
    var (position, isCut) = (start, false)
    try store.forEachSet(after: start) { set in
      isCut = try !printer.print(set, to: nil)
      if !isCut { position = set.cursor }
      return !isCut && set.revision < end.revision
    }
    printer.end()
    if let newest {
      // The limit cuts only changes that were committed after the end was read.
      if newest.hasEarlier { common.note("there are earlier changes; use a larger --limit") }
    } else if isCut, let position, position != start {
      common.note("there is more; continue with --after \(position)")
    } else if isCut {
      common.note("there is more in the same write; use a larger --limit")
    }
  }
}
