import UserStore

/// A store in a PostgreSQL database.
final class PostgresEngine: Engine {
  let readers: SessionPool
  let writers: SessionPool?
  private let configuration: PostgresConfiguration
  private let connections: PostgresConnections

  /// Connects, and creates or checks the schema.
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
    let session = PostgresSession(first, connections.progress)
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

  func makeVacuum() throws(StoreError) -> () throws(StoreError) -> Void {
    throw Self.unsupported("a vacuum of the whole database", "use VACUUM FULL")
  }

  /// Old versions of rows are the business of the server's vacuum.
  func eraseOldPages(holding session: any Session) -> Bool { true }

  // MARK: Copies and checks

  func makeBackup(to path: String, replacing: Bool) throws(StoreError) -> any EngineBackup {
    throw Self.unsupported("a backup", "use pg_dump or pg_basebackup")
  }

  func makeRestore(
    from path: String, ignoringProblems: Bool, while shouldContinue: () -> Bool
  ) throws(StoreError) -> any EngineRestore {
    throw Self.unsupported("a restore", "use pg_restore")
  }

  private static func unsupported(_ what: String, _ hint: String) -> StoreError {
    StoreError(.unsupported, "PostgreSQL does not support \(what) by the library: \(hint)")
  }

  func check(while shouldContinue: () -> Bool) throws(StoreError) -> [Finding]? { nil }

  // MARK: Closing

  func interrupt() -> Bool { connections.interrupt() }

  func close() {
    writers?.close()
    readers.close()
  }

  func release() {}
}
