import CUserStoreSQLite

/// A connection to a database: the one owner of SQLite's handle, closed with it.
///
/// Used by one thread at a time; whoever owns it sees to that (it lies in a `Lock`, or belongs to one thread).
@safe struct Connection: ~Copyable, @unchecked Sendable {
  // Unchecked: SQLite's handle may move between threads as long as two do not use it at once
  // (sqlite.org/threadsafe.html, multi-thread mode), and a noncopyable value cannot be in two places.

  enum Access {
    case readWrite
    /// Its statements only read (`PRAGMA query_only`). It is opened read-write all the same, where the rights allow: only
    /// then can SQLite copy and remove the -wal file when this is the last connection to close.
    case queryOnly
  }

  let handle: OpaquePointer
  private let busyWait: BusyWait
  private let statements = StatementCache()
  private let rollback: Rollback
  /// What the hooks saw since the last `begin`.
  let hooks = HookRecord()
  private let file: FileConnections?

  /// Opens the database file at an absolute path that has no links in it, or a new database in memory.
  ///
  /// The file must exist: creating it, with its rights, comes before.
  ///
  /// - Parameters:
  ///   - path: The file; nil for memory.
  ///   - access: Whether its statements may write.
  ///   - busyTimeout: How long to wait for a lock of another connection, in milliseconds.
  ///   - file: Where it is counted; nil for one that belongs to no store.
  ///   - isInterruptible: Whether `FileConnections.interrupt` ends its statements and its waits.
  /// - Throws: `StoreError`; nothing stays open then.
  init(
    path: String?, access: Access, busyTimeout: Int32, of file: FileConnections? = nil, isInterruptible: Bool = true
  ) throws(StoreError) {
    busyWait = BusyWait(timeout: Int(busyTimeout), of: file, isInterruptible: isInterruptible)
    do { unsafe (handle, rollback) = try Self.open(path: path, access: access, busyWait) } catch {
      throw StoreError(error, path.map { "open \($0)" } ?? "make a database in memory")
    }
    self.file = file
    unsafe hooks.install(on: handle)
    unsafe file?.opened(handle, isInterruptible: isInterruptible)
  }

  deinit {
    let end = endInterrupts()
    if end?.leavesWAL == true { _ = unsafe userstore_db_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }
    rollback.finish()
    statements.finish()
    unsafe sqlite3_close_v2(handle)
    file?.didClose()
  }

  /// From here on nobody interrupts it: what is done on closing is not to be left half done.
  @discardableResult
  func endInterrupts() -> (leavesWAL: Bool, isInterrupted: Bool)? {
    busyWait.isInterruptible = false
    let end = unsafe file?.willClose(handle)
    // An interrupt that met no statement would end the next checkpoint; a step takes it back.
    if end?.isInterrupted == true { rollback.run() }
    return end
  }

  /// Runs a cached statement to its end.
  func run(_ query: Query, _ values: StoredValue...) throws(StoreError) {
    try withStatement(query, values) { statement throws(StoreError) in while try statement.step() {} }
  }

  /// The first row's values, made by `make`; nil without a row.
  func first<Result>(
    _ query: Query, _ values: StoredValue..., make: (borrowing Statement) -> Result
  ) throws(StoreError) -> Result? {
    try withStatement(query, values) { statement throws(StoreError) in try statement.step() ? make(statement) : nil }
  }

  /// Calls `body` with each row until it returns false.
  func each(_ query: Query, _ values: StoredValue..., while body: (borrowing Statement) -> Bool) throws(StoreError) {
    try withStatement(query, values) { statement throws(StoreError) in while try statement.step(), body(statement) {} }
  }

  /// Lends a cached statement with its parameters set; resets it afterwards.
  private func withStatement<Result>(
    _ query: Query, _ values: [StoredValue], _ body: (borrowing Statement) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let prepared = unsafe try statements.prepared(query, on: handle)
    let result: Result
    do throws(StoreError) {
      for (index, value) in values.enumerated() { try prepared.statement.bind(value, at: Int32(index + 1)) }
      result = try body(prepared.statement)
    } catch {
      try? prepared.statement.reset()
      throw error
    }
    try prepared.statement.reset()
    return result
  }

  /// Runs SQL once: setup and migrations, several statements allowed.
  ///
  /// - Parameters:
  ///   - sql: The statements.
  ///   - purpose: What they are for, for messages: “cannot PURPOSE: …”.
  /// - Throws: `StoreError`; the statements before the one that failed were run.
  func execute(_ sql: String, to purpose: String) throws(StoreError) {
    let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
    guard code == SQLITE_OK else { throw unsafe StoreError(SQLiteError(code, on: handle), purpose) }
  }

  /// Runs SQL once and calls `body` with each row.
  func rows(_ sql: String, to purpose: String, _ body: (borrowing Statement) -> Void) throws(StoreError) {
    let statement = unsafe try Statement(Query(once: purpose, sql), on: handle, isKept: false)
    while try statement.step() { body(statement) }
  }

  /// Whether it waits for locks of other connections, for as long as it was opened with, or not at all.
  func setWaiting(_ isWaiting: Bool) {
    busyWait.isWaiting = isWaiting
  }

  /// Waits where SQLite answers BUSY without asking the busy handler.
  ///
  /// - Parameter count: How many times the caller has waited for this lock.
  /// - Returns: false when it is to give up.
  func waits(after count: Int) -> Bool { busyWait.goesOn(after: count) }

  /// Whether a commit that begins the -wal file anew cuts off what lies behind it.
  func setShortensWAL(_ shortens: Bool) throws(StoreError) {
    try execute("PRAGMA journal_size_limit = \(shortens ? 0 : -1)", to: "write")
  }

  /// Writes every page of the database anew, so that nothing is left in unused parts of pages.
  ///
  /// For a connection that does nothing else: SQLite attaches another database meanwhile, in a temporary file.
  func vacuum() throws(StoreError) {
    unsafe sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1)
    try execute("PRAGMA temp_store = FILE; VACUUM", to: "rewrite the database")
  }

  /// A number as `random()` gives it in SQL.
  ///
  /// SQLite seeds its generator from the system; asking the system for each number costs a call of it.
  static func randomNumber() -> Int64 {
    var number: Int64 = 0
    unsafe sqlite3_randomness(Int32(MemoryLayout<Int64>.size), &number)
    return number
  }

  /// Whether a transaction is open: false also after SQLite ended one by itself.
  var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  /// Takes back the transaction that is open, if one is.
  func rollBack() {
    if isInTransaction { rollback.run() }
  }

  /// The rowid of the last INSERT that was not a trigger's.
  var lastInsertedRow: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

  /// How many rows the last statement changed, triggers not counted.
  var changedRows: Int { unsafe Int(sqlite3_changes64(handle)) }

  /// Whether the file could be opened only for reading, because it may not be written.
  var isReadOnly: Bool { unsafe sqlite3_db_readonly(handle, "main") == 1 }

  /// What kept the system from reading or writing the file the last time, if SQLite remembers it.
  var readError: SQLiteError? { SQLiteError.reading(on: unsafe handle) }

  /// Whether the file that is open lies no longer under its name: moved, deleted, or replaced.
  ///
  /// SQLite then still reports success for writes that nobody will ever see. Costs 1.1 µs.
  var hasMoved: Bool {
    var moved: Int32 = 0
    let code = unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
    return code == SQLITE_OK && moved != 0
  }

  /// Copies pages from the -wal file into the database file, as many as no reader needs.
  ///
  /// Only to be called on a second connection while the writer's connection holds BEGIN IMMEDIATE. A commit that
  /// lands inside a passive checkpoint makes the database malformed in SQLite 3.7.0 to 3.51.2 (the WAL-reset bug);
  /// the write lock keeps commits out.
  ///
  /// - Returns: how many pages the -wal file has, and how many of them are in the database now; nil when another checkpoint
  ///   was under way.
  @discardableResult
  func checkpoint() throws(StoreError) -> (pages: Int, copied: Int)? {
    var (pages, copied): (Int32, Int32) = (0, 0)
    let code = unsafe sqlite3_wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_PASSIVE, &pages, &copied)
    if code == SQLITE_OK { return (Int(pages), Int(copied)) }
    guard ResultCode(rawValue: code).primary == .busy else {
      throw unsafe StoreError(SQLiteError(code, on: handle), "copy the -wal file")
    }
    return nil
  }

  /// How many pages of the -wal file are not in the database yet; nil when that cannot be told, as in other journal modes.
  ///
  /// To be asked inside a transaction that has read.
  var uncopiedPages: Int? {
    var mode = ""
    try? rows("PRAGMA journal_mode", to: "read the journal mode") { mode = $0.text(0) }
    // In other modes the question itself would create a -shm file.
    guard mode == "wal" else { return nil }
    let pages = unsafe userstore_uncopied_pages(handle)
    return pages < 0 ? nil : Int(pages)
  }

  private static func open(
    path: String?, access: Access, _ busyWait: BusyWait
  ) throws(SQLiteError) -> (OpaquePointer, Rollback) {
    let place = path == nil ? SQLITE_OPEN_MEMORY : 0
    let mayWrite = access == .readWrite || isClean(path)
    let rights = mayWrite ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
    let flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_PRIVATECACHE
    var handle: OpaquePointer?
    let code = unsafe sqlite3_open_v2(path ?? ":memory:", &handle, place | rights | flags, nil)
    do throws(SQLiteError) {
      // The handle comes even with a failure, and then too must be closed.
      guard code == SQLITE_OK, let handle = unsafe handle else { throw SQLiteError(code, on: handle) }
      if let path, access == .readWrite { try unsafe checkWritable(handle, path) }
      unsafe busyWait.install(on: handle)
      try unsafe configure(handle, access)
      return unsafe (handle, try Rollback(on: handle))
    } catch {
      unsafe sqlite3_close_v2(handle)
      throw error
    }
  }

  /// Whether a read-only connection may let SQLite recover the files beside the database.
  ///
  /// Not with a rollback journal there, which our stores do not leave behind: it may belong to another database. Nor when
  /// the file has several names: there may be a -wal file for each, and copying one would undo the other.
  private static func isClean(_ path: String?) -> Bool {
    guard let path else { return true }
    return (try? Files.kind(of: path + "-journal")) == .missing && (try? Files.linkCount(of: path)) == 1
  }

  /// Whatever keeps SQLite from opening a file for writing, it opens it for reading then, and says nothing.
  ///
  /// That the right is missing is for the caller to say. Anything else was of the moment (no descriptors, a disk that did
  /// not answer), and this connection would never write.
  private static func checkWritable(_ handle: OpaquePointer, _ path: String) throws(SQLiteError) {
    guard unsafe sqlite3_db_readonly(handle, "main") == 1, Files.mayWrite(path) else { return }
    throw SQLiteError(code: .cannotOpen, message: "it may be written, but could be opened only for reading; try again")
  }

  private static func configure(_ handle: OpaquePointer, _ access: Access) throws(SQLiteError) {
    let flags = [
      (SQLITE_DBCONFIG_DEFENSIVE, 1), (SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0), (SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0),
      (SQLITE_DBCONFIG_DQS_DML, 0), (SQLITE_DBCONFIG_DQS_DDL, 0),
    ]
    for (option, value) in flags {
      let code = unsafe userstore_db_config_flag(handle, Int32(option), Int32(value))
      guard code == SQLITE_OK else { throw SQLiteError(code, on: handle) }
    }
    for (limit, value) in limits { unsafe sqlite3_limit(handle, limit, value) }
    // None of these looks at the file: whether that is a database at all is asked later, with its own words.
    // secure_delete: what is removed, forgotten or purged is overwritten. Debian's SQLite does so by itself, others do not.
    let pragmas = """
      PRAGMA recursive_triggers=ON; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; PRAGMA temp_store=MEMORY;
      PRAGMA secure_delete=ON; PRAGMA query_only=\(access == .queryOnly ? "ON" : "OFF")
      """
    let code = unsafe sqlite3_exec(handle, pragmas, nil, nil, nil)
    guard code == SQLITE_OK else { throw SQLiteError(code, on: handle) }
    // Apple's SQLite lets the -wal file stay when the last connection closes.
    var persists: Int32 = 0
    unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &persists)
  }

  /// What none of our statements needs, and a hostile schema might.
  ///
  /// Nothing that parsing a table of another program might need: SQLite would call the whole schema corrupt.
  private static var limits: [(Int32, Int32)] {
    [
      (SQLITE_LIMIT_ATTACHED, 0), (SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100), (SQLITE_LIMIT_TRIGGER_DEPTH, 10),
      (SQLITE_LIMIT_VARIABLE_NUMBER, 100), (SQLITE_LIMIT_WORKER_THREADS, 0),
    ]
  }
}
