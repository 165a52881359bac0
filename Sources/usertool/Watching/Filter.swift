import UserStore

/// Which lines a stream shows.
struct Filter: Sendable {
  /// nil for all users.
  var user: User.ID?
  /// Empty for all.
  var attributes: [AttributeName] = []
  /// Empty for all.
  var operations: Set<Entry.Operation> = []

  func accepts(_ entry: Entry) -> Bool {
    (user.map { $0 == entry.user } ?? true)
      && (attributes.isEmpty || attributes.contains(entry.attribute))
      && (operations.isEmpty || operations.contains(entry.operation))
  }
}
