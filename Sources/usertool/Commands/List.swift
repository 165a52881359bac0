import ArgumentParser
import UserStore

/// `usertool list`.
struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List users.",
    usage: "usertool list [<options>]",
    discussion: """
      Examples:
        usertool list
        usertool list --where hair_color=auburn --sort name
        usertool list --format csv > users.csv

      On a terminal, the table is cut to the terminal's width: … marks what is missing, and attributes that do not fit \
      are in the MORE column. usertool get shows one user in full, and --format plain all users.
      """)

  @OptionGroup var conditions: UserConditions

  @Option(
    help: ArgumentHelp("Sort by this attribute instead of the id.", valueName: "attribute"))
  var sort: AttributeName?

  @OptionGroup var common: CommonOptions

  func run() throws {
    let fits = try conditions.test
    let format = common.recordFormat
    let fit = System.columns(of: System.standardOutput).map { RecordPrinter.Fit.cut(to: $0) }
    var printer = RecordPrinter(format, columns: nil, to: Output(), common.style, fit: fit ?? .none)
    var users: [User] = []
    var requested = RequestedAttributes(
      conditions.conditions.map(\.attribute) + (sort.map { [$0] } ?? []))
    var isEmpty = true
    try common.withStore(.readOnly) { store in
      try store.read { transaction in
        try transaction.forEachUser { user in
          isEmpty = false
          requested.look(at: user)
          guard fits(user) else { return }
          // Unsorted users are printed as they are read, so that a long list takes no memory.
          if sort == nil { printer.print(user.record, plain: user.plainRecord) } else { users.append(user) }
        }
      }
    }
    for user in sorted(users) { printer.print(user.record, plain: user.plainRecord) }
    printer.end()
    if isEmpty { return common.note("there are no users yet; add one with usertool add NAME") }
    for question in requested.questions { common.note(question) }
  }

  private func sorted(_ users: [User]) -> [User] {
    guard let sort else { return users }
    return users.sorted { left, right in
      let (leftValue, rightValue) = (left.value(sort), right.value(sort))
      if leftValue.precedes(rightValue) { return true }
      return !rightValue.precedes(leftValue) && left.id < right.id
    }
  }
}

/// The requested attributes that no user has, which are mostly mistyped.
private struct RequestedAttributes {
  private var missing: [AttributeName]
  private var known: Set<AttributeName> = []

  init(_ attributes: [AttributeName]) { missing = attributes.filter { !["id", .name].contains($0) } }

  mutating func look(at user: User) {
    if missing.isEmpty { return }
    known.formUnion(user.storedValues.keys)
    missing.removeAll { known.contains($0) }
  }

  var questions: [String] {
    missing.map { ("no user has \"\($0)\"" + Suggestion.question(for: $0, among: known)).shown }
  }
}

extension StoredValue {
  /// Orders numbers before text, text (by its bytes) before data, and missing values last.
  fileprivate func precedes(_ other: StoredValue) -> Bool {
    switch (self, other) {
    case (.integer(let left), .integer(let right)): left < right
    case (.integer(let left), .real(let right)): Double(left) < right
    case (.real(let left), .integer(let right)): left < Double(right)
    case (.real(let left), .real(let right)): left < right
    default:
      rank == other.rank ? bytes.lexicographicallyPrecedes(other.bytes) : rank < other.rank
    }
  }

  private var rank: Int {
    switch self {
    case .integer, .real: 0
    case .text, .invalidText: 1
    case .blob: 2
    case .null: 3
    }
  }

  private var bytes: [UInt8] {
    switch self {
    case .text(let text): Array(text.utf8)
    case .blob(let bytes), .invalidText(let bytes): bytes
    default: []
    }
  }
}
