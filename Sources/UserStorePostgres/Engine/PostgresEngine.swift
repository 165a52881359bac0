import UserStore

/// A store in a PostgreSQL database.
final class PostgresEngine: Engine {
  let readers: SessionPool
  let writers: SessionPool?
  var warm: SessionPool? { nil }
  private let configuration: PostgresConfiguration
  private let connections: PostgresConnections

  init(_ configuration: PostgresConfiguration) throws(StoreError) {
    self.configuration = configuration
    let connections = PostgresConnections(configuration.settings)
    self.connections = connections
    let first: PostgresConnection
    do throws(StoreError) { first = try connections.open() } catch {
      throw error.postgres?.isReplica == true ? .replica(error) : error
    }
    try connections.checkPooler(of: first)
    try PostgresSchema.prepare(first, configuration.store.access)
    let session = PostgresSession(first, connections.progress, connections.uniqueKeys)
    // Read once, so that no write needs a round trip more for it.
    _ = connections.uniqueKeys.note(try session.uniqueIndexes())
    readers = SessionPool(limit: Self.readerLimit, reserve: 1, adopting: session, open: connections.openSession)
    writers = configuration.store.access == .readOnly ? nil : SessionPool(limit: 1, open: connections.openSession)
  }

  private static let readerLimit = 4

  func logEnd() throws(StoreError) -> Cursor { try readLogEnd() }

  // MARK: Other processes

  func openWatch() throws(StoreError) -> (
    open: @Sendable () throws(StoreError) -> any Session, events: any CommitEvents
  )? {
    guard configuration.store.watchesOtherProcesses else { return nil }
    let events = try PostgresEvents(connections, idleLook: configuration.idleLook)
    return (connections.openWatchingSession, events)
  }

  /// The transaction itself notifies.
  func signalCommit() {}

  // MARK: Maintenance

  var needsCheckpoint: Bool { false }

  func checkpoint(holding session: any Session, mayWait: Bool) {}

  /// The server's vacuum removes old versions of rows.
  func eraseOldPages(holding session: any Session) -> Bool { true }

  // MARK: Copies and checks

  func files() throws(StoreError) -> any FileOperations {
    throw StoreError(
      .unsupported,
      "the library cannot copy or rewrite a PostgreSQL database: use VACUUM FULL, pg_dump, pg_basebackup, or pg_restore"
    )
  }

  func check(while shouldContinue: () -> Bool) throws(StoreError) -> [Finding]? { nil }

  func check(in session: any Session) throws(StoreError) -> [Finding] { try PostgresSession.own(session).check() }

  // MARK: Closing

  func interrupt() -> Bool { connections.interrupt() }

  func close() {
    writers?.close()
    readers.close()
  }

  func release() {}
}
