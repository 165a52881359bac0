import UserStore

/// The list that all contenders follow: the users with a hair color, by name.
///
/// It is a request of one table, because records of GRDB are those of one table.
enum ListRequest {
  static let query = UserStore.Query(
    where: Attribute.hairColor.exists, sortedBy: [.ascending(.name)], showing: [.hairColor])

  /// The statement that the library runs for it.
  static let sql =
    "SELECT users.id, users.name, users.hair_color FROM users WHERE users.hair_color IS NOT NULL "
    + "ORDER BY users.name, users.id"
}

/// A peer that changes one row in a transaction.
protocol RowWriter {
  func rename(_ id: Int64, to name: String) throws
  func setColor(_ id: Int64, to color: String?) throws
}

extension UserStore: RowWriter {
  func rename(_ id: Int64, to name: String) throws { try write { try $0.rename(User.ID(id), to: name) } }

  func setColor(_ id: Int64, to color: String?) throws {
    try write { try $0.set(.hairColor, of: User.ID(id), to: color.map(StoredValue.text) ?? .null) }
  }
}

extension GRDBStore: RowWriter {
  func rename(_ id: Int64, to name: String) throws { try rename(id..<id + 1, to: name) }
}

extension Floor: RowWriter {
  func rename(_ id: Int64, to name: String) throws { try rename(id..<id + 1, to: name) }
}

/// What a write does to one row of the list.
enum RowChange: String, CaseIterable, Sendable {
  case value, move, leave, enter

  var description: String {
    switch self {
    case .value: "has another value"
    case .move: "moves"
    case .leave: "leaves"
    case .enter: "enters"
    }
  }

  private static let colors = ["#a52a2b", "#000000", "#c0c0c0", "#ffffff", "#123456", "#fedcba", "#800000"]

  /// The user that a turn changes: each of the first `users` once before the first again, and neighbors are far apart.
  static func user(_ turn: Int, of users: Int) -> Int64 { Int64(turn &* 7_919 % users + 1) }

  /// The hair color of a user after a turn, which differs from the one before.
  private static func color(_ turn: Int, of users: Int) -> String { colors[turn / users % colors.count] }

  /// Makes a row enter that leaves in this turn, or the reverse.
  func reverse(_ turn: Int, of users: Int, _ writer: some RowWriter) throws {
    let user = Self.user(turn, of: users)
    try writer.setColor(user, to: self == .enter ? nil : Self.color(turn, of: users))
  }

  func write(_ turn: Int, of users: Int, _ writer: some RowWriter) throws {
    let user = Self.user(turn, of: users)
    switch self {
    case .value, .enter: try writer.setColor(user, to: Self.color(turn, of: users))
    case .move: try writer.rename(user, to: "user \(turn &* 104_729 % users) \(turn)")
    case .leave: try writer.setColor(user, to: nil)
    }
  }
}

/// A listener of a list that takes the steps from each version to the next, as a table on a screen does.
final class ListScreen: @unchecked Sendable {
  private var rows: UserStore.Rows
  private(set) var steps = 0
  private let list: Listenable<UserStore.Rows>

  init(_ list: Listenable<UserStore.Rows>) {
    self.list = list
    rows = list.value
    list.bind("screen") { [unowned self] in show($0) }
  }

  deinit { list.unbind("screen") }

  private func show(_ new: UserStore.Rows) {
    steps += new.rowChanges(from: rows).steps.count
    rows = new
  }
}
