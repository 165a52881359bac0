@testable import UserStore

// What many tests write and read.

extension Attribute where Value == Int {
  static var age: Attribute { Attribute("age") }
}

extension UserStore {
  /// Adds users, each in a write of its own.
  func addUsers(_ count: Int) throws -> [ChangeSet] {
    let before = try read { try $0.cursor }
    for number in 0..<count { try write { try $0.add(name: "\(number)") } }
    return try allChanges(after: before)
  }

  /// Writes `count` sets of one change each.
  func rename(_ user: User.ID, times count: Int) throws {
    for number in 0..<count { try write { try $0.rename(user, to: "name \(number)") } }
  }

  /// All sets after a cursor, read page by page.
  func allChanges(after cursor: Cursor? = nil) throws -> [ChangeSet] {
    var sets = try page(after: cursor)
    while let last = sets.last {
      let more = try page(after: last.cursor)
      if more.isEmpty { break }
      sets += more
    }
    return sets
  }
}

extension ChangeSet {
  /// Each change as one line of text, for comparisons.
  var lines: [String] {
    guard let changes = try? changes else { return ["unreadable"] }
    return changes.map { "\($0.kind) \($0.user) \($0.attribute) \($0.old.line) \($0.new.line)" }
  }
}

extension StoredValue {
  fileprivate var line: String {
    switch self {
    case .null: "-"
    case .integer(let integer): "\(integer)"
    case .real(let real): "\(real)"
    case .text(let text): "'\(text)'"
    // The description of megabytes takes seconds.
    case .blob(let bytes): bytes.count > 1_000 ? "\(bytes.count) bytes \(bytes.hashValue)" : "\(bytes)"
    case .invalidText(let bytes): "invalid\(bytes)"
    }
  }
}

extension Consumer {
  /// The next sets, read by a new iteration.
  func next(_ count: Int) async throws -> [ChangeSet] {
    var sets: [ChangeSet] = []
    for try await set in self {
      sets.append(set)
      if sets.count == count { break }
    }
    return sets
  }
}

extension RetentionPolicy {
  /// Keeps `count` rows.
  static func rows(_ count: Int) -> RetentionPolicy { RetentionPolicy(Limits(changes: count)) }
}

extension ChangeSet.Content {
  /// A small set of changes without events.
  static func held(_ changes: [Change]) -> Self { .held(ChangeSet.Entries(changes: changes)) }
}
