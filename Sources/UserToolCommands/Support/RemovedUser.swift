import UserStore

/// A user that was removed, and that only the log still has.
enum RemovedUser {
  /// Finds a removed user by id, or by the name that the user had when removed.
  ///
  /// - Throws: `Failure` with status `notFound` if no user or several users match, with `conflict` if the user exists.
  static func resolve(_ reference: UserReference, in store: UserStore) throws -> User.ID {
    if let id = reference.id {
      if try store.read({ try $0.user(id) }) != nil { throw stillExists(id) }
      return id
    }
    let name = reference.name
    if let id = try store.read({ try $0.users(named: name).first }) { throw stillExists(id) }
    var candidates: [(id: User.ID, removedAt: Int64)] = []
    try store.forEachChange { change in
      guard change.kind == .removed, change.attribute == .name, change.old == .text(name) else { return }
      candidates.removeAll { $0.id == change.user }
      candidates.append((change.user, change.timestamp))
    }
    candidates = try store.read { transaction in
      try candidates.filter { try transaction.user($0.id) == nil }
    }
    guard candidates.count <= 1 else { throw ambiguous(candidates, name) }
    if let candidate = candidates.first { return candidate.id }
    throw Failure(.notFound, "the log has no removed user \"\(name)\"", hint: "specify the user by id")
  }

  /// Counts a user's changes in the log, and those of them that still have values.
  static func count(_ id: User.ID, in store: UserStore) throws -> (found: Int, valued: Int) {
    var count = (found: 0, valued: 0)
    try store.forEachChange { change in
      guard change.user == id else { return }
      count.found += 1
      if !change.old.isNull || !change.new.isNull { count.valued += 1 }
    }
    return count
  }

  private static func stillExists(_ id: User.ID) -> Failure {
    Failure(
      .conflict, "user \(id) still exists",
      hint: "remove it first with usertool remove \(UserReference.text(of: id))")
  }

  private static func ambiguous(_ candidates: [(id: User.ID, removedAt: Int64)], _ name: String) -> Failure {
    Failure(
      .notFound, "\(candidates.count) removed users were named \"\(name)\"", hint: "specify one of them by id",
      details: candidates.prefix(20).map { "\($0.id)\tremoved \(Timestamp(milliseconds: $0.removedAt).local)" })
  }
}

extension UserStore {
  fileprivate func forEachChange(_ body: (Change) -> Void) throws {
    try forEachSet { set in
      try set.forEach(body)
      return true
    }
  }
}
