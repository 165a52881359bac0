/// Tables and triggers that only some files have, for what they are used for.
///
/// A file that has one has at least the part's version, so that older libraries refuse it. The file keeps the fingerprint of each part
/// as of a migration, under the part's number, which is negative. A part can change one with a smaller number after the minus.
package enum SchemaPart: Int64, CaseIterable, Sendable {
  /// The file is a replica of a server's users.
  case replica = -1
  /// Replicas follow the file.
  case server = -2
  /// The replica can take the application's writes.
  case outbox = -3
  /// The application cannot write to the replica.
  case readOnly = -4
  /// The server decides about sets of replicas, or keeps the outcomes of other requests that it may receive twice.
  case decisions = -5

  /// The smallest version of a file that has the part.
  var version: Int64 {
    switch self {
    case .replica, .server: 8
    case .outbox, .readOnly, .decisions: 9
    }
  }

  /// The version of a file that has all parts.
  static let newestVersion: Int64 = 9

  /// Made once: each opening of a replica compares the fingerprints.
  private static let migrations = Dictionary(
    uniqueKeysWithValues: allCases.map { part in
      let (name, sql) =
        switch part {
        case .replica: ("replica", PackageResources.replica_sql)
        case .server: ("server", PackageResources.server_sql)
        case .outbox: ("outbox", PackageResources.outbox_sql)
        case .readOnly: ("read_only", PackageResources.read_only_sql)
        case .decisions: ("decisions", PackageResources.decisions_sql)
        }
      return (part, Migration(part.rawValue, name, sql))
    })

  var migration: Migration { Self.migrations[self]! }

  /// The table by which the part is recognized.
  var table: String {
    switch self {
    case .replica: "userstore_replica"
    case .server: "userstore_server"
    case .outbox: "userstore_outbox"
    case .readOnly: "userstore_read_only"
    case .decisions: "userstore_decisions"
    }
  }

  /// The names of what the part creates, by their kind: `TABLE`, `TRIGGER`.
  private func names(of kind: String) -> [String] {
    migration.sql.split(separator: "\n").filter { $0.hasPrefix("CREATE \(kind) ") }.map {
      String($0.split(separator: " ")[2])
    }
  }

  var tables: [String] { names(of: "TABLE") }

  /// The message of the triggers that refuse a write.
  static let refusal = "this store is a replica: write to its server, whose address is in the table userstore_replica"
  /// The message of the trigger that refuses the id of a new user.
  static let idRefusal =
    "the id of a user that is added on a replica must be a random negative number: give that of SELECT -1 - abs(random() / 2) as a value"

  /// Creates the part in the open transaction, unless the file has it; returns whether it was missing.
  func create(on connection: borrowing Connection) throws(StoreError) -> Bool {
    if try exists(on: connection) { return false }
    let purpose = "create the tables of “\(migration.name)”"
    try connection.execute(migration.sql, to: purpose)
    try connection.execute(
      """
      INSERT INTO migrations (number, name, fingerprint)
      VALUES (\(rawValue), '\(migration.name)', '\(migration.fingerprint)');
      PRAGMA user_version = \(max(Self.fileVersion(connection), version, Migration.latest))
      """, to: purpose)
    return true
  }

  /// Drops the part in the open transaction, if the file has it.
  func drop(on connection: borrowing Connection) throws(StoreError) {
    guard try exists(on: connection) else { return }
    let objects = names(of: "TRIGGER").map { "DROP TRIGGER \($0);" } + tables.map { "DROP TABLE \($0);" }
    try connection.execute(
      objects.joined() + "DELETE FROM migrations WHERE number = \(rawValue)", to: "remove tables for replicas")
  }

  private static let selectVersion = SQL("read the schema", "PRAGMA user_version")
  private static let selectTable = SQL(
    "read the schema", "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1")

  private static func fileVersion(_ connection: borrowing Connection) throws(StoreError) -> Int64 {
    try connection.first(selectVersion) { $0.integer(0) } ?? 0
  }

  func exists(on connection: borrowing Connection) throws(StoreError) -> Bool {
    // A file of an earlier version may have a table of another program with this name.
    if try Self.fileVersion(connection) < version { return false }
    return try connection.first(Self.selectTable, .text(table)) { _ in true } ?? false
  }
}
