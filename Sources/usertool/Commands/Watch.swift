import ArgumentParser
import UserStore

/// `usertool watch`.
struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Print each listener's updates as they come, from any process.",
    usage: "usertool watch [<user>] [<options>]",
    discussion: """
      Examples:
        usertool watch
        usertool watch Zoë --attribute name --count 1 --timeout 30s
        usertool watch --per-change --consumer sync | ./sync-elsewhere
        usertool watch --per-change --cursor-file ~/.seen

      Shows the present state first, then follows until stopped. Once it says "watching" on standard error, nothing from \
      there on is missed. In the layouts for programs the last line of each write has a "cursor", and the others have \
      none: whoever saves the last cursor that came, and goes on with --after, skips nothing. So it is in the present \
      state, in log, and in what rename and set print.
      """)

  @Argument(help: "The user to watch, instead of all: an id or a name.")
  var user: UserReference?

  @Option(help: ArgumentHelp("Go on right after this cursor, without the present state.", valueName: "cursor"))
  var after: String?

  @Option(
    help: ArgumentHelp("Go on after the cursor in this file, and keep it up to date.", valueName: "file"),
    completion: .file())
  var cursorFile: String?

  @Option(
    help: ArgumentHelp(
      "Go on where the last watch with this name was; the database keeps the position. Who has the name now, loses it.",
      valueName: "name"))
  var consumer: String?

  @Option(
    help: ArgumentHelp(
      "End after so many lines, the present state aside; a set that is cut short comes again with --consumer and --cursor-file.",
      valueName: "n"))
  var count: Int?

  @Flag(help: "End after one line: --count 1.")
  var once = false

  @Option(help: ArgumentHelp("End after this time, with exit code 124: 30s, 500ms, 2m.", valueName: "time"))
  var timeout: Timespan?

  @Option(
    name: .customLong("attribute"), help: ArgumentHelp("Only this attribute; may be repeated.", valueName: "attribute"))
  var attributes: [AttributeName] = []

  @Option(
    name: .customLong("op"),
    help: ArgumentHelp("Only this kind of line; may be repeated.", valueName: "kind"))
  var operations: [Entry.Operation] = []

  @Flag(name: .customLong("no-initial"), help: "Leave the present state out.")
  var skipsInitial = false

  @Flag(
    name: .customLong("no-resync"),
    help: "End with exit code 6 when the log does not go on, instead of starting from the present state.")
  var refusesResync = false

  @Flag(help: "A line a change, instead of a line a listener.")
  var perChange = false

  @OptionGroup var listening: StandInOptions
  @OptionGroup var common: CommonOptions

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count wants a number from 1") }
    if once, count ?? 1 != 1 { throw ValidationError("--once is --count 1: give one of them") }
    let starts = [("--after", after), ("--cursor-file", cursorFile), ("--consumer", consumer)].filter { $0.1 != nil }
    if starts.count > 1 { throw ValidationError("\(starts[0].0) and \(starts[1].0) both say where to begin") }
    if let unheard = attributes.first, !perChange, !hears(attributes) {
      throw ValidationError(
        "no listener hears \(unheard): name one with --listener NAME=\(unheard), or take --per-change")
    }
    if perChange, !listening.listeners.isEmpty { throw ValidationError("--per-change prints no listeners") }
  }

  private func hears(_ attributes: [AttributeName]) -> Bool {
    listening.standIns.contains { standIn in attributes.contains { standIn.hears($0) } }
  }

  func run() async throws {
    let order = Follower.Order(
      common: common, user: user, start: try start, count: once ? 1 : count,
      filter: Filter(attributes: attributes, operations: Set(operations)),
      standIns: perChange ? nil : listening.standIns, showsInitial: !skipsInitial, resyncs: !refusesResync)
    let status = try await Deadline.run(timeout: timeout?.duration) {
      var follower = Follower(order)
      try await follower.run()
      return follower.isDone
    }
    if status != .success { throw Exit(status: status) }
  }

  private var start: Follower.Start {
    get throws {
      if let after { return .after(try Cursor(after)) }
      if let cursorFile { return .file(CursorFile(path: cursorFile)) }
      guard let consumer else { return .present }
      // Now, and not when the present state was printed.
      try Consumer.checkName(consumer)
      return .consumer(consumer)
    }
  }
}
