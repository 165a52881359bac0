import UserStore

/// Selects the lines that a stream prints.
struct Filter: Sendable {
  var user: User.ID?
  var attributes: [AttributeName] = []
  var operations: Set<Entry.Operation> = []
  /// The time of the oldest changes, in milliseconds since 1970; nil for all changes.
  var start: Int64?

  func accepts(_ entry: Entry) -> Bool {
    (user.map { $0 == entry.user } ?? true)
      && (attributes.isEmpty || entry.event == nil && attributes.contains(entry.attribute))
      && (operations.isEmpty || operations.contains(entry.operation))
      && (start.map { $0 <= entry.milliseconds } ?? true)
  }
}
