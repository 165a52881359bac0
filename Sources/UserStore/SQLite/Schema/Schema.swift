/// Creates, migrates and verifies the schema of a database.
enum Schema {
  /// “UsSt”: distinguishes our files from those of other programs (sqlite.org/pragma.html#pragma_application_id).
  static let applicationID: Int64 = 0x5573_5374

  /// Creates, migrates or repairs the schema as needed, and verifies it.
  ///
  /// `isFile` switches the database to WAL; `creates` lets an empty file become a store, with pages of `pageSize` bytes.
  static func prepare(
    _ connection: borrowing Connection, isFile: Bool, creates: Bool, pageSize: Int
  ) throws(StoreError) {
    let version = try checkedVersion(connection, mayBeEmpty: creates)
    if (version ?? 0) < Migration.latest { try migrate(connection, pageSize: pageSize) }
    if isFile { try switchToWAL(connection) }
    let (_, check) = try inspect(connection)
    try check.requireHarmlessRemoval(on: connection)
    if check.needsRepair {
      try inTransaction("BEGIN IMMEDIATE", connection) { connection throws(StoreError) in
        // Checked again: another process may have repaired them.
        try inspect(connection).check.repair(connection)
      }
    }
  }

  static func check(_ connection: borrowing Connection) throws(StoreError) {
    let (version, check) = try inspect(connection)
    let broken = check.brokenTriggers
    if version < Migration.latest {
      throw StoreError(.schemaTooOld, "the database has schema version \(version), and must be opened for writing once")
    }
    if !broken.isEmpty {
      throw StoreError(
        .logIncomplete,
        "triggers of the log are missing or changed (\(broken.joined(separator: ", "))); opening the store for writing repairs them"
      )
    }
  }

  /// Returns the schema version of the file, and what is missing or changed in its schema; throws `schemaChanged` for a difference
  /// that cannot be repaired.
  ///
  /// Before any row is read: a table of another program may compute its content.
  static func inspect(
    _ connection: borrowing Connection
  ) throws(StoreError) -> (version: Int64, check: SchemaCheck) {
    try inSnapshot(connection) { connection throws(StoreError) in
      let version = try checkedVersion(connection, mayBeEmpty: false) ?? 0
      return (version, try checkVersion(version, connection))
    }
  }

  /// Runs `body` in one transaction: between two statements, another process may create the store, or a part of its schema.
  private static func inSnapshot<Value>(
    _ connection: borrowing Connection, _ body: (borrowing Connection) throws(StoreError) -> Value
  ) throws(StoreError) -> Value {
    if connection.isInTransaction { return try body(connection) }
    try connection.execute("BEGIN", to: "open the database")
    defer { connection.rollBack() }
    return try body(connection)
  }

  /// Returns the schema version; nil for an empty database, which is refused unless `mayBeEmpty`.
  static func checkedVersion(_ connection: borrowing Connection, mayBeEmpty: Bool) throws(StoreError) -> Int64? {
    var (mark, version, objects, isUTF8): (Int64, Int64, Int64, Bool) = (0, 0, 0, true)
    let purpose = "open the database"
    do throws(StoreError) {
      try inSnapshot(connection) { connection throws(StoreError) in
        try connection.rows("PRAGMA application_id", to: purpose) { mark = $0.integer(0) }
        try connection.rows("PRAGMA user_version", to: purpose) { version = $0.integer(0) }
        try connection.rows("PRAGMA encoding", to: purpose) { isUTF8 = $0.text(0) == "UTF-8" }
        try connection.rows("SELECT count(*) FROM sqlite_schema", to: purpose) { objects = $0.integer(0) }
      }
    } catch {
      // Only here is SQLite's general error a format that it does not support: a newer one, or damage.
      if let cause = error.cause as? SQLiteError, cause.code.primary == .error {
        throw StoreError(.notADatabase, error.message, cause: cause)
      }
      throw error
    }
    if mark == 0, version == 0, objects == 0 {
      if mayBeEmpty { return nil }
      throw StoreError(.notFound, "the file is empty: no store has been created in it")
    }
    guard mark == applicationID else {
      if mark == 0, version == 0, try isCopy(connection) {
        throw StoreError(
          .needsAdoption,
          "the file has the tables of a store, but not its mark: it is a copy, such as .dump and .clone of the sqlite3 shell make",
          hint: "usertool init --adopt takes it over")
      }
      throw StoreError(.notAUserStore, "the file is a database of another program")
    }
    guard version <= Migration.newest else {
      throw StoreError(
        .schemaTooNew,
        "a newer version wrote the database (schema version \(version); this one supports \(Migration.newest))")
    }
    // SQLite would compare text by its bytes in UTF-16, and not in the order of lists in memory.
    guard isUTF8 else { throw StoreError(.cannotOpen, "the database stores text in UTF-16, not in UTF-8") }
    return version
  }

  /// Applies all missing migrations in one exclusive transaction: of several processes that start at once, one migrates.
  private static func migrate(_ connection: borrowing Connection, pageSize: Int) throws(StoreError) {
    try connection.execute("PRAGMA page_size = \(pageSize)", to: "create the store")
    try inTransaction("BEGIN EXCLUSIVE", connection) { connection throws(StoreError) in
      let version = try checkedVersion(connection, mayBeEmpty: true)
      if let version, version < Migration.latest {
        // A migration runs only on what the earlier ones created: writing to a changed table could run foreign code.
        try checkVersion(version, connection).repair(connection)
      }
      for migration in Migration.all where migration.number > version ?? 0 {
        let purpose = "apply migration \(migration.number)"
        try connection.execute(migration.sql, to: purpose)
        try connection.execute(
          """
          INSERT INTO migrations (number, name, fingerprint)
          VALUES (\(migration.number), '\(migration.name)', '\(migration.fingerprint)');
          PRAGMA user_version = \(migration.number);
          PRAGMA application_id = \(applicationID)
          """, to: purpose)
      }
    }
  }

  static func checkVersion(
    _ version: Int64, _ connection: borrowing Connection
  ) throws(StoreError) -> SchemaCheck {
    guard version > 0 else { throw StoreError(.schemaChanged, "the schema version \(version) is invalid") }
    guard version >= Migration.oldest else { throw tooOld(version) }
    let check = try SchemaCheck(connection, version: version)
    try checkMigrations(connection, through: version, check.parts)
    return check
  }

  private static func tooOld(_ version: Int64) -> StoreError {
    StoreError(
      .schemaTooOld,
      "the database has schema version \(version); this library migrates files from version \(Migration.oldest) on",
      hint: "export the users with the version of usertool that made the file, and import them into a new one")
  }

  /// Checks that the migrations that the file has recorded are those that are compiled in.
  private static func checkMigrations(
    _ connection: borrowing Connection, through version: Int64, _ parts: Set<SchemaPart>
  ) throws(StoreError) {
    var applied: [Int64: String] = [:]
    try connection.rows("SELECT number, fingerprint FROM migrations LIMIT 10000", to: "read the migrations") {
      applied[$0.integer(0)] = $0.text(1)
    }
    // Five migrations have made the oldest version, or one: the check of the schema covers them.
    applied = applied.filter { $0.key > Migration.oldest || $0.key < 0 }
    let expected = Migration.all.filter { $0.number <= version && $0.number > Migration.oldest }
    for migration in expected + parts.map(\.migration) {
      switch applied.removeValue(forKey: migration.number) {
      case migration.fingerprint: continue
      case nil: throw StoreError(.schemaChanged, "migration \(migration.number) is missing")
      default: throw StoreError(.schemaChanged, "migration \(migration.number) was edited after it was applied")
      }
    }
    if let number = applied.keys.min() { throw StoreError(.schemaChanged, "migration \(number) is unknown") }
  }

  /// Switches the database to WAL.
  ///
  /// SQLite fails with BUSY here without calling the busy handler, so that several processes that create a store at once need a
  /// loop: 141 of 1,200 failed without it.
  private static func switchToWAL(_ connection: borrowing Connection) throws(StoreError) {
    var count = 0
    while true {
      let purpose = "switch the database to WAL"
      do throws(StoreError) {
        var mode = ""
        try connection.rows("PRAGMA journal_mode = WAL", to: purpose) { mode = $0.text(0) }
        if mode == "wal" { return }
        throw StoreError(
          SQLiteError(code: .cannotOpen, message: "this file system does not support WAL"), purpose)
      } catch {
        guard error.isWorthRetrying, connection.busyWait.waits(after: count) else { throw error }
        count += 1
      }
    }
  }

  private static func inTransaction(
    _ begin: String, _ connection: borrowing Connection, _ body: (borrowing Connection) throws(StoreError) -> Void
  ) throws(StoreError) {
    try connection.execute(begin, to: "prepare the store")
    do {
      try body(connection)
      try connection.execute("COMMIT", to: "prepare the store")
    } catch {
      connection.rollBack()
      throw error
    }
  }
}
