/// What happened to a table that is not as the library created it, and what the user can do about it.
extension SchemaCheck {
  static func isChanged(
    _ object: Object, exists: Bool, version: Int64, _ connection: borrowing Connection
  ) throws(StoreError) -> StoreError {
    let what = "the \(object.type) “\(object.name)”"
    if !exists { return StoreError(.schemaChanged, "\(what) is missing: it was removed or renamed; restore a backup") }
    let extra = object.type == "table" ? try additionalColumns(of: object.name, version, connection) : []
    if extra.isEmpty { return StoreError(.schemaChanged, "\(what) was changed; restore a backup") }
    let names = extra.map { "“\($0.excerpt)”" }.joined(separator: ", ")
    let statements = extra.map { "ALTER TABLE \(object.name) DROP COLUMN \(quoted($0))" }.joined(separator: "; ")
    return StoreError(
      .schemaChanged,
      "\(what) has a column that is not this library's (\(names)); move its values to attributes, or to a table of your own, and remove it with \(statements)"
    )
  }

  /// The columns that were added to a table; none if it was changed in another way too.
  private static func additionalColumns(
    of table: String, _ version: Int64, _ connection: borrowing Connection
  ) throws(StoreError) -> [String] {
    let own = try Connection(path: nil, access: .readWrite, busyTimeout: 0)
    for migration in Migration.all.prefix(Int(version)) { try own.execute(migration.sql, to: "build the schema") }
    let (columns, expected) = (try columns(of: table, connection), try self.columns(of: table, own))
    return columns.starts(with: expected) ? Array(columns.dropFirst(expected.count)) : []
  }

  private static func columns(of table: String, _ connection: borrowing Connection) throws(StoreError) -> [String] {
    var names: [String] = []
    try connection.rows("PRAGMA table_xinfo(\(table))", to: "read the schema") { names.append($0.text(1)) }
    return names
  }

  /// A name in SQL.
  static func quoted(_ name: String) -> String {
    "\"" + name.excerpt.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }
}
