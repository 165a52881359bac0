/// Sessions on the connections of other libraries, in transactions that those have begun and will end.
///
/// Such a connection is a foreign one: it keeps its settings, has none of the library's hooks, and its changes are logged by the
/// triggers. Nothing of a session remains on it.
final class BorrowedSessions: Sendable {
  private let file: DatabaseFile
  /// A session that sees what was committed before the other library's transaction.
  ///
  /// No reader is used: all of them may be lent to threads that wait for the other library.
  private let pool: SessionPool
  /// The version of the schema (`PRAGMA schema_version`) that was checked last.
  private let checkedVersion = Lock<Int64?>(nil)

  init(of file: DatabaseFile) {
    self.file = file
    pool = SessionPool(limit: 1) { () throws(StoreError) in SQLiteSession(try file.open(.queryOnly), file: file) }
  }

  func close() { pool.close() }

  /// Calls `body` with a session that reads in the open transaction of another library's connection.
  ///
  /// - Throws: `StoreError.Code.misuse`, `.closed`, `.moved`, `.schemaChanged`, `.schemaTooNew`, and what `body` throws.
  @unsafe func read<Result>(
    on handle: OpaquePointer, statements: StatementCache.Source? = nil, _ body: (SQLiteSession) throws -> Result
  ) throws -> Result {
    let session = SQLiteSession(unsafe Connection(borrowing: handle, statements: statements))
    // The session may outlive this call, and the connection must be closed without it.
    defer { session.connection.finishStatements() }
    _ = try checkedSchema(session.connection)
    return try body(session)
  }

  /// Calls `body` with a session that writes in the open transaction of another library's connection, and ends a change set with
  /// all rows that the transaction has logged so far.
  ///
  /// If it throws, what `body` has written was rolled back, and nothing else.
  ///
  /// - Throws: What `read` throws, `StoreError.Code.logIncomplete`, `.busy`.
  @unsafe func write<Result>(
    on handle: OpaquePointer, origin: String?, statements: StatementCache.Source?,
    _ body: (SQLiteSession) throws -> Result
  ) throws -> Result {
    try unsafe read(on: handle, statements: statements) { session in
      let start = try join(session)
      try session.savepoint()
      do {
        let result = try body(session)
        guard session.transaction == .open else {
          throw StoreError(.transactionEnded, "an error inside the write ended its transaction and rolled it back")
        }
        try session.endJoinedSet(after: start, origin: origin)
        try session.releaseSavepoint()
        return result
      } catch {
        if session.isInTransaction { try session.rollBackToSavepoint() }
        throw error
      }
    }
  }

  /// Takes the write lock, and returns the last row of the log with those of the transaction.
  private func join(_ session: SQLiteSession) throws(StoreError) -> Int64? {
    guard session.connection.runsTriggers else {
      throw StoreError(
        .misuse, "the connection does not run triggers, so that its changes would be missing from the log")
    }
    if !session.connection.hasWriteLock { try lock(session.connection) }
    session.join(after: try withCommitted { own throws(StoreError) in try own.logEnd() })
    return try session.lastRow()
  }

  private func lock(_ connection: borrowing Connection) throws(StoreError) {
    do throws(StoreError) {
      // Takes the lock, and changes nothing.
      try connection.execute("DELETE FROM displaced_users WHERE 0", to: "write")
    } catch {
      guard (error.cause as? SQLiteError)?.code == .busySnapshot else { throw error }
      throw StoreError(
        .busy, "the transaction has read an older state, and cannot write any more",
        hint: "begin it with BEGIN IMMEDIATE", cause: error.cause)
    }
  }

  /// While the other library has the write lock, nobody else can commit: then this is the state before its transaction.
  private func withCommitted<Value>(_ body: (SQLiteSession) throws(StoreError) -> Value) throws(StoreError) -> Value {
    let session = try pool.take()
    defer { pool.give(back: session) }
    return try body(.own(session))
  }

  // MARK: Checks

  /// Checks the connection, and its schema unless that version was checked before.
  private func checkedSchema(_ connection: borrowing Connection) throws(StoreError) {
    if pool.isClosed { throw SessionPool.closed }
    try checkFile(of: connection)
    guard connection.isInTransaction else {
      throw StoreError(.misuse, "the connection is not in a transaction: begin one before, and end it afterwards")
    }
    try SchemaCheck.requireNoShadows(on: connection)
    let version = try Self.schemaVersion(connection)
    if checkedVersion.withLock({ $0 }) == version { return }
    let broken = try Schema.inspect(connection).check.brokenTriggers
    if !broken.isEmpty {
      throw StoreError(
        .logIncomplete,
        "triggers of the log are missing or changed (\(broken.joined(separator: ", "))); opening the store for writing repairs them"
      )
    }
    // A version that is not committed may be rolled back, and another schema may get its number.
    let committed = try withCommitted { own throws(StoreError) in try Self.schemaVersion(own.connection) }
    if committed == version { checkedVersion.withLock { $0 = version } }
  }

  private func checkFile(of connection: borrowing Connection) throws(StoreError) {
    guard let path = connection.path else {
      throw StoreError(.misuse, "the connection has no file open, and the store is in \(file.path)")
    }
    guard let identity = try? Files.identity(of: path), !connection.hasMoved else { throw DatabaseFile.moved }
    guard identity == file.identity else {
      throw StoreError(.misuse, "the connection has \(path) open, and the store is in \(file.path)")
    }
  }

  private static func schemaVersion(_ connection: borrowing Connection) throws(StoreError) -> Int64 {
    try connection.first(schemaVersion) { $0.integer(0) } ?? 0
  }

  private static let schemaVersion = SQL("read the schema", "PRAGMA schema_version")
}

extension SchemaCheck {
  private static let selectShadows = SQL(
    "read the schema",
    """
    SELECT type, name FROM sqlite_temp_schema
    WHERE lower(CASE type WHEN 'trigger' THEN tbl_name ELSE name END) IN (\(tables.map { $0.quoted("'") }.joined(separator: ", ")))
    """)

  /// Throws if a temporary object of the connection has the name of one of the library's tables, or is a trigger on one.
  static func requireNoShadows(on connection: borrowing Connection) throws(StoreError) {
    let found = try connection.first(selectShadows) { ($0.text(0), $0.text(1)) }
    guard let (type, name) = found else { return }
    throw StoreError(
      .schemaChanged,
      "the temporary \(type.excerpt) “\(name.excerpt)” of the connection stands for, or on, a table of the store; remove it"
    )
  }
}
