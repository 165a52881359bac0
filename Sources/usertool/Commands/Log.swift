import ArgumentParser
import UserStore

/// `usertool log`.
struct LogCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Print the changes of the past, with old and new values.",
    usage: "usertool log [<user>] [<options>]",
    discussion: """
      Examples:
        usertool log
        usertool log Zoë --limit 20
        usertool log --after v1-5c0ffee-2a-9e3779b9 --format jsonl

      In the layouts for programs only the last line of each write has a cursor.
      """)

  @Argument(help: "Only changes of this user: an id, also of one that was removed, or a name.")
  var user: UserReference?

  @Option(help: ArgumentHelp("Only what came after this cursor.", valueName: "cursor"))
  var after: String?

  @Option(help: ArgumentHelp("At most so many changes, the oldest first.", valueName: "n"))
  var limit: Int?

  @OptionGroup var common: CommonOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit wants a number from 1") }
  }

  func run() throws {
    let start = try after.map { try Cursor($0) }
    let store = try common.open(.readOnly)
    defer { store.close() }
    let (end, id) = try store.read { transaction in
      (try transaction.cursor, try user.map { try $0.id ?? $0.resolve(in: &transaction).id })
    }
    var printer = StreamPrinter(
      common.streamFormat, to: Output(), common.style, filter: Filter(user: id), standIns: nil, remaining: limit,
      showsDate: true)
    let result = try print(from: start, through: end, of: store, with: &printer)
    printer.end()
    switch result {
    case .all: break
    case .cut(let position?) where position != start: common.note("there is more: go on with --after \(position)")
    case .cut: common.note("there is more, of the same write: take a larger --limit")
    }
  }

  private enum End {
    case all
    /// The limit ended it; with the end of the last set that is whole.
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
