import Synchronization
import UserStore

/// Opens the connections of a store, and interrupts them.
final class PostgresConnections: Sendable {
  let settings: PostgresSettings
  let progress = PostgresProgress()
  let uniqueKeys = PostgresUniqueKeys()
  /// One per connection; returns nil after the connection is gone.
  private let interrupters = Mutex<[@Sendable () -> PostgresInterrupter?]>([])

  init(_ settings: PostgresSettings) { self.settings = settings }

  /// The settings of the two watching connections, which notice sooner that the server does not answer.
  var watching: PostgresSettings {
    var settings = settings
    settings.replyTimeout = settings.replyTimeout.map { $0 * 2 / 5 }
    return settings
  }

  func open(watches: Bool = false) throws(StoreError) -> PostgresConnection {
    let interrupter = try PostgresInterrupter()
    interrupters.withLock { interrupters in
      interrupters.removeAll { $0() == nil }
      interrupters.append { [weak interrupter] in interrupter }
    }
    return try PostgresConnection(watches ? watching : settings, interrupter: interrupter)
  }

  func openSession() throws(StoreError) -> any Session { try openSession(watches: false) }
  func openWatchingSession() throws(StoreError) -> any Session { try openSession(watches: true) }

  /// Opens a session for an open store, in which an unreachable server counts as a lost connection.
  private func openSession(watches: Bool) throws(StoreError) -> PostgresSession {
    do {
      // A watching session does not wait for a replica: the watcher repeats a failed look.
      return PostgresSession(try open(watches: watches), progress, uniqueKeys, patience: watches ? .zero : nil)
    } catch {
      throw error.postgres.map { StoreError(inOpenStore: $0) } ?? error
    }
  }

  private static let selectProcess = PostgresStatement(once: "look for a pooler", "SELECT pg_catalog.pg_backend_pid()")
  private static let begin = PostgresStatement(once: "look for a pooler", "BEGIN", effect: .begins)

  /// Throws if a pooler may serve each transaction of a connection with a different server process.
  ///
  /// Another process lacks the session's parameters and prepared statements, and its notifications are lost. A pooler in session
  /// mode reserves a process for each connection: a transaction on a second connection then has another process, and a later one
  /// on the first has the same process as before. Other clients may use the pool, so this is tried more than once.
  func checkPooler(of connection: PostgresConnection) throws(StoreError) {
    guard connection.isPooled else { return }
    let other = try open()
    defer { other.close() }
    for _ in 0..<Self.poolerTrials where try !isReserved(connection, other) {
      throw StoreError(
        .unsupported,
        """
        the connection goes through a pooler that may serve each transaction with another session, as PgBouncer does with \
        pool_mode=transaction: connect to the server itself, or to a pool in session mode
        """)
    }
  }

  private func isReserved(_ connection: PostgresConnection, _ other: PostgresConnection) throws(StoreError) -> Bool {
    do throws(StoreError) {
      let first = try connection.run(Self.selectProcess).first?.int4(0)
      let second = try other.pipeline { batch in
        batch.add(Self.begin)
        return batch.add(Self.selectProcess)
      }
      // Compare first: a pool of one process has none for another query on the first connection.
      if second.first?.int4(0) == first { return false }
      let again = try connection.run(Self.selectProcess).first?.int4(0)
      try other.run(.rollback)
      return again == first
    } catch {
      // PgBouncer's pool_mode=statement: “transaction blocks not allowed in statement pooling mode”.
      if error.message.contains("pooling mode") { return false }
      throw error
    }
  }

  private static let poolerTrials = 5

  /// Interrupts all connections, and returns whether one was open.
  func interrupt() -> Bool {
    let present = interrupters.withLock { interrupters in interrupters.compactMap { $0() } }
    return present.reduce(false) { isOpen, interrupter in
      interrupter.interrupt()
      return interrupter.isInUse || isOpen
    }
  }
}
