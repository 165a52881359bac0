/// Brings a database to the schema of this library, or says why it will not.
enum Schema {
  /// “UsSt”: tells our files from those of other programs (sqlite.org/pragma.html#pragma_application_id).
  static let applicationID: Int64 = 0x5573_5374

  private struct Header {
    var applicationID: Int64 = 0
    var version: Int64 = 0
    var objects: Int64 = 0

    /// No file of anybody's yet.
    var isEmpty: Bool { applicationID == 0 && version == 0 && objects == 0 }
  }

  /// Creates or migrates what must be, and checks what is there.
  ///
  /// - Parameters:
  ///   - connection: One that may write.
  ///   - isFile: Whether WAL is wanted.
  ///   - creates: Whether an empty file may become a store.
  ///   - pageSize: For a new file, in bytes.
  /// - Throws: `StoreError`, the codes under “Opening”.
  static func prepare(
    _ connection: borrowing Connection, isFile: Bool, creates: Bool, pageSize: Int
  ) throws(StoreError) {
    let header = try checkedHeader(connection)
    if header.isEmpty, !creates { throw StoreError(.notFound, "the file is empty: no store was created in it yet") }
    if header.version < Migration.latest { try migrate(connection, pageSize: pageSize) }
    if isFile { try switchToWAL(connection) }
    // Before any row is read: a table that is not ours may compute what it shows.
    let check = try SchemaCheck(connection)
    try checkMigrations(connection, through: Migration.latest)
    if !check.brokenTriggers.isEmpty {
      try inTransaction("BEGIN IMMEDIATE", connection) { connection throws(StoreError) in
        // Again, now that nobody else can mend it.
        let check = try SchemaCheck(connection)
        if !check.brokenTriggers.isEmpty { try check.repair(connection) }
      }
    }
  }

  /// Checks what is there, without writing.
  static func check(_ connection: borrowing Connection) throws(StoreError) {
    let (version, broken) = try inspect(connection)
    if version < Migration.latest {
      throw StoreError(.schemaTooOld, "the database has schema \(version), and must be opened for writing once")
    }
    if !broken.isEmpty {
      throw StoreError(
        .logIncomplete,
        "triggers of the log are missing or changed (\(broken.joined(separator: ", "))); opening the store for writing mends it"
      )
    }
  }

  /// Which version of the schema the file has, and which of its triggers are missing or changed.
  ///
  /// - Throws: `StoreError.Code.schemaChanged` for anything else that is not as it should be.
  static func inspect(
    _ connection: borrowing Connection
  ) throws(StoreError) -> (version: Int64, brokenTriggers: [String]) {
    let header = try checkedHeader(connection)
    if header.isEmpty { throw StoreError(.notFound, "the file is empty: no store was created in it yet") }
    let broken = try checkVersion(header.version, connection).brokenTriggers
    return (header.version, broken)
  }

  private static func checkedHeader(_ connection: borrowing Connection) throws(StoreError) -> Header {
    var header = Header()
    let purpose = "open the database"
    do throws(StoreError) {
      // In one transaction: between two statements somebody else may create the store.
      let isInner = connection.isInTransaction
      if !isInner { try connection.execute("BEGIN", to: purpose) }
      defer { if !isInner { connection.rollBack() } }
      try connection.rows("PRAGMA application_id", to: purpose) { header.applicationID = $0.integer(0) }
      try connection.rows("PRAGMA user_version", to: purpose) { header.version = $0.integer(0) }
      try connection.rows("SELECT count(*) FROM sqlite_schema", to: purpose) { header.objects = $0.integer(0) }
    } catch {
      // With none of its own codes SQLite says only here that it does not know the format: a newer one, or damage.
      if let cause = error.cause as? SQLiteError, cause.code.primary == .error {
        throw StoreError(.notADatabase, error.message, cause: cause)
      }
      throw error
    }
    if header.isEmpty { return header }
    guard header.applicationID == applicationID else {
      throw StoreError(.notAUserStore, "the file is a database of another program")
    }
    guard header.version <= Migration.latest else {
      throw StoreError(
        .schemaTooNew,
        "a newer version wrote the database (schema \(header.version); this one knows \(Migration.latest))")
    }
    return header
  }

  /// All that is missing, in one exclusive transaction: of several processes that come at once, one migrates.
  private static func migrate(_ connection: borrowing Connection, pageSize: Int) throws(StoreError) {
    try connection.execute("PRAGMA page_size = \(pageSize)", to: "create the store")
    try inTransaction("BEGIN EXCLUSIVE", connection) { connection throws(StoreError) in
      let header = try checkedHeader(connection)
      if !header.isEmpty, header.version < Migration.latest { try checkBeforeMigrating(header.version, connection) }
      for migration in Migration.all where migration.number > header.version {
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

  /// A migration runs on what its predecessors made, and on nothing else: writing into somebody else's table may run
  /// what he put there.
  private static func checkBeforeMigrating(_ version: Int64, _ connection: borrowing Connection) throws(StoreError) {
    let check = try checkVersion(version, connection)
    if !check.brokenTriggers.isEmpty { try check.repair(connection) }
  }

  private static func checkVersion(
    _ version: Int64, _ connection: borrowing Connection
  ) throws(StoreError) -> SchemaCheck {
    guard version > 0 else { throw StoreError(.schemaChanged, "the database says that it has schema \(version)") }
    let check = try SchemaCheck(connection, version: version)
    try checkMigrations(connection, through: version)
    return check
  }

  /// The file says which migrations made it, and those must be the ones that are compiled in.
  private static func checkMigrations(
    _ connection: borrowing Connection, through version: Int64
  ) throws(StoreError) {
    var applied: [Int64: String] = [:]
    try connection.rows("SELECT number, fingerprint FROM migrations LIMIT 10000", to: "read the migrations") {
      applied[$0.integer(0)] = $0.text(1)
    }
    for migration in Migration.all where migration.number <= version {
      switch applied.removeValue(forKey: migration.number) {
      case migration.fingerprint: continue
      case nil: throw StoreError(.schemaChanged, "migration \(migration.number) was left out")
      default: throw StoreError(.schemaChanged, "migration \(migration.number) was edited after it was applied")
      }
    }
    if let number = applied.keys.min() { throw StoreError(.schemaChanged, "nobody knows migration \(number)") }
  }

  /// SQLite answers BUSY here without asking the busy handler, so several first opens at once need a loop:
  /// 141 of 1,200 failed without it.
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
        // Another busy answer comes after ten seconds of SQLite's own, and is final.
        guard (error.cause as? SQLiteError)?.code.primary == .busy, connection.waits(after: count) else { throw error }
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
