import ArgumentParser
import UserStore
import UserStoreText

struct ListCommand: AsyncParsableCommand, QueryCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List users, or follow a list of users as it changes.",
    usage: "usertool list [<options>]",
    discussion: """
      Examples:
        usertool list
        usertool list --where 'age>=18' --where 'name^=Z' --sort age:desc --sort name --limit 20
        usertool list --with age --without hair_color --count
        usertool list --where hair_color=auburn --sort name --follow
        usertool list --format csv > users.csv

      \(UserConditions.discussion)

      Values are sorted in this order: numbers, text (by its bytes), data, not set; :desc reverses it, except that users \
      without the attribute stay last. Users that are equal in all keys are in the order of their ids. If there are more \
      users than --limit, a line on standard error has the --after option for the next page. Its text has the values \
      that the last user is sorted by: a page starts after that place, even if the user was changed or removed.

      An attribute that is compared with = < <= > >= or ^=, or that the list is sorted by, can have an index (usertool \
      index add), so that not all users are read.

      On a terminal, the table is cut to the terminal's width: … marks what is missing, and attributes that do not fit \
      are in the MORE column. usertool get shows one user in full, and --format plain all users.

      --follow shows the rows and then each change of them, by any process, until stopped. On a terminal, the table is \
      updated in place, and what changed is marked for a moment; rows that do not fit are counted. Elsewhere, and with \
      --format jsonl or json, it prints a line for each row (op snapshot), and then a line for each step: insert (a row \
      is now at index), remove (the row at index left), move (the row at from is now at index), and update. The steps \
      are made one after the other. A line has the revision, the user's id, the user as record, and in changed the \
      attributes that differ from before. The last line of each version of the list has a cursor; if there are no rows \
      to print, that is a line with op empty. A reader that is too slow gets several versions as one. After a line \
      with op reset, the rows are printed again. --follow cannot be resumed: it always starts with all rows. With \
      --count, it prints the number of users each time it changes.
      """)

  @OptionGroup var conditions: UserConditions

  @Option(
    name: .customLong("sort"),
    help: ArgumentHelp(
      "Sort by this attribute instead of the id; may be repeated, with the most important one first.",
      valueName: "attribute[:asc|:desc]"),
    completion: Completions.sortKeys)
  var order: [String] = []

  @Option(help: ArgumentHelp("List at most this many users.", valueName: "n"))
  var limit: Int?

  @Option(help: ArgumentHelp("Start after this place, which the page before has printed.", valueName: "place"))
  var after: String?

  @Flag(help: "Print only the number of users that meet the conditions; with --follow, each time it changes.")
  var count = false

  @Flag(help: "Show the list and each change of it until stopped.")
  var follow = false

  @Option(help: ArgumentHelp("Stop following after this time with exit code 124: 30s, 500ms, 2m.", valueName: "time"))
  var timeout: Timespan?

  @OptionGroup var common: CommonOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more") }
    let others = [("--sort", !order.isEmpty), ("--limit", limit != nil), ("--after", after != nil)]
    if count, let other = others.first(where: \.1)?.0 {
      throw ValidationError("--count and \(other) cannot be combined: all users that meet the conditions are counted")
    }
    if timeout != nil, !follow { throw ValidationError("--timeout needs --follow") }
    guard follow, !count else { return }
    if [.plain, .csv].contains(common.liveFormat) {
      throw ValidationError("--follow has no format \(common.liveFormat.rawValue): use table, jsonl or json")
    }
    if common.liveFormat == .table, !CommonOptions.canDrawFrames {
      throw ValidationError("--follow can update a table only on a terminal: use --format jsonl")
    }
  }

  func run() async throws {
    let request = try ListRequest(text, .options)
    for contradiction in request.selection.contradictions { common.note("note: " + contradiction) }
    if follow { return try await follow(request) }
    if count { return try printCount(request.selection) }
    var page = ListPage(request: request, common: common)
    try page.print()
  }

  private var text: QueryText {
    var text = QueryText(conditions)
    (text.order, text.limit, text.place) = (order, limit, after)
    return text
  }

  var doubts: [TextError] {
    get throws(TextError) { try ListRequest(text, .options).doubts }
  }

  private func follow(_ request: ListRequest) async throws {
    let follower = ListFollower(common: common, request: request)
    let isCount = count
    try await Deadline.run(timeout: timeout?.duration) {
      if isCount { try await follower.runCount() } else { try await follower.run() }
      return false
    }
  }

  private func printCount(_ selection: UserSelection) throws {
    var notes: [String] = []
    let count = try common.read { transaction in
      try selection.check(in: &transaction)
      let count = try transaction.count(where: selection.condition)
      // The counted users have the attributes of all other conditions.
      var unknown = UnknownAttributes(count == 0 ? selection.attributes : selection.optionalAttributes)
      notes = try unknown.notes(&transaction, isWhole: true)
      if count == 0 { notes += try selection.hints(&transaction) }
      return count
    }
    var printer = RecordPrinter(ofCountsIn: common.recordFormat, areMany: false, to: Output(), common.style)
    printer.print(count: count)
    for note in notes { common.note(note) }
  }
}
