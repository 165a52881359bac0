/// The triggers of an application, on its own tables.
///
/// A file may come from anybody. SQLite runs no dangerous function in a trigger (`trusted_schema = OFF`), but a trigger can change
/// every table in the file, inside of the library's own transaction. So none may be on a table of the library: what the column
/// `tbl_name` says is not what SQLite reads. And where removing a user reaches one, through a foreign key, it may change users and
/// attributes, whose triggers log that, and post events, but not the rest of the library's tables.
struct OwnTriggers {
  private let expected: SchemaCheck.Objects

  init(beside expected: SchemaCheck.Objects) { self.expected = expected }

  private var tables: [String] {
    expected.keys.filter { $0.type == "table" && !$0.name.hasPrefix("sqlite_") }.map(\.name)
  }

  /// Throws `schemaChanged` if a trigger is on one of the library's tables.
  func requireNone(on connection: borrowing Connection) throws(StoreError) {
    for table in tables {
      var columns: [String] = []
      try connection.rows("PRAGMA table_info(\(table))", to: "read the schema") { columns.append($0.text(1)) }
      let values = columns.map { "\($0) = \($0)" }.joined(separator: ", ")
      let statements = ["INSERT INTO \(table) DEFAULT VALUES", "UPDATE \(table) SET \(values)", "DELETE FROM \(table)"]
      guard let first = try foreignActions(of: statements, on: connection).first else { continue }
      throw StoreError(
        .schemaChanged, "the trigger “\(first.trigger.excerpt)” runs when \(table) is changed; remove it")
    }
  }

  /// Throws `schemaChanged` if removing a user reaches a trigger that changes tables of the library which only the library changes.
  ///
  /// The connection must have foreign keys on.
  func requireHarmlessRemoval(on connection: borrowing Connection) throws(StoreError) {
    for action in try foreignActions(of: ["DELETE FROM users WHERE id = 0"], on: connection) {
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
    default: table.hasPrefix("sqlite_") || tables.contains(table)
    }
  }

  private func foreignActions(
    of statements: [String], on connection: borrowing Connection
  ) throws(StoreError) -> [Connection.TriggeredAction] {
    try connection.triggeredActions(of: statements, for: "read the schema").filter { action in
      expected[SchemaCheck.Object(type: "trigger", name: action.trigger)] == nil
    }
  }
}
