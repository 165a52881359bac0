@testable import UserStore

extension Folder {
  /// The revision that the database has for a consumer, read by another connection, or nil if there is none.
  func durableRevision(of name: String = "mailer") throws -> Int64? {
    try plain().text("SELECT seq FROM consumers WHERE name = '\(name)'").flatMap { Int64($0) }
  }
}

extension UserStore {
  /// Adds users, each in a write of its own.
  func addUsers(_ count: Int) throws -> [ChangeSet] {
    let before = try read { try $0.cursor }
    for number in 0..<count { try write { try $0.add(name: "\(number)") } }
    return try allChanges(after: before)
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
