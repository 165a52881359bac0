import UserStore

/// Creates, migrates and checks the layout of the database.
enum PostgresSchema {
  /// All migrations in order; a new one is a file in `migrations` and a line here.
  ///
  /// Each updates `meta.layout`, and `meta.min_client` if clients that do not know it cannot use the new layout. The first makes
  /// layout 3 as a whole; databases of this layout may have been made by three earlier migrations, and have the same parts.
  static let migrations = [
    Migration(3, "users_and_changes", PackageResources.m0003_users_and_changes_sql),
    Migration(4, "notes", PackageResources.m0004_notes_sql),
    Migration(5, "unique", PackageResources.m0005_unique_sql),
    Migration(6, "replicas", PackageResources.m0006_replicas_sql),
    Migration(7, "decisions", PackageResources.m0007_decisions_sql),
  ]

  /// The layout that this version of the library creates.
  static var latest: Int64 { migrations[migrations.count - 1].number }
  /// The oldest layout that can be migrated, and used as it is: roles that do not own the schema cannot migrate.
  static var oldest: Int64 { migrations[0].number }
  private static let oldestServer = 150_000

  private static let selectVersion = PostgresStatement("read the version of the server", "SELECT version()")
  private static let hasSchema = PostgresStatement(
    "look for the schema", "SELECT to_regnamespace('userstore') IS NOT NULL")
  private static let selectState = PostgresStatement(
    "read the layout",
    """
    SELECT m.layout::int8, m.min_client::int8, pg_has_role(s.nspowner, 'USAGE')
    FROM userstore.meta m JOIN pg_catalog.pg_namespace s ON s.oid = 'userstore'::regnamespace
    """)
  // Takes the number of the first migration, and the fingerprints of the later ones; one that is newer than these is not compared.
  // The first is not compared either: three other migrations may have made the same parts, which `check` compares.
  private static let selectEdited = PostgresStatement(
    "check the migrations",
    """
    SELECT number::int8 FROM userstore.migrations
    WHERE number > $1 AND fingerprint <> (string_to_array($2, ','))[number - $1] ORDER BY number LIMIT 1
    """, .int8, .text)
  private static let insertMigration = PostgresStatement(
    "record a migration",
    "INSERT INTO userstore.migrations (number, name, fingerprint) VALUES ($1::int8, $2, $3)", .int8, .text, .text)
  // Without a trigger, changes are not logged.
  private static let countTriggers = PostgresStatement(
    "check the triggers",
    """
    SELECT count(*) FROM pg_catalog.pg_trigger WHERE tgenabled = 'A' AND starts_with(tgname, 'A_userstore_')
      AND tgrelid IN ('userstore.users'::regclass, 'userstore.attributes'::regclass, 'userstore.changes'::regclass,
        'userstore.commits'::regclass)
    """)
  private static let triggers: Int64 = 11
  /// Makes processes that create the schema at the same time wait for each other.
  private static let lock = PostgresStatement("create the schema", "SELECT pg_advisory_xact_lock(8101830119125)")
  /// Only the owner can take this lock; the library's writers wait until the migration has ended.
  private static let lockWriters = PostgresStatement(
    "migrate the schema", "LOCK TABLE userstore.writers IN EXCLUSIVE MODE")
  // New objects belong to the owner, even if a superuser or a member of the owner's role migrates. While the migration waits for
  // another program's transaction, all others wait behind it, so it waits only briefly.
  private static let becomeOwner = PostgresStatement(
    "migrate the schema",
    """
    SELECT set_config('role', pg_get_userbyid(nspowner), true), set_config('lock_timeout', '200', true)
    FROM pg_catalog.pg_namespace WHERE oid = 'userstore'::regnamespace
    """)

  private struct State {
    let layout: Int64
    let oldestClient: Int64
    /// Whether the role has all rights of the schema's owner.
    let isOwner: Bool
  }

  /// Creates the schema if it is missing and `access` allows it, migrates it if the role owns it, and checks it.
  ///
  /// A store that only reads, or would have to wait for a long transaction, leaves the layout as it is; the next opened store
  /// tries again.
  static func prepare(_ connection: PostgresConnection, _ access: UserStore.Configuration.Access) throws(StoreError) {
    try checkServer(connection)
    // The address may allow a replica.
    if access != .readOnly, connection.isReplica { throw .replica() }
    if access == .createIfMissing, try !exists(on: connection) { try migrate(connection) }
    try require(connection)
    let found = try state(on: connection)
    if access != .readOnly, found.isOwner, found.layout < latest {
      do throws(StoreError) { try migrate(connection) } catch {
        guard error.code == .busy else { throw error }
      }
    }
    try checkMigrations(connection)
    try checkTriggers(connection)
  }

  static func require(_ connection: PostgresConnection) throws(StoreError) {
    if try !exists(on: connection) { throw StoreError(.notFound, "the database has no schema userstore") }
  }

  private static func exists(on connection: PostgresConnection) throws(StoreError) -> Bool {
    try connection.run(hasSchema).first { $0.bool(0) } == true
  }

  private static func checkServer(_ connection: PostgresConnection) throws(StoreError) {
    let version = try connection.run(selectVersion).first { $0.text(0) } ?? ""
    guard isPostgres(version), connection.serverVersion >= oldestServer else {
      throw StoreError(.unsupported, "the server is not PostgreSQL 15 or newer: \(version)")
    }
  }

  /// Other servers with the same protocol lack features that the log needs.
  static func isPostgres(_ version: String) -> Bool {
    version.hasPrefix("PostgreSQL ") && !version.contains("-YB-") && !version.contains("Cockroach")
  }

  /// Returns the layout; throws if it is too old, or newer and excludes clients that do not know it.
  private static func state(on connection: PostgresConnection) throws(StoreError) -> State {
    let found = try connection.run(selectState).first { row in
      State(layout: row.int8(0), oldestClient: row.int8(1), isOwner: row.bool(2))
    }
    guard let found else { throw PostgresSession.noMeta }
    guard found.oldestClient <= latest else {
      throw StoreError(
        .schemaTooNew, "the database has layout \(found.layout), which this version of the library does not know")
    }
    guard found.layout >= oldest else {
      throw StoreError(
        .schemaTooOld,
        "the database has layout \(found.layout); this version of the library migrates databases from layout \(oldest) on",
        hint: "export the users with the version of usertool that made the database, and import them into a new one")
    }
    return found
  }

  /// Applies the missing migrations in one transaction; of several processes that start at once, only one migrates.
  private static func migrate(_ connection: PostgresConnection) throws(StoreError) {
    do throws(StoreError) {
      try connection.run(.begin)
      try connection.run(lock)
      var layout: Int64 = 0
      if try exists(on: connection) {
        try connection.run(lockWriters)
        try connection.run(becomeOwner)
        // Another process may have migrated first.
        layout = try state(on: connection).layout
      }
      for migration in migrations where migration.number > layout {
        try connection.execute(migration.sql, to: "apply the migration \(migration.name)")
        try connection.run(
          insertMigration, .int8(migration.number), .text(migration.name), .text(migration.fingerprint))
      }
      try connection.run(.commit)
    } catch {
      if connection.transactionStatus != .idle { _ = try? connection.run(.rollback) }
      throw error
    }
  }

  /// Throws if a migration after the first was edited after it was applied.
  private static func checkMigrations(_ connection: PostgresConnection) throws(StoreError) {
    let known = migrations.dropFirst().map(\.fingerprint).joined(separator: ",")
    if let edited = try connection.run(selectEdited, .int8(oldest), .text(known)).first(make: { $0.int8(0) }) {
      throw StoreError(.schemaChanged, "migration \(edited) was edited after it was applied")
    }
  }

  private static func checkTriggers(_ connection: PostgresConnection) throws(StoreError) {
    guard try connection.run(countTriggers).first(make: { $0.int8(0) }) == triggers else {
      throw StoreError(
        .schemaChanged, "triggers of the log are missing or disabled: SELECT * FROM userstore.check() has the details")
    }
  }
}
