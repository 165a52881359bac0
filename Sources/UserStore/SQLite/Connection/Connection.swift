import CUserStoreSQLite

/// A connection to a database: the only owner of SQLite's handle, which it closes when it is destroyed, unless it is borrowed.
///
/// One thread uses it at a time. Its owner ensures that: it is in a `Lock`, or belongs to one thread.
@safe struct Connection: ~Copyable, @unchecked Sendable {
  // Unchecked: SQLite's handle may move between threads as long as no two use it at once (sqlite.org/threadsafe.html,
  // multi-thread mode), and a noncopyable value is in one place.

  enum Access {
    case readWrite
    /// The statements only read (`PRAGMA query_only`). If permissions allow, the file is still opened read-write: otherwise
    /// SQLite cannot copy and remove the -wal file when this is the last connection to close.
    case queryOnly
  }

  /// Prepared when the connection is opened, because a rollback must not fail for lack of memory.
  private static let rollback = SQL("open the database", "ROLLBACK")

  let handle: OpaquePointer
  let busyWait: BusyWait
  let progress = Progress()
  private let statements: StatementCache
  /// What the hooks have reported since a write began.
  let hooks = HookRecord()
  private let file: FileConnections?
  /// Whether another library owns the handle: then it keeps its settings, and only the statements of this connection are finalized.
  let isBorrowed: Bool

  /// Borrows the handle of another library, for one transaction of it, and the statements that it keeps.
  init(borrowing handle: OpaquePointer, statements source: StatementCache.Source? = nil) {
    unsafe self.handle = handle
    statements = unsafe StatementCache(from: source)
    busyWait = BusyWait(timeout: 0, of: nil, isInterruptible: false)
    file = nil
    isBorrowed = true
  }

  /// Opens an existing database file at an absolute path without symbolic links, or creates a database in memory.
  ///
  /// `busyTimeout` is in milliseconds. `file` counts the connections of a store, and interrupts those that are interruptible.
  init(
    path: String?, access: Access, busyTimeout: Int32, of file: FileConnections? = nil, isInterruptible: Bool = true
  ) throws(StoreError) {
    statements = StatementCache()
    busyWait = BusyWait(timeout: Int(busyTimeout), of: file, isInterruptible: isInterruptible)
    unsafe handle = try Self.open(path: path, access: access, busyWait, statements)
    self.file = file
    isBorrowed = false
    unsafe hooks.install(on: handle)
    unsafe progress.install(on: handle)
    unsafe file?.opened(handle, isInterruptible: isInterruptible)
  }

  deinit {
    if isBorrowed { return finishStatements() }
    let end = endInterrupts()
    if end?.leavesWAL == true { _ = unsafe userstore_db_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }
    statements.finish()
    unsafe sqlite3_close_v2(handle)
    file?.didClose()
  }

  /// Makes the connection uninterruptible: closing must complete what it starts.
  @discardableResult
  func endInterrupts() -> (leavesWAL: Bool, isInterrupted: Bool)? {
    busyWait.isInterruptible = false
    let end = unsafe file?.willClose(handle)
    // An interrupt that ended no statement would end the next checkpoint. Running any statement clears it.
    if end?.isInterrupted == true { try? run(Self.rollback) }
    return end
  }

  /// Finalizes all statements: another library cannot close its handle while there are any.
  func finishStatements() { statements.finish() }

  /// Runs a cached statement to its end.
  func run(_ sql: SQL, _ values: StoredValue...) throws(StoreError) { try run(sql, values) }

  func run(_ sql: SQL, _ values: [StoredValue]) throws(StoreError) {
    try withStatement(sql, values) { statement throws(StoreError) in while try statement.step() {} }
  }

  func first<Result>(
    _ sql: SQL, _ values: StoredValue..., make: (borrowing Statement) throws(StoreError) -> Result
  ) throws(StoreError) -> Result? {
    try withStatement(sql, values) { statement throws(StoreError) in try statement.step() ? make(statement) : nil }
  }

  func all<Element>(
    _ sql: SQL, _ values: StoredValue..., make: (borrowing Statement) -> Element
  ) throws(StoreError) -> [Element] {
    try withStatement(sql, values) { statement throws(StoreError) in
      var elements: [Element] = []
      while try statement.step() { elements.append(make(statement)) }
      return elements
    }
  }

  func each(_ sql: SQL, _ values: StoredValue..., while body: (borrowing Statement) -> Bool) throws(StoreError) {
    try each(sql, values, while: body)
  }

  func each(_ sql: SQL, _ values: [StoredValue], while body: (borrowing Statement) -> Bool) throws(StoreError) {
    try withStatement(sql, values) { statement throws(StoreError) in while try statement.step(), body(statement) {} }
  }

  /// Calls `body` with a cached statement whose parameters are bound, and resets it afterwards.
  private func withStatement<Result>(
    _ sql: SQL, _ values: [StoredValue], _ body: (borrowing Statement) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    try progress.check()
    let prepared = unsafe try statements.prepared(sql, on: handle)
    let result: Result
    do throws(StoreError) {
      for (index, value) in values.enumerated() { try prepared.statement.bind(value, at: Int32(index + 1)) }
      result = try body(prepared.statement)
    } catch {
      try? prepared.statement.reset()
      hooks.noteFailure()
      throw error
    }
    try prepared.statement.reset()
    return result
  }

  /// Runs a query whose text is made when it is needed, and calls `body` with each row until it returns false.
  ///
  /// The statements of the last queries are kept.
  func query(
    _ sql: SQL, _ values: [StoredValue], while body: (borrowing Statement) -> Bool
  ) throws(StoreError) {
    try progress.check()
    let prepared = unsafe try statements.take(sql, on: handle)
    // A statement that fails is not kept, but finalized.
    for (index, value) in values.enumerated() { try prepared.statement.bind(value, at: Int32(index + 1)) }
    while try prepared.statement.step(), body(prepared.statement) {}
    try prepared.statement.reset()
    statements.keep(prepared, of: sql)
  }

  /// Runs one or more SQL statements once, for setup and migrations.
  ///
  /// If one fails, those before it remain run. `purpose` completes error messages: “cannot PURPOSE: …”.
  func execute(_ sql: String, to purpose: String) throws(StoreError) {
    let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else {
      hooks.noteFailure()
      throw unsafe StoreError(SQLiteError(code, on: handle), purpose)
    }
  }

  /// Runs `body`, and interrupts the statement that it is running when `shouldContinue` returns false.
  ///
  /// `shouldContinue` is called every few milliseconds. After an interrupt, the code is `closed`.
  func running<Result>(
    while shouldContinue: () -> Bool, _ body: () throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let result = withoutActuallyEscaping(shouldContinue) { shouldContinue -> Swift.Result<Result, StoreError> in
      unsafe progress.install(on: handle, asking: shouldContinue)
      defer { unsafe progress.install(on: handle) }
      do throws(StoreError) { return .success(try body()) } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// Runs SQL once and calls `body` with each row.
  func rows(_ sql: String, to purpose: String, _ body: (borrowing Statement) -> Void) throws(StoreError) {
    let statement = unsafe try Statement(SQL(once: purpose, sql), on: handle)
    while try statement.step() { body(statement) }
  }

  /// Rewrites the whole database, so that nothing deleted remains in unused parts of pages; needs a connection of its own,
  /// because SQLite attaches another database in a temporary file.
  func vacuum() throws(StoreError) {
    unsafe sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1)
    try execute("PRAGMA temp_store = FILE; VACUUM", to: "rewrite the database")
  }

  /// Returns a random number as SQL's `random()` does.
  ///
  /// SQLite seeds its generator from the system. Asking the system for each number would cost a system call.
  static func randomNumber() -> Int64 {
    var number: Int64 = 0
    unsafe sqlite3_randomness(Int32(MemoryLayout<Int64>.size), &number)
    return number
  }

  /// Whether a transaction is open; false also after SQLite rolled one back because of an error.
  var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  /// A number that changes with each commit, also one of this connection (SQLITE_FCNTL_DATA_VERSION,
  /// sqlite.org/c3ref/c_fcntl_begin_atomic_write.html).
  ///
  /// The connection notices the commits of others when a transaction runs its first statement. If the number is then what it was
  /// in or right after an earlier transaction, nothing was committed since. Unlike `PRAGMA data_version`, it takes no statement.
  var dataVersion: UInt32 {
    var version: UInt32 = 0
    _ = unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_DATA_VERSION, &version)
    return version
  }

  func rollBack() { if isInTransaction { try? run(Self.rollback) } }

  /// The rowid of the last INSERT, except those of triggers.
  var lastInsertedRow: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

  /// The number of rows that the last statement changed, except by triggers.
  var changedRows: Int { unsafe Int(sqlite3_changes64(handle)) }

  /// Whether SQLite opened the file read-only because the process may not write it.
  var isReadOnly: Bool { unsafe sqlite3_db_readonly(handle, "main") == 1 }

  /// Whether the open transaction has the write lock.
  var hasWriteLock: Bool { unsafe sqlite3_txn_state(handle, "main") == SQLITE_TXN_WRITE }

  /// Whether triggers run on this connection.
  var runsTriggers: Bool { unsafe userstore_db_config_value(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER) != 0 }

  /// Whether rows of the open transaction violate a foreign key, which would let COMMIT fail.
  var hasViolatedKeys: Bool {
    var (current, highest): (Int32, Int32) = (0, 0)
    let code = unsafe sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &highest, 0)
    return code == SQLITE_OK && current > 0
  }

  /// The path of the file; nil for a database in memory, or a temporary one.
  var path: String? {
    guard let name = unsafe sqlite3_db_filename(handle, "main") else { return nil }
    let path = unsafe String(cString: name)
    return path.isEmpty ? nil : path
  }

  /// The last error of the system in reading or writing the file, if SQLite recorded one.
  var readError: SQLiteError? { SQLiteError.lastFileError(on: unsafe handle) }

  /// The version of the SQLite library: 3040001 is 3.40.1.
  static var libraryVersion: Int { Int(sqlite3_libversion_number()) }

  /// Whether the open file was moved, deleted, or replaced: it is no longer at its path.
  ///
  /// SQLite still reports success for writes to it, which are lost. Takes 1.1 µs.
  var hasMoved: Bool {
    var moved: Int32 = 0
    let code = unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
    return code == SQLITE_OK && moved != 0
  }

  /// Copies those pages from the -wal file into the database file that no reader prevents from being copied.
  ///
  /// Call it on a second connection while the writer's connection holds BEGIN IMMEDIATE, which prevents commits: a commit
  /// during a passive checkpoint damages the database in SQLite 3.7.0 to 3.51.2 (the WAL-reset bug).
  ///
  /// - Returns: The number of pages in the -wal file, and how many of them are in the database now; nil if another checkpoint
  ///   was running.
  @discardableResult
  func checkpoint() throws(StoreError) -> (pages: Int, copied: Int)? {
    var (pages, copied): (Int32, Int32) = (0, 0)
    let code = unsafe sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_PASSIVE, &pages, &copied)
    if code == SQLITE_OK { return (Int(pages), Int(copied)) }
    if ResultCode(rawValue: code).primary == .busy { return nil }
    throw unsafe StoreError(SQLiteError(code, on: handle), "copy the -wal file")
  }

  /// The number of pages in the -wal file that are not in the database yet; nil if that is unknown, as in other journal modes.
  ///
  /// Needs a transaction that has read.
  var uncopiedPages: Int? {
    var mode = ""
    try? rows("PRAGMA journal_mode", to: "read the journal mode") { mode = $0.text(0) }
    // In other modes the call would create a -shm file.
    guard mode == "wal" else { return nil }
    let pages = unsafe userstore_uncopied_pages(handle)
    return pages < 0 ? nil : Int(pages)
  }

  // MARK: Opening

  private static func open(
    path: String?, access: Access, _ busyWait: BusyWait, _ statements: StatementCache
  ) throws(StoreError) -> OpaquePointer {
    let purpose = path.map { "open \($0)" } ?? "create a database in memory"
    let place = path == nil ? SQLITE_OPEN_MEMORY : 0
    let mayWrite = access == .readWrite || isClean(path)
    let rights = mayWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
    let flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_PRIVATECACHE
    var handle: OpaquePointer?
    let code = unsafe sqlite3_open_v2(path ?? ":memory:", &handle, place | rights | flags, nil)
    do throws(StoreError) {
      guard code == SQLITE_OK, let handle = unsafe handle else {
        throw StoreError(SQLiteError(code, on: handle), purpose)
      }
      if let path, access == .readWrite { try unsafe checkWritable(handle, path, purpose) }
      unsafe busyWait.install(on: handle)
      try unsafe configure(handle, access, purpose)
      _ = try unsafe statements.prepared(rollback, on: handle)
      return unsafe handle
    } catch {
      // SQLite returns a handle even if opening fails.
      unsafe sqlite3_close_v2(handle)
      throw error
    }
  }

  /// Whether a query-only connection may let SQLite recover the files next to the database.
  ///
  /// Not if there is a rollback journal: the library never leaves one behind, so it may belong to another database. Nor if the
  /// file has several names: each may have a -wal file, and copying one would undo the other.
  private static func isClean(_ path: String?) -> Bool {
    guard let path else { return true }
    return (try? Files.kind(of: path + "-journal")) == .missing && (try? Files.linkCount(of: path)) == 1
  }

  /// Throws if SQLite opened the file read-only although the process may write it.
  ///
  /// SQLite opens a file read-only for any reason that prevents writing, without an error. The caller reports a missing
  /// permission. Any other reason is temporary (no descriptors, a disk that did not answer), but this connection would never
  /// write.
  private static func checkWritable(_ handle: OpaquePointer, _ path: String, _ purpose: String) throws(StoreError) {
    guard unsafe sqlite3_db_readonly(handle, "main") == 1, Files.mayWrite(path) else { return }
    let message = "the file is writable, but could only be opened for reading; try again"
    throw StoreError(SQLiteError(code: .cannotOpen, message: message), purpose)
  }

  private static func configure(_ handle: OpaquePointer, _ access: Access, _ purpose: String) throws(StoreError) {
    let flags = [
      (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0), (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
      (SQLITE_DBCONFIG_DQS_DML, 0), (SQLITE_DBCONFIG_DQS_DDL, 0),
    ]
    for (option, value) in flags {
      let code = unsafe userstore_db_config_flag(handle, Int32(option), Int32(value))
      guard code == SQLITE_OK else { throw StoreError(SQLiteError(code, on: handle), purpose) }
    }
    for (limit, value) in limits { unsafe sqlite3_limit(handle, limit, value) }
    // None of these reads the file: an error that it is not a database comes later, with a message of its own.
    // secure_delete: deleted values are overwritten. Debian's SQLite does this by default, others do not.
    let pragmas = """
      PRAGMA recursive_triggers=ON; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY;
      PRAGMA secure_delete=ON; PRAGMA query_only=\(access == .queryOnly ? "ON" : "OFF")
      """
    let code = unsafe sqlite3_exec(handle, pragmas, nil, nil, nil)
    guard code == SQLITE_OK else { throw StoreError(SQLiteError(code, on: handle), purpose) }
    // Apple's SQLite keeps the -wal file when the last connection closes.
    var persists: Int32 = 0
    unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &persists)
  }

  /// Limits below which all of the library's statements stay, and which a hostile schema might exceed.
  ///
  /// None of them may apply to parsing the tables of another program: SQLite would report the whole schema as corrupt.
  private static let limits: [(Int32, Int32)] = [
    (SQLITE_LIMIT_ATTACHED, 0), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100), (SQLITE_LIMIT_TRIGGER_DEPTH, 10),
    // A query has two parameters for a value that a text starts with; a page has one for each sort key, and one for the id.
    (SQLITE_LIMIT_VARIABLE_NUMBER, Int32(2 * Limits.queryValues + Limits.sortKeys + 2)),
    (SQLITE_LIMIT_WORKER_THREADS, 0),
  ]
}
