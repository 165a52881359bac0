/// The triggers of an application, on its own tables.
///
/// A file may come from anybody. SQLite runs no dangerous function in a trigger (`trusted_schema = OFF`), but a trigger can change
/// every table in the file, inside of the library's own transaction. None may be on a table of the library; SQLite itself refuses a
/// file in which one only claims to be on another (3.30 or later). But removing a user can reach triggers through foreign keys. Those
/// may change users and attributes, whose triggers log that, and post events, but not the rest of the library's tables.
struct OwnTriggers {
  private let expected: SchemaCheck.Objects

  init(beside expected: SchemaCheck.Objects) { self.expected = expected }

  /// Throws `schemaChanged` if removing a user reaches a trigger that changes tables which only the library changes.
  ///
  /// The connection, which is outside of a transaction, has no authorizer.
  func requireHarmlessRemoval(on connection: borrowing Connection) throws(StoreError) {
    let purpose = "read the schema"
    try connection.execute("PRAGMA foreign_keys = ON", to: purpose)
    defer { try? connection.execute("PRAGMA foreign_keys = OFF", to: purpose) }
    let actions: [Connection.TriggeredAction]
    do throws(StoreError) {
      actions = try connection.triggeredActions(of: "DELETE FROM users WHERE id = 0", for: purpose)
    } catch {
      // A trigger that needs another program's function, or a key without a parent: then no removal can run either.
      guard let cause = error.cause as? SQLiteError, cause.code.primary == .error else { throw error }
      return
    }
    for action in actions where expected[SchemaCheck.Object(type: "trigger", name: action.trigger)] == nil {
      guard let change = action.change, isForbidden(change, action.table.lowercased()) else { continue }
      throw StoreError(
        .schemaChanged,
        "the trigger “\(action.trigger.excerpt)” \(change.rawValue) \(action.table.excerpt) when a user is removed; remove it"
      )
    }
  }

  private func isForbidden(_ change: Connection.TriggeredAction.Change, _ table: String) -> Bool {
    switch table {
    case "users", "attributes": false
    case "changes": change != .insert
    default: expected[SchemaCheck.Object(type: "table", name: table)] != nil
    }
  }
}
