import UserStore

/// A session of the store on a connection to PostgreSQL.
///
/// A statement that begins a transaction is sent together with the first statement in it, which saves a round trip.
///
/// Unchecked: the pool lends it to one thread at a time, and the pool's lock orders their accesses.
final class PostgresSession: Session, @unchecked Sendable {
  let connection: PostgresConnection
  /// What begins the transaction, until it is sent.
  private var begin: PostgresStatement?
  /// The write that is open.
  var write: Write?
  /// The end of the log after the last write of this session.
  private(set) var knownEnd: Cursor?

  /// An open write transaction.
  struct Write {
    /// The end of the log that `beginWriting` returned.
    ///
    /// The transaction's own rows are counted from there until it has its place.
    let head: Cursor
    /// Whether something may have been logged since the last set ended.
    var mayHaveLogged = false
    /// What must be added to the number of a row of its own to get the final one; nil until the transaction has its place.
    var shift: Int64?
    /// Whether all positions are final.
    var isEnded = false
  }

  private static let release = PostgresStatement("write", "RELEASE SAVEPOINT member")
  private static let savepoint = PostgresStatement("write", "SAVEPOINT member")
  private static let rollBackToSavepoint = PostgresStatement("undo a write", "ROLLBACK TO SAVEPOINT member")

  init(_ connection: PostgresConnection) { self.connection = connection }

  // MARK: Statements

  /// Runs statements in one round trip, after the BEGIN that is due.
  func pipeline<Value>(
    _ body: (inout PostgresBatch) throws(PostgresError) -> Value
  ) throws(StoreError) -> Value {
    do throws(PostgresError) {
      return try connection.pipeline { batch throws(PostgresError) in
        if let begin = begin.take() { try batch.add(begin) }
        return try body(&batch)
      }
    } catch {
      throw StoreError(error)
    }
  }

  func run(_ statement: PostgresStatement, _ values: PostgresValue...) throws(StoreError) -> PostgresResult {
    try pipeline { batch throws(PostgresError) in try batch.add(statement, values) }
  }

  /// Runs a statement and makes a value of each row.
  func all<Value>(
    _ statement: PostgresStatement, _ values: PostgresValue...,
    make: (PostgresRow) throws(PostgresError) -> Value
  ) throws(StoreError) -> [Value] {
    let result = try pipeline { batch throws(PostgresError) in try batch.add(statement, values) }
    return try decoding { () throws(PostgresError) in
      var values: [Value] = []
      values.reserveCapacity(result.count)
      try result.each { row throws(PostgresError) in
        values.append(try make(row))
        return true
      }
      return values
    }
  }

  /// Runs a statement and makes a value of the first row; nil if there is none.
  func first<Value>(
    _ statement: PostgresStatement, _ values: PostgresValue...,
    make: (PostgresRow) throws(PostgresError) -> Value
  ) throws(StoreError) -> Value? {
    let result = try pipeline { batch throws(PostgresError) in try batch.add(statement, values) }
    return try decoding { () throws(PostgresError) in
      try result.first.map { row throws(PostgresError) in try make(row) }
    }
  }

  /// Calls `body` with each row, a page at a time, until it returns false.
  func scan(
    _ statement: PostgresStatement, _ values: [PostgresValue] = [],
    while body: (PostgresRow) throws(PostgresError) -> Bool
  ) throws(StoreError) {
    if begin != nil { _ = try pipeline { _ throws(PostgresError) in } }
    try decoding { () throws(PostgresError) in try connection.scan(statement, values, while: body) }
  }

  /// Runs statements without parameters.
  func execute(_ sql: String, to purpose: String) throws(StoreError) {
    if begin != nil { try pipeline { _ throws(PostgresError) in } }
    try decoding { () throws(PostgresError) in try connection.execute(sql, to: purpose) }
  }

  func decoding<Value>(_ body: () throws(PostgresError) -> Value) throws(StoreError) -> Value {
    do throws(PostgresError) { return try body() } catch { throw StoreError(error) }
  }

  // MARK: Transactions

  /// Also true before the BEGIN was sent, and after a statement has failed, when only a rollback is possible.
  var isInTransaction: Bool {
    begin != nil || [.inTransaction, .failed].contains(connection.transactionStatus)
  }

  func beginReading() throws(StoreError) { try prepareToBegin(.beginReading) }

  /// Begins a transaction with the next statement.
  ///
  /// A connection that the server closed while it was idle costs a failed attempt; the next one connects again.
  func prepareToBegin(_ statement: PostgresStatement) throws(StoreError) {
    if !connection.isOpen { try decoding { () throws(PostgresError) in try connection.reconnect() } }
    begin = statement
  }

  func savepoint() throws(StoreError) { _ = try run(Self.savepoint) }
  func releaseSavepoint() throws(StoreError) { _ = try run(Self.release) }

  func rollBackToSavepoint() throws(StoreError) {
    try pipeline { batch throws(PostgresError) in
      try batch.add(Self.rollBackToSavepoint)
      try batch.add(Self.release)
    }
    write?.mayHaveLogged = false
  }

  func commit(through end: Cursor?) throws(StoreError) {
    let knownEnd = knownEnd
    self.knownEnd = nil
    do throws(PostgresError) { try connection.run(PostgresStatement.commit) } catch {
      guard error.isOutcomeUnknown, let end, let isCommitted = try? isInLog(end) else { throw StoreError(error) }
      guard isCommitted else {
        throw StoreError(.connectionLost, "the connection was lost before COMMIT: \(error)", cause: error)
      }
    }
    self.knownEnd = end ?? knownEnd
    write = nil
  }

  /// Decides a COMMIT of unknown outcome: whether the log has the end of the write, with its random number.
  private func isInLog(_ end: Cursor) throws(StoreError) -> Bool {
    try decoding { () throws(PostgresError) in try connection.reconnect() }
    return try nonce(of: end.revision.rawValue) == end.nonce
  }

  func rollBack() {
    begin = nil
    if write != nil { (knownEnd, write) = (nil, nil) }
    if [.inTransaction, .failed].contains(connection.transactionStatus) {
      do throws(PostgresError) { try connection.run(PostgresStatement.rollback) } catch {
        // The server rolls back when it notices.
        connection.close()
      }
    }
  }

  /// SQLite's pages have no counterpart.
  var writtenPages: Int { 0 }

  private static let selectFindings = PostgresStatement(
    "check the database", "SELECT code, message FROM userstore.check()")

  func check() throws(StoreError) -> [Finding] {
    try all(Self.selectFindings) { row throws(PostgresError) in
      Finding(
        severity: .problem, kind: Finding.Kind(rawValue: try row.text(0)) ?? .schema, message: try row.text(1))
    }
  }

  func commitCounter() throws(StoreError) -> Int64 { try logEnd().revision.rawValue }

  var hasMoved: Bool { false }

  func prepareToClose() {
    connection.close()
  }
}

extension Optional {
  /// Returns the value and leaves nil.
  fileprivate mutating func take() -> Wrapped? {
    defer { self = nil }
    return self
  }
}
