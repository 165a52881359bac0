import ArgumentParser
import UserStore
import UserStoreText

struct WatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Print each listener's updates as they arrive, from any process.",
    usage: "usertool watch [<user>] [<options>]",
    discussion: """
      Examples:
        usertool watch
        usertool watch Zoë --attribute name --count 1 --timeout 30s
        usertool watch --per-change --consumer sync | ./sync-elsewhere
        usertool watch --per-change --cursor-file ~/.seen

      Prints the current state first, then follows the changes until stopped. On a terminal, that is the state of as many \
      users as fit on the screen; --initial all prints the whole state, as in a pipe. After the line "watching" on \
      standard error, no change is missed.

      In every format except table, only the last line of each write, and of the current state, has a "cursor". To \
      continue without a gap, save the last cursor that you received and pass it to --after. The output of log and of \
      commands such as set has cursors in the same places.
      """)

  @Argument(help: "Watch only this user: an id or a name.")
  var user: UserReference?

  @Option(help: ArgumentHelp("Continue right after this cursor, without the current state.", valueName: "cursor"))
  var after: String?

  @Option(
    help: ArgumentHelp("Continue after the cursor in this file, and keep the file up to date.", valueName: "file"),
    completion: .file())
  var cursorFile: String?

  @Option(
    help: ArgumentHelp(
      "Continue where the last watch with this name stopped, and take over the name. The database keeps the position.",
      valueName: "name"))
  var consumer: String?

  @Option(
    help: ArgumentHelp(
      "Stop after this many lines, not counting the current state. With a saved position, a set that is cut short is printed again.",
      valueName: "n"))
  var count: Int?

  @Flag(help: "Stop after one line, as with --count 1.")
  var once = false

  @Option(help: ArgumentHelp("Stop after this time with exit code 124: 30s, 500ms, 2m.", valueName: "time"))
  var timeout: Timespan?

  @Option(
    name: .customLong("attribute"), help: ArgumentHelp("Only this attribute; may be repeated.", valueName: "attribute"))
  var attributes: [AttributeName] = []

  @Option(
    name: .customLong("op"),
    help: ArgumentHelp("Only lines of this kind; may be repeated.", valueName: "kind"))
  var operations: [Entry.Operation] = []

  @Option(
    help: ArgumentHelp(
      "How much of the current state to print. Default: screen on a terminal, with a table; all otherwise.",
      valueName: "part"))
  var initial: InitialState?

  @Flag(name: .customLong("no-initial"), help: "Omit the current state.")
  var skipsInitial = false

  @Flag(
    name: .customLong("no-resync"),
    help: "If the log does not continue from the cursor, exit with 6 instead of restarting from the current state.")
  var refusesResync = false

  @Flag(help: "Print one line per change instead of one per listener.")
  var perChange = false

  @OptionGroup var listening: StandInOptions
  @OptionGroup var common: CommonOptions

  func validate() throws {
    if let count, count < 1 { throw ValidationError("--count must be 1 or more") }
    if skipsInitial, initial != nil { throw ValidationError("--initial and --no-initial cannot be combined") }
    if once, count ?? 1 != 1 { throw ValidationError("--once means --count 1: pass only one of them") }
    let starts = [("--after", after), ("--cursor-file", cursorFile), ("--consumer", consumer)].filter { $0.1 != nil }
    if starts.count > 1 {
      throw ValidationError("\(starts[0].0) and \(starts[1].0) cannot be combined: both set the starting point")
    }
    if let attribute = attributes.first, !perChange, !receivesAny(of: attributes) {
      let listener = "NAME=\(attribute)".shellWord()
      throw ValidationError(
        "no listener receives \(attribute): add one with --listener \(listener), or use --per-change")
    }
    if perChange, !listening.listeners.isEmpty {
      throw ValidationError("--per-change and --listener cannot be combined")
    }
  }

  private func receivesAny(of attributes: [AttributeName]) -> Bool {
    listening.standIns.contains { standIn in attributes.contains { standIn.receives($0) } }
  }

  func run() async throws {
    let start = try start
    try await Deadline.run(timeout: timeout?.duration) {
      var follower = Follower(self, from: start)
      try await follower.run()
      return follower.isDone
    }
  }

  var initialState: InitialState {
    initial ?? (common.streamFormat == .table && System.isTerminal(System.standardOutput) ? .screen : .all)
  }

  private var start: Follower.Start {
    get throws {
      if let after { return .after(try Cursor(after)) }
      if let cursorFile { return .file(try CursorFile(cursorFile, common)) }
      guard let consumer else { return .currentState }
      // An invalid name must fail before the current state is printed.
      try Consumer.checkName(consumer)
      return .consumer(consumer)
    }
  }
}
