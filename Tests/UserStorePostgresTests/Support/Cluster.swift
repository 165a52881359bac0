import Foundation
import Synchronization
import Testing

@testable import UserStore
@testable import UserStorePostgres

/// A cluster that a test may stop, or a replica of one; `scripts/postgres run` removes it with its own.
final class Cluster: Sendable {
  let folder: String

  private static let count = Mutex(0)
  /// Each has a folder for its socket, and no other address.
  private static let port = "5432"

  init(replicaOf primary: Cluster? = nil) throws {
    let number = Self.count.withLock { count in
      count += 1
      return count
    }
    // Other processes may test with the same server.
    folder = Server.folder + "/cluster\(getpid())-\(number)"
    if let primary {
      try control("replica", primary.folder, folder)
    } else {
      try control("start", folder)
    }
  }

  // MARK: Addresses

  /// The address of a database on one of the clusters, which libpq tries in this order.
  static func address(_ clusters: Cluster..., database: String = "postgres") -> String {
    let hosts = clusters.map(\.folder).joined(separator: ",")
    return "host=\(hosts) port=\(port) user=postgres dbname=\(database)"
  }

  func open(
    _ database: String = "postgres", change: (inout PostgresConfiguration) -> Void = { _ in }
  ) throws -> UserStore {
    try Self.open(Self.address(self, database: database), change)
  }

  static func open(
    _ address: String, _ change: (inout PostgresConfiguration) -> Void = { _ in }
  ) throws -> UserStore {
    var configuration = PostgresConfiguration(address)
    configuration.store.busyTimeout = .seconds(60)
    change(&configuration)
    return try UserStore(postgres: configuration)
  }

  func newDatabase() throws -> String {
    let name = "d\(UInt64.random(in: 0 ... .max))"
    try execute("CREATE DATABASE \(name)")
    return name
  }

  // MARK: Statements

  private func connect() throws -> PostgresConnection {
    try PostgresConnection(PostgresSettings(Self.address(self)))
  }

  func execute(_ sql: String) throws { try connect().execute(sql, to: "prepare a test") }

  /// Changes a setting, without a restart.
  func set(_ setting: String, _ value: String) throws {
    try execute("ALTER SYSTEM SET \(setting) = '\(value)'")
    try execute("SELECT pg_reload_conf()")
  }

  /// Returns when a condition in SQL holds; it asks again and again, and fails after a minute.
  func await(_ condition: String) throws {
    let connection = try connect()
    let statement = PostgresStatement(once: "wait", "SELECT \(condition)")
    let limit = ContinuousClock.now + .seconds(60)
    while try connection.run(statement)[0].bool(0) != true {
      if ContinuousClock.now > limit { throw Server.Failed(text: "\(condition) has not become true") }
      sched_yield()
    }
  }

  /// The process of a client for which a condition holds.
  func process(where condition: String) throws -> Int32? {
    try connect().run(PostgresStatement(once: "look", "SELECT pid FROM pg_stat_activity WHERE \(condition)")).first?
      .int4(0)
  }

  /// Returns when the replica has replayed what the primary has written.
  func awaitReplay(of primary: Cluster) throws { try `await`("pg_last_wal_replay_lsn() >= '\(primary.end())'") }

  /// Returns when the replica has received it.
  func awaitReceipt(from primary: Cluster) throws {
    try `await`("pg_last_wal_receive_lsn() >= '\(primary.end())'")
  }

  private func end() throws -> String {
    try connect().run(PostgresStatement(once: "wait", "SELECT pg_current_wal_lsn()::text"))[0].text(0)
  }

  func pauseReplay() throws {
    try execute("SELECT pg_wal_replay_pause()")
    try `await`("pg_get_wal_replay_pause_state() = 'paused'")
  }

  func resumeReplay() throws { try execute("SELECT pg_wal_replay_resume()") }

  /// Ends the connection to the primary: the replica receives nothing more.
  func disconnect() throws {
    try set("primary_conninfo", "")
    try `await`("NOT EXISTS (SELECT FROM pg_stat_wal_receiver)")
  }

  /// Ends all other connections of clients.
  func terminateAll() throws {
    try execute(
      """
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
      """)
  }

  // MARK: Processes

  func start() throws { try control("start", folder) }
  func stop() throws { try control("stop", folder, "immediate") }
  func promote() throws { try control("promote", folder) }
  func remove() { try? control("remove", folder) }

  private func control(_ arguments: String...) throws {
    try Server.cluster(arguments, port: Self.port, listen: "")
  }
}

/// Keeps what closures receive, and waits for it.
final class Inbox<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])
  private let more = DispatchSemaphore(value: 0)

  func append(_ element: Element) {
    elements.withLock { $0.append(element) }
    more.signal()
  }

  /// Returns when the next element has come; it fails after a minute.
  func awaitNext() { if more.wait(timeout: .now() + 60) == .timedOut { Issue.record("nothing has come") } }

  var all: [Element] { elements.withLock { $0 } }
}
