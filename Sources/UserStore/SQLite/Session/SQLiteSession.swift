/// A session of the store on an SQLite connection, with what is known from its last transaction.
///
/// Unchecked: the pool lends it to one thread at a time, and the pool's lock orders their accesses.
final class SQLiteSession: Session, @unchecked Sendable {
  let connection: Connection
  /// nil in memory, and for a session that only reads.
  private var checkpoints: Checkpoints?
  private let file: DatabaseFile?
  /// The end of the log after the last transaction that was committed, and `Connection.dataVersion` at that time.
  private var knownEnd: (cursor: Cursor, version: UInt32)?
  /// The first page of the rows after a position, through the end of the log, which `commit` has read.
  private(set) var ahead: (start: Int64, end: Int64, rows: [LogRow])?
  /// The reason why the session cannot write: after a failed sync, SQLite considers the pages written.
  private var failure: StoreError?
  /// The transaction that writes, until it ends.
  private var write: Write?
  /// The end of the last set at each savepoint.
  private var savepoints: [Cursor] = []
  /// The indexes in a version of the schema; and, if they were read in a write, the version of the data that the last write has left.
  var knownIndexSet: (schema: Int64, data: UInt32?, indexes: Set<AttributeIndex>)?
  /// Whether a user was removed by this session.
  var hasRemovedUsers = false
  /// Whether foreign keys are off until the next transaction.
  private var isWithoutKeys = false

  private struct Write {
    let start: (end: Cursor, isRead: Bool)
    /// `Connection.dataVersion` when the write began.
    let version: UInt32
    /// The end of the last set.
    var end: Cursor
  }

  private static let begin = SQL("begin reading", "BEGIN")
  /// Takes the write lock at once: taking it later fails if another connection has written meanwhile.
  private static let beginImmediate = SQL("write", "BEGIN IMMEDIATE")
  private static let commit = SQL("commit", "COMMIT")
  private static let savepoint = SQL("write", "SAVEPOINT member")
  private static let release = SQL("write", "RELEASE member")
  private static let rollBackToSavepoint = SQL("undo a write", "ROLLBACK TO member")
  // sqlite.org/pragma.html#pragma_data_version
  private static let selectDataVersion = SQL("read the log", "PRAGMA data_version")

  init(_ connection: consuming Connection, file: DatabaseFile? = nil) {
    self.connection = consume connection
    self.file = file
  }

  /// Makes this the session that writes to the file.
  func prepareToWrite(
    _ durability: UserStore.Configuration.Durability, _ checkpoints: Checkpoints
  ) throws(StoreError) {
    let mode = durability == .full ? "FULL" : "NORMAL"
    try connection.execute("PRAGMA synchronous = \(mode); PRAGMA foreign_keys = ON", to: "write")
    self.checkpoints = checkpoints
  }

  /// Casts a session of the engine's pools.
  static func own(_ session: any Session) -> SQLiteSession {
    guard let own = session as? SQLiteSession else { preconditionFailure("a session of another engine") }
    return own
  }

  /// A statement that fails either has no effect or ends the transaction (sqlite.org/lang_transaction.html).
  var transaction: TransactionState { connection.isInTransaction ? .open : .none }

  func commitCounter(beforeReadingAfter position: Cursor) throws(StoreError) -> Int64 {
    if connection.hasMoved { throw DatabaseFile.moved }
    return try connection.first(Self.selectDataVersion) { $0.integer(0) } ?? 0
  }

  /// The end of the log, outside of a write, if the session has written it, and nobody else has committed since.
  func knownLogEnd() throws(StoreError) -> Cursor? {
    guard write == nil, let knownEnd else { return nil }
    // Any statement: a transaction sees the data as they are at its first one.
    _ = try connection.first(Self.selectDataVersion) { $0.integer(0) }
    return connection.dataVersion == knownEnd.version ? knownEnd.cursor : nil
  }

  func beginReading(after position: Cursor?) throws(StoreError) {
    if connection.hasMoved { throw DatabaseFile.moved }
    try connection.run(Self.begin)
  }

  func beginWriting(isWaiting: Bool) throws(StoreError) {
    if let failure {
      throw StoreError(.mustReopen, "the store must be reopened before it can write again: \(failure.message)")
    }
    if connection.hasMoved { throw DatabaseFile.moved }
    if isWithoutKeys { try setKeys(true) }
    try beginWrite(isWaiting: isWaiting)
  }

  /// Begins the open write again, which has written nothing, without foreign keys; within a transaction, they cannot be turned off.
  func restartWithoutKeys() throws(StoreError) {
    rollBack()
    try setKeys(false)
    try beginWrite(isWaiting: true)
  }

  private func setKeys(_ areOn: Bool) throws(StoreError) {
    try connection.execute("PRAGMA foreign_keys = \(areOn ? "ON" : "OFF")", to: "write")
    isWithoutKeys = !areOn
  }

  private func beginWrite(isWaiting: Bool) throws(StoreError) {
    connection.hooks.reset()
    try lock(isWaiting: isWaiting)
    let version = connection.dataVersion
    if knownEnd?.version != version { knownEnd = nil }
    let end = if let knownEnd { knownEnd.cursor } else { try logEnd() }
    write = Write(start: (end, knownEnd == nil), version: version, end: end)
  }

  /// While the session writes: `Connection.dataVersion` when the write began.
  var writingVersion: UInt32? { write?.version }

  var writingStart: (end: Cursor, isRead: Bool)? { write?.start }

  func lock(isWaiting: Bool) throws(StoreError) {
    if isWaiting { return try connection.run(Self.beginImmediate) }
    connection.busyWait.isWaiting = false
    defer { connection.busyWait.isWaiting = true }
    try connection.run(Self.beginImmediate)
  }

  func savepoint() throws(StoreError) {
    try connection.run(Self.savepoint)
    if let end = write?.end { savepoints.append(end) }
  }

  func releaseSavepoint() throws(StoreError) {
    try connection.run(Self.release)
    _ = savepoints.popLast()
  }

  func rollBackToSavepoint() throws(StoreError) {
    connection.hooks.assumeLogged()
    try connection.run(Self.rollBackToSavepoint)
    try connection.run(Self.release)
    if let end = savepoints.popLast() { write?.end = end }
  }

  func endSet(origin: String?) throws(StoreError) {
    guard let write else { throw Self.notWriting }
    // Otherwise COMMIT would fail for all writes that share the transaction.
    if connection.hasViolatedKeys {
      throw StoreError(
        .stillReferenced, "the write cannot be committed: another table refers to a user that does not exist any more")
    }
    if let end = try appendEnd(after: write.end, origin: origin) { self.write?.end = end }
  }

  /// Joins a transaction of another library, which has the write lock; `end` is the end of the log before it.
  func join(after end: Cursor) {
    write = Write(start: (end, true), version: 0, end: end)
  }

  /// Ends one set for all rows of a joined transaction so far, unless none was added since `start`.
  func endJoinedSet(after start: Int64?, origin: String?) throws(StoreError) {
    guard let write else { throw Self.notWriting }
    guard let last = try lastRow(), last > start ?? write.end.revision.rawValue else { return }
    if let start { try joinEnds(after: write.end.revision.rawValue, through: start) }
    connection.hooks.assumeLogged()
    if let end = try appendEnd(after: write.end, origin: origin) { self.write?.end = end }
  }

  /// Notes that the open write has replaced the log.
  func noteReplacedLog() throws(StoreError) {
    let end = try logEnd()
    write?.end = end
  }

  func writingEnd() throws(StoreError) -> Cursor {
    if let write { return write.end }
    return try logEnd()
  }

  /// Nobody else can write until the transaction ends.
  func finalPosition(of position: Cursor) -> Cursor { position }

  func commit(readingAfter position: Cursor?) throws(StoreError) -> (end: Cursor, writtenPages: Int) {
    guard let write else { throw Self.notWriting }
    let end = write.end
    if let position, position.epoch == end.epoch, position.revision < end.revision {
      let (start, last) = (position.revision.rawValue, end.revision.rawValue)
      ahead = (start, last, try rows(after: start, through: last))
    }
    knownEnd = nil
    do { try connection.run(Self.commit) } catch {
      let code = (error.cause as? SQLiteError)?.code
      guard code == .ioErrorSync || code == .ioErrorFolderSync, connection.hooks.hasBegunCommit else { throw error }
      let error = StoreError(
        .commitUnknown, "a sync failed during COMMIT: it is unknown whether the last write was committed",
        cause: error.cause)
      failure = error
      throw error
    }
    // The commit went to a file that nobody will find: do not report success.
    if connection.hasMoved { throw DatabaseFile.moved }
    // The caller may not have handled `writingStart` if it has written no set: then the next transaction reads the end again.
    let version = connection.dataVersion
    if end != write.start.end || !write.start.isRead { knownEnd = (end, version) }
    if knownIndexSet?.data == write.version { knownIndexSet?.data = version }
    self.write = nil
    let pages = connection.hooks.walPages
    checkpoints?.note(walPages: pages)
    return (end, pages)
  }

  private static var notWriting: StoreError { StoreError(.transactionEnded, "no transaction writes") }

  func interrupt() { connection.progress.isInterrupted = true }

  func rollBack() {
    connection.progress.isInterrupted = false
    connection.rollBack()
    ahead = nil
    if write != nil { (knownEnd, write, savepoints, knownIndexSet) = (nil, nil, [], nil) }
  }

  func prepareToClose() {
    connection.endInterrupts()
    guard let checkpoints, let file else { return }
    if !checkpoints.finish(on: self, walPath: file.walPath) { file.connections.leaveWAL() }
  }
}
