import ArgumentParser
import UserStore

/// `usertool list`.
struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Print all users, or some.",
    usage: "usertool list [<options>]",
    discussion: """
      Examples:
        usertool list
        usertool list --where hair_color=auburn --sort name
        usertool list --format csv > users.csv
      """)

  @Option(
    name: .customLong("where"),
    help: ArgumentHelp("Only users with this value; may be repeated, and all must fit.", valueName: "k=v"))
  var conditions: [Assignment] = []

  @Option(help: ArgumentHelp("The attribute to sort by, instead of the id.", valueName: "attribute"))
  var sort: String?

  @OptionGroup var common: CommonOptions

  func run() throws {
    let conditions = try conditions.map { (attribute: $0.attribute, value: try $0.value()) }
    let format = common.recordFormat
    var printer = RecordPrinter(format, columns: nil, to: Output(), common.style)
    var users: [User] = []
    try common.withStore(.readOnly) { store in
      try store.read { transaction in
        try transaction.forEachUser { user in
          guard conditions.allSatisfy({ Self.value($0.attribute, of: user).isSame(as: $0.value) }) else { return }
          // Without an order of its own a long list takes no memory.
          if sort == nil { printer.print(user.record, plain: user.plainRecord) } else { users.append(user) }
        }
      }
    }
    for user in sorted(users) { printer.print(user.record, plain: user.plainRecord) }
    printer.end()
  }

  private func sorted(_ users: [User]) -> [User] {
    guard let sort else { return users }
    let attribute = AttributeName.canonical(sort)
    return users.sorted { left, right in
      let (leftValue, rightValue) = (Self.value(attribute, of: left), Self.value(attribute, of: right))
      if leftValue.precedes(rightValue) { return true }
      return !rightValue.precedes(leftValue) && left.id < right.id
    }
  }

  private static func value(_ attribute: String, of user: User) -> StoredValue {
    attribute == "id" ? .integer(user.id.rawValue) : user.storedValues[attribute] ?? .null
  }
}

extension StoredValue {
  /// Equal, or the same number in another type.
  fileprivate func isSame(as other: StoredValue) -> Bool {
    switch (self, other) {
    case (.integer(let integer), .real(let real)), (.real(let real), .integer(let integer)):
      Int64(exactly: real) == integer
    default: self == other
    }
  }

  /// Numbers, then text by its bytes, then data; what is not set comes last.
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
