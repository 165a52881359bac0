/// A store in an SQLite file, or in an SQLite database in memory.
final class SQLiteEngine: Engine, FileOperations {
  let readers: SessionPool
  let writers: SessionPool?
  /// After a commit, SQLite empties the caches of all other connections.
  var warm: SessionPool? { writers }
  /// nil in memory.
  let file: DatabaseFile?
  /// nil in memory, and for a read-only store.
  let checkpoints: Checkpoints?
  private let first: FirstSession
  /// nil in memory.
  let borrowed: BorrowedSessions?

  /// Opens a file; throws the codes under “Opening”.
  init(_ file: DatabaseFile) throws(StoreError) {
    self.file = file
    borrowed = BorrowedSessions(of: file)
    let configuration = file.configuration
    let first = FirstSession(SQLiteSession(try file.openChecked(), file: file))
    self.first = first
    readers = SessionPool(limit: Self.readerLimit, reserve: 1) { () throws(StoreError) in
      guard let session = first.take() else { return SQLiteSession(try file.open(.queryOnly), file: file) }
      try session.connection.execute("PRAGMA query_only = ON", to: "open \(file.path)")
      return session
    }
    if configuration.access == .readOnly {
      (writers, checkpoints) = (nil, nil)
      return
    }
    let checkpoints = Checkpoints(
      pool: SessionPool(limit: 1) { () throws(StoreError) in SQLiteSession(try file.openCheckpointer()) },
      unsynced: configuration.durability == .normal ? WALFile(path: file.walPath) : nil,
      patience: configuration.readerPatience)
    self.checkpoints = checkpoints
    writers = SessionPool(limit: 1) { () throws(StoreError) in
      let session = if let session = first.take() { session } else { SQLiteSession(try file.openWriter(), file: file) }
      try session.prepareToWrite(configuration.durability, checkpoints)
      return session
    }
  }

  /// Creates a database in memory, whose one connection reads and writes.
  init(inMemory configuration: Configuration) throws(StoreError) {
    let connection = try Connection(path: nil, access: .readWrite, busyTimeout: 0)
    try Schema.prepare(connection, isFile: false, creates: true, pageSize: configuration.pageSize)
    readers = SessionPool(limit: 1, adopting: SQLiteSession(connection))
    writers = readers
    first = FirstSession(nil)
    (file, checkpoints, borrowed) = (nil, nil, nil)
  }

  private static let readerLimit = 4

  func logEnd() throws(StoreError) -> Cursor {
    if let end = try first.logEnd() { return end }
    return try readLogEnd()
  }

  // MARK: Other processes

  func openWatch() throws(StoreError) -> (
    open: @Sendable () throws(StoreError) -> any Session, events: any CommitEvents
  )? {
    guard let file, file.configuration.watchesOtherProcesses else { return nil }
    let (folder, name) = Files.split(file.path)
    let events: DirectoryEvents
    do {
      // Older versions touch the -wal file, which is reported too.
      events = try DirectoryEvents(
        folder: folder, names: [name, name + "-wal"], signal: name + "-wal",
        usingEvents: file.configuration.usesFileEvents)
    } catch {
      throw StoreError(.unexpected, "cannot watch \(file.path): \(error)", cause: error)
    }
    return ({ () throws(StoreError) in SQLiteSession(try file.open(.queryOnly), file: file) }, events)
  }

  func signalCommit() { if let path = file?.walPath { Files.signal(path) } }

  // MARK: Upkeep

  var needsCheckpoint: Bool { checkpoints?.isDue ?? false }

  func checkpoint(holding session: any Session, mayWait: Bool) {
    let session = SQLiteSession.own(session)
    // The write lock keeps commits out of the checkpoint.
    guard let checkpoints, (try? session.lock(isWaiting: true)) != nil else { return }
    checkpoints.run(mayWait: mayWait)
    session.rollBack()
  }

  func vacuum() throws(StoreError) { try file?.open(.readWrite).vacuum() }

  /// Copies the -wal file under the write lock, so that the next commit restarts it and truncates it.
  ///
  /// Not with a truncating checkpoint: if the lock is busy, that falls back to a passive one, which must never run without the
  /// lock (`Checkpoints`).
  func eraseOldPages(holding session: any Session) throws(StoreError) -> Bool {
    guard let file, let checkpoints else { return true }
    let session = SQLiteSession.own(session)
    try session.beginWriting(isWaiting: true)
    checkpoints.run()
    session.rollBack()

    // With this limit, a commit that restarts the -wal file truncates it.
    try session.connection.execute("PRAGMA journal_size_limit = 0", to: "purge")
    defer { try? session.connection.execute("PRAGMA journal_size_limit = -1", to: "purge") }
    try session.beginWriting(isWaiting: true)
    defer { session.rollBack() }
    var pageSize = 0
    try session.connection.rows("PRAGMA page_size", to: "purge") { pageSize = Int($0.integer(0)) }
    // Writes a page although the value is the same, which an UPDATE would not.
    try session.connection.execute("PRAGMA application_id = \(Schema.applicationID)", to: "purge")
    let pages = try session.commit(readingAfter: nil).writtenPages
    // The header of the file, and one page with its header.
    guard pages == 1, let size = try? Files.size(of: file.walPath), size <= 32 + 24 + pageSize else {
      return false
    }
    do { try checkpoints.syncCut(file.walPath) } catch { throw StoreError(error, otherwise: .ioError) }
    return true
  }

  // MARK: Copies and checks

  func files() -> any FileOperations { self }

  func makeBackup(to path: String, replacing: Bool) throws(StoreError) -> any EngineBackup {
    try Backup(to: path, replacing: replacing)
  }

  func makeRestore(
    from path: String, ignoringProblems: Bool, while shouldContinue: () -> Bool
  ) throws(StoreError) -> any EngineRestore {
    try Restore(
      path, into: file, ignoringProblems: ignoringProblems,
      busyTimeout: file?.configuration.busyTimeout ?? Configuration().busyTimeout, while: shouldContinue)
  }

  func check(while shouldContinue: () -> Bool) throws(StoreError) -> [Finding]? {
    if let file { try Self.check(file, while: shouldContinue) { _ in } } else { nil }
  }

  func check(in session: any Session) throws(StoreError) -> [Finding] {
    var check = StoreCheck()
    try check.run(on: SQLiteSession.own(session).connection)
    return check.findings
  }

  static func check(
    _ file: DatabaseFile, while shouldContinue: () -> Bool, progress: (Double) -> Void
  ) throws(StoreError) -> [Finding] {
    var check = StoreCheck()
    check.checkPermissions(of: file)
    check.checkNames(of: file)
    let connection = try file.open(.queryOnly)
    // Sorting a log of millions of rows must not use that much memory.
    try connection.execute("PRAGMA temp_store = FILE; BEGIN", to: StoreCheck.purpose)
    // If the file cannot be read at all, `run` reports why.
    if (try? connection.execute("PRAGMA schema_version", to: StoreCheck.purpose)) != nil {
      check.checkReaders(on: connection)
    }
    try connection.running(while: shouldContinue) { () throws(StoreError) in
      try check.run(on: connection, progress: progress)
    }
    return check.findings
  }

  // MARK: Closing

  func interrupt() -> Bool { file?.connections.interrupt() ?? false }

  func close() {
    // The writing session copies a -wal file that others have left, although this store may not have written.
    if let file, let writers, let size = try? Files.size(of: file.walPath), size > 0,
      let session = try? writers.take(isWaiting: false)
    {
      writers.give(back: session)
    }
    writers?.close()
    borrowed?.close()
    _ = first.take()
    file?.connections.close()
  }

  func release() { file?.connections.release() }
}

/// The session that checked the file, until a reader or a writer takes it over: opening one costs as much as the whole check.
private final class FirstSession: Sendable {
  private let session: Lock<SQLiteSession?>

  init(_ session: SQLiteSession?) { self.session = Lock(session) }

  func take() -> SQLiteSession? { session.withLock { $0.take() } }

  /// The end of the log; nil if the session was taken.
  func logEnd() throws(StoreError) -> Cursor? {
    try session.withLock { session throws(StoreError) in try session?.logEnd() }
  }
}

extension DirectoryEvents: CommitEvents {
  // The system may drop events, and a program without the library may commit long after its write to the -wal file.
  var idleLook: Int { 500_000 }
}
