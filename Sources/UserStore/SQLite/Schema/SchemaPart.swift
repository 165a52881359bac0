/// Tables and triggers that only some files have, for what they are used for.
///
/// A file that has one has the version `SchemaPart.version`, so that older libraries refuse it. The file keeps the fingerprint of
/// each part as of a migration, under the part's number, which is negative: parts have no order.
package enum SchemaPart: Int64, CaseIterable, Sendable {
  /// The file is a replica of a server's users.
  case replica = -1
  /// Replicas follow the file.
  case server = -2

  /// The version of a file that has a part.
  static let version: Int64 = 8

  var migration: Migration {
    switch self {
    case .replica: Migration(rawValue, "replica", PackageResources.replica_sql)
    case .server: Migration(rawValue, "server", PackageResources.server_sql)
    }
  }

  /// The table by which the part is recognized.
  var table: String {
    switch self {
    case .replica: "userstore_replica"
    case .server: "userstore_server"
    }
  }

  var tables: [String] {
    migration.sql.split(separator: "\n").filter { $0.hasPrefix("CREATE TABLE ") }.map {
      String($0.split(separator: " ")[2])
    }
  }

  /// The message of the triggers that refuse a write.
  static let refusal = "this store is a replica: write to its server, whose address is in the table userstore_replica"

  /// Creates the part in the open transaction, unless the file has it; returns whether it was missing.
  func create(on connection: borrowing Connection) throws(StoreError) -> Bool {
    if try exists(on: connection) { return false }
    let purpose = "create the tables for replicas"
    try connection.execute(migration.sql, to: purpose)
    try connection.execute(
      """
      INSERT INTO migrations (number, name, fingerprint)
      VALUES (\(rawValue), '\(migration.name)', '\(migration.fingerprint)');
      PRAGMA user_version = \(max(Self.version, Migration.latest))
      """, to: purpose)
    return true
  }

  func exists(on connection: borrowing Connection) throws(StoreError) -> Bool {
    // A file of an earlier version may have a table of another program with this name.
    var (version, count): (Int64, Int64) = (0, 0)
    try connection.rows("PRAGMA user_version", to: "read the schema") { version = $0.integer(0) }
    if version < Self.version { return false }
    try connection.rows(
      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '\(table)'", to: "read the schema"
    ) { count = $0.integer(0) }
    return count > 0
  }
}
