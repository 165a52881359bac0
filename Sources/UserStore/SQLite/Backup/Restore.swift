/// A file whose records are to become a store's: checked, and held in one state until they were copied.
///
/// Row by row, and not page by page: sqlite3_backup into a WAL database wants equal page sizes and commits by itself,
/// without the new epoch; and not by ATTACH, which would let the file's schema into the writer's connection.
final class Restore: EngineRestore {
  private let source: SQLiteSession
  /// Where a file that had to be mended before was copied to.
  private let temporaryFolder: String?

  private static let copyName = "/copy.db"

  /// Opens the file and looks at it: its schema before any row, then every page.
  ///
  /// - Parameters:
  ///   - path: The file, a store of this version or an older one; it may be in use.
  ///   - store: Where it is to go, if that is a file.
  ///   - ignoringProblems: Whether the log may not tell the records, and values may not decode.
  ///   - busyTimeout: How long to wait for whoever writes to the file.
  /// - Throws: `StoreError`, the codes under “Opening”, `.corrupt`, and `.problemsFound`.
  init(
    _ path: String, into store: DatabaseFile?, ignoringProblems: Bool, busyTimeout: Duration
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
        folder = try Self.temporaryFolder()
        connection = try Self.begin(Self.mended(connection, in: folder! + Self.copyName))
      }
      try StoreCheck.requireSoundness(connection, ignoringProblems)
    } catch {
      Self.removeTemporary(folder)
      throw StoreError(error.code, "\(path) cannot be restored: \(error.message)", cause: error)
    }
    source = SQLiteSession(connection)
    temporaryFolder = folder
  }

  deinit {
    Self.removeTemporary(temporaryFolder)
  }

  private static func begin(_ connection: consuming Connection) throws(StoreError) -> Connection {
    // Sorting a log of millions must not take memory of its size.
    try connection.execute("PRAGMA temp_store = FILE; BEGIN", to: "read the backup")
    return connection
  }

  // MARK: What an older version wrote

  /// A copy that is brought to the present schema: the file itself is left as it is.
  private static func mended(_ connection: borrowing Connection, in path: String) throws(StoreError) -> Connection {
    do { try Files.createNew(path) } catch { throw StoreError(error, otherwise: .cannotCreate) }
    let purpose = "copy the backup"
    let copy = try Connection(path: path, access: .readWrite, busyTimeout: 0)
    try connection.copyPages(to: copy, for: purpose) { _, _ in true }
    try copy.execute("PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF", to: purpose)
    try Schema.prepare(copy, isFile: false, creates: false, pageSize: 0)
    return copy
  }

  private static func temporaryFolder() throws(StoreError) -> String {
    do { return try Files.createTemporaryFolder() } catch { throw StoreError(error, otherwise: .cannotCreate) }
  }

  private static func removeTemporary(_ folder: String?) {
    guard let folder else { return }
    for end in ["", "-journal", "-wal", "-shm"] { Files.remove(folder + copyName + end) }
    Files.remove(folder)
  }

  // MARK: Copying

  /// Each table with its columns; the key, by which it is read and written, comes first.
  private static let tables = [
    (name: "users", columns: ["id", "name", "hair_color"]),
    (name: "attributes", columns: ["rowid", "user_id", "name", "value"]),
    (name: "changes", columns: ["seq", "op", "user", "attribute", "old", "new", "nonce", "at"]),
  ]

  /// Puts the file's records and log into the place of the connection's, in its open transaction.
  ///
  /// The log comes along with its numbers, under a new epoch: no cursor of either log goes on in it. Without triggers,
  /// which would log each row as an addition and a removal. Ids that either of the two has given are not given again.
  ///
  /// - Parameters:
  ///   - session: The writer's.
  ///   - progress: Gets the part of the rows that was copied.
  /// - Throws: what reading and writing can throw.
  func replace(on session: any Session, progress: (Double) -> Void) throws(StoreError) {
    let target = SQLiteSession.own(session)
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
    try keepIDs(in: target)
    try target.connection.execute(
      """
      UPDATE meta SET epoch = random(), horizon = \(horizon.revision), horizon_nonce = \(horizon.nonce),
        measured = 0, bytes = 0, searched = 0, sized = 0, size = 0
      WHERE id = 1
      """, to: purpose)
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
  /// What a store must be to take the place of another one: whole pages, a log that can be, attributes that have users.
  ///
  /// Who has nothing but this file wants it back although its log does not tell its rows, or some values do not decode;
  /// but he is to know.
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
