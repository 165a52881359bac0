import UserStore

/// The layout of the database: creates it, or checks that the library knows it.
enum PostgresSchema {
  /// The layout that this version of the library creates.
  private static let layout: Int32 = 1
  private static let oldestServer = 150_000

  private static let selectVersion = PostgresStatement("read the version of the server", "SELECT version()")
  private static let hasSchema = PostgresStatement(
    "look for the schema", "SELECT to_regnamespace('userstore') IS NOT NULL")
  private static let selectLayout = PostgresStatement(
    "read the layout", "SELECT layout, min_client FROM userstore.meta WHERE id = 1")
  // Without a trigger, changes are not logged.
  private static let countTriggers = PostgresStatement(
    "check the triggers",
    """
    SELECT count(*) FROM pg_catalog.pg_trigger WHERE tgenabled = 'A' AND starts_with(tgname, 'A_userstore_')
      AND tgrelid IN ('userstore.users'::regclass, 'userstore.attributes'::regclass, 'userstore.changes'::regclass,
        'userstore.commits'::regclass)
    """)
  private static let triggers: Int64 = 11
  /// Two processes that create the schema at the same time wait for each other.
  private static let lock = PostgresStatement("create the schema", "SELECT pg_advisory_xact_lock(8101830119125)")

  /// Creates the schema if there is none and `access` allows it, and checks it.
  static func prepare(_ connection: PostgresConnection, _ access: UserStore.Configuration.Access) throws(StoreError) {
    try checkServer(connection)
    // The address may allow a replica.
    if access != .readOnly, connection.isReplica { throw .replica() }
    if access == .createIfMissing, try !exists(on: connection) { try create(connection) }
    try require(connection)
    try check(connection)
  }

  /// Throws if the database has no schema.
  static func require(_ connection: PostgresConnection) throws(StoreError) {
    if try !exists(on: connection) { throw StoreError(.notFound, "the database has no schema userstore") }
  }

  private static func exists(on connection: PostgresConnection) throws(StoreError) -> Bool {
    try first(hasSchema, on: connection) { row throws(PostgresError) in try row.bool(0) } == true
  }

  private static func checkServer(_ connection: PostgresConnection) throws(StoreError) {
    let version = try first(selectVersion, on: connection) { row throws(PostgresError) in try row.text(0) } ?? ""
    guard isPostgres(version), connection.serverVersion >= oldestServer else {
      throw StoreError(.unsupported, "the server is not PostgreSQL 15 or newer: \(version)")
    }
  }

  /// Servers that speak the protocol but are not PostgreSQL lack some of what the log needs.
  static func isPostgres(_ version: String) -> Bool {
    version.hasPrefix("PostgreSQL ") && !version.contains("-YB-") && !version.contains("Cockroach")
  }

  private static func create(_ connection: PostgresConnection) throws(StoreError) {
    let sql = String(decoding: PackageResources.m0001_users_and_changes_sql, as: UTF8.self)
    do throws(PostgresError) {
      try connection.run(.begin)
      try connection.run(lock)
      // Another process may have been first.
      if try connection.run(hasSchema).first?.bool(0) == false { try connection.execute(sql, to: "create the schema") }
      try connection.run(.commit)
    } catch {
      if connection.transactionStatus != .idle { _ = try? connection.run(.rollback) }
      throw StoreError(error)
    }
  }

  private static func check(_ connection: PostgresConnection) throws(StoreError) {
    let found = try first(selectLayout, on: connection) { row throws(PostgresError) in
      (try row.int4(0), try row.int4(1))
    }
    guard let found else { throw PostgresSession.noMeta }
    guard found.1 <= layout else {
      throw StoreError(
        .schemaTooNew, "the database has layout \(found.0), which this version of the library does not know")
    }
    let count = try first(countTriggers, on: connection) { row throws(PostgresError) in try row.int8(0) }
    guard let count, count == triggers else {
      throw StoreError(
        .schemaChanged, "triggers of the log are missing or disabled: SELECT * FROM userstore.check() has the details")
    }
  }

  private static func first<Value>(
    _ statement: PostgresStatement, on connection: PostgresConnection,
    make: (PostgresRow) throws(PostgresError) -> Value
  ) throws(StoreError) -> Value? {
    do throws(PostgresError) {
      guard let row = try connection.run(statement).first else { return nil }
      return try make(row)
    } catch { throw StoreError(error) }
  }
}
