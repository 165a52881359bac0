/// A file that is restored into a store: checked, and read in one transaction.
///
/// Copied row by row and not page by page: sqlite3_backup into a WAL database needs equal page sizes, and commits without the
/// new epoch. Not by ATTACH either, which would add the file's schema to the writer's connection.
final class Restore: EngineRestore {
  private let source: SQLiteSession
  /// The folder of the repaired copy, if the file needed one.
  private let temporaryFolder: String?

  private static let copyName = "/copy.db"

  /// Opens a store of this version or an older one, which may be in use, and checks its schema before any row, then every page.
  init(
    _ path: String, into store: DatabaseFile?, ignoringProblems: Bool, busyTimeout: Duration,
    while shouldContinue: () -> Bool
  ) throws(StoreError) {
    var configuration = Configuration()
    (configuration.access, configuration.busyTimeout) = (.readOnly, busyTimeout)
    let file = try DatabaseFile(path, configuration)
    if let store, file.identity == store.identity { throw StoreError(.cannotOpen, "\(path) is the store itself") }
    var connection = try Self.begin(file.open(.queryOnly))
    var folder: String?
    do throws(StoreError) {
      do throws(StoreError) { try Schema.check(connection) } catch {
        guard error.code == .schemaTooOld || error.code == .logIncomplete else { throw error }
        do { folder = try Files.createTemporaryFolder() } catch { throw StoreError(error, otherwise: .cannotCreate) }
        connection = try Self.begin(Self.repaired(connection, in: folder! + Self.copyName, while: shouldContinue))
      }
      try connection.running(while: shouldContinue) { () throws(StoreError) in
        try StoreCheck.requireSoundness(connection, ignoringProblems)
      }
    } catch {
      Self.removeTemporary(folder)
      throw StoreError(error.code, "\(path) cannot be restored: \(error.message)", cause: error)
    }
    source = SQLiteSession(connection)
    temporaryFolder = folder
  }

  deinit { Self.removeTemporary(temporaryFolder) }

  private static func begin(_ connection: consuming Connection) throws(StoreError) -> Connection {
    // Sorting a log of millions of rows must not take as much memory.
    try connection.execute("PRAGMA temp_store = FILE; BEGIN", to: "read the backup")
    return connection
  }

  /// Returns a copy with the current schema; the file itself is not changed.
  private static func repaired(
    _ connection: borrowing Connection, in path: String, while shouldContinue: () -> Bool
  ) throws(StoreError) -> Connection {
    try DatabasePath.checkLength(of: path, .cannotCreate)
    do { try Files.createNew(path) } catch { throw StoreError(error, otherwise: .cannotCreate) }
    let purpose = "copy the backup"
    let copy = try Connection(path: path, access: .readWrite, busyTimeout: 0)
    try connection.copyPages(to: copy, for: purpose) { _, _ in shouldContinue() }
    try copy.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF", to: purpose)
    try Schema.prepare(copy, isFile: false, creates: false, pageSize: 0)
    return copy
  }

  private static func removeTemporary(_ folder: String?) {
    guard let folder else { return }
    for addition in [""] + DatabasePath.additions { Files.remove(folder + copyName + addition) }
    Files.remove(folder)
  }

  // MARK: Copying

  /// Each table with its columns; the first is the key in whose order rows are copied.
  private static let tables = [
    (name: "users", columns: ["id", "name", "hair_color"]),
    (name: "attributes", columns: ["rowid", "user_id", "name", "value"]),
    (name: "changes", columns: ["seq", "op", "user", "attribute", "old", "new", "nonce", "at"]),
  ]

  /// Replaces the records and the log of the writer's session with the file's, in its open transaction.
  ///
  /// The log keeps its revisions under a new epoch, so that no cursor of either log is valid in it. Triggers are off: they
  /// would log every row as removed and added. An id that was assigned in either of the two is not assigned again.
  func replace(
    on session: any Session, while shouldContinue: () -> Bool, progress: (Double) -> Void
  ) throws(StoreError) {
    let target = SQLiteSession.own(session)
    if try SchemaPart.replica.exists(on: target.connection) { throw target.isReplica }
    // Otherwise, removing all users would remove the rows of other tables that refer to them.
    try target.restartWithoutKeys()
    try target.connection.running(while: shouldContinue) { () throws(StoreError) in
      try copy(to: target, progress: progress)
    }
  }

  private func copy(to target: SQLiteSession, progress: (Double) -> Void) throws(StoreError) {
    let purpose = "restore"
    let horizon = try source.horizon()
    var (copied, total) = (0, 0)
    for (table, _) in Self.tables {
      try source.connection.rows("SELECT count(*) FROM \(table)", to: purpose) { total += Int($0.integer(0)) }
    }
    try target.connection.setTriggers(false)
    defer { try? target.connection.setTriggers(true) }
    try target.connection.execute("DELETE FROM displaced_users; DELETE FROM displaced_attributes", to: purpose)
    for (table, columns) in Self.tables {
      let names = columns.joined(separator: ", ")
      let parameters = columns.map { _ in "?" }.joined(separator: ", ")
      try target.connection.execute("DELETE FROM \(table)", to: purpose)
      try target.connection.insertRows(
        "INSERT INTO \(table) (\(names)) VALUES (\(parameters))",
        of: "SELECT \(names) FROM \(table) ORDER BY \(columns[0])", columns: Int32(columns.count),
        from: source.connection
      ) {
        copied += 1
        if copied % 1_000 == 0 || copied == total { progress(Double(copied) / Double(total)) }
      }
    }
    for index in try target.indexes() where index.isUnique { try index.requireNoDuplicates(target.eachDuplicate) }
    try OwnTables.requireKeys(on: target.connection)
    try keepIDs(in: target)
    try target.connection.execute(
      """
      UPDATE meta SET epoch = random(), horizon = \(horizon.revision), horizon_nonce = \(horizon.nonce),
        measured = 0, bytes = 0, searched = 0, sized = 0, size = 0
      WHERE id = 1
      """, to: purpose)
    try copyServer(to: target)
    try target.noteReplacedLog()
  }

  /// The server of the backup goes on: its replicas copy.
  ///
  /// What was purged after the backup stays purged for them. What was decided after it is not, because the records do not contain it.
  private func copyServer(to target: SQLiteSession) throws(StoreError) {
    if try SchemaPart.decisions.exists(on: target.connection) {
      try target.connection.execute("DELETE FROM userstore_decisions; DELETE FROM userstore_producers", to: "restore")
    }
    if try SchemaPart.decisions.exists(on: source.connection) {
      try target.keepDecisions()
      try copyAll("userstore_decisions", ["nonce", "producer", "number", "result", "detail", "at"], to: target)
      try copyAll("userstore_producers", ["producer", "forgotten"], to: target)
    }
    guard try SchemaPart.server.exists(on: source.connection) else { return }
    _ = try SchemaPart.server.create(on: target.connection)
    try target.connection.execute("DELETE FROM userstore_server", to: "restore")
    try copyAll("userstore_server", ["id", "identity"], to: target)
    try copyAll("userstore_purged", ["user"], to: target)
  }

  private func copyAll(_ table: String, _ columns: [String], to target: SQLiteSession) throws(StoreError) {
    let (names, parameters) = (columns.joined(separator: ", "), columns.map { _ in "?" }.joined(separator: ", "))
    try target.connection.insertRows(
      "INSERT OR IGNORE INTO \(table) (\(names)) VALUES (\(parameters))", of: "SELECT \(names) FROM \(table)",
      columns: Int32(columns.count), from: source.connection
    ) {}
  }

  private func keepIDs(in target: SQLiteSession) throws(StoreError) {
    let sql = "SELECT seq FROM sqlite_sequence WHERE name = 'users'"
    var last: Int64 = 0
    for session in [source, target] {
      try session.connection.rows(sql, to: "restore") { last = max(last, $0.integer(0)) }
    }
    try target.connection.execute(
      """
      DELETE FROM sqlite_sequence WHERE name = 'users';
      INSERT INTO sqlite_sequence (name, seq) VALUES ('users', \(last))
      """, to: "restore")
  }
}

extension StoreCheck {
  /// Checks what a restore needs: undamaged pages, a valid log, no attributes without users.
  ///
  /// A log that contradicts the records, and values that cannot be decoded, may be ignored: the file may be all that is left.
  fileprivate static func requireSoundness(
    _ connection: borrowing Connection, _ ignoringProblems: Bool
  ) throws(StoreError) {
    try requireIntegrity(connection)
    var check = StoreCheck()
    try check.checkRows(of: connection)
    try check.checkOrphans(of: connection)
    try check.requireNone()
    if !ignoringProblems { try requireNoProblems(connection) }
  }
}
