import Foundation
import UserStore

@testable import UserStorePostgres

/// The cluster that `scripts/postgres run` has started.
enum Server {
  static let folder = environment("USERSTORE_POSTGRES_FOLDER")
  static let port = environment("USERSTORE_POSTGRES_PORT")
  /// An address of this machine that is not the loopback's; empty if it has none.
  static let address = environment("USERSTORE_POSTGRES_ADDRESS")
  static let string = "host=\(folder) port=\(port) user=postgres dbname=postgres"

  /// A variable that `scripts/postgres run` sets.
  static func environment(_ name: String) -> String { ProcessInfo.processInfo.environment[name] ?? "" }

  static func connect(_ change: (inout PostgresSettings) -> Void = { _ in }) throws -> PostgresConnection {
    var settings = PostgresSettings(string)
    change(&settings)
    return try PostgresConnection(settings)
  }

  /// Creates an empty database and returns its name.
  static func newDatabase() throws -> String {
    let name = "d\(UInt64.random(in: 0 ... .max))"
    try connect().execute("CREATE DATABASE \(name)", to: "create a database")
    return name
  }

  /// The address of a database.
  static func address(_ database: String) -> String { "host=\(folder) port=\(port) user=postgres dbname=\(database)" }

  /// Runs `scripts/postgres`.
  static func cluster(_ arguments: String..., port: String = port) throws { try cluster(arguments, port: port) }

  /// Runs `scripts/postgres`; a cluster that it creates listens to the addresses `listen`, or to all.
  static func cluster(_ arguments: [String], port: String, listen: String? = nil) throws {
    let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../scripts/postgres").path
    let process = Process()
    process.executableURL = URL(filePath: "/bin/bash")
    process.arguments = [script] + arguments
    process.environment = ProcessInfo.processInfo.environment.merging(["USERSTORE_POSTGRES_PORT": port]) { $1 }
    process.environment?["USERSTORE_POSTGRES_LISTEN"] = listen
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failed(text: "scripts/postgres \(arguments) failed") }
  }

  /// Restores a dump into an empty database.
  static func restore(_ dump: URL, into database: String) throws {
    try run("psql", "-qX", "-v", "ON_ERROR_STOP=1", "-d", address(database), "-f", dump.path)
  }

  /// Dumps a database into a file.
  static func dump(_ database: String, to dump: URL) throws {
    try run("pg_dump", "-d", address(database), "-f", dump.path)
  }

  /// Runs a program of PostgreSQL, which `scripts/postgres run` puts in the PATH.
  private static func run(_ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failed(text: "\(arguments) failed") }
  }

  struct Failed: Error { let text: String }
}

/// A second connection that sees what another one does.
final class Observer {
  let connection: PostgresConnection

  init() throws { connection = try Server.connect() }

  private static let waits = PostgresStatement(
    "see what a process waits for",
    "SELECT coalesce(wait_event, '') FROM pg_stat_activity WHERE pid = $1 AND state IN ('active', 'idle in transaction')",
    .int4)

  /// Returns when the server process waits for `event` in a statement.
  ///
  /// It asks again and again: a time limit would make the test fail on a busy machine.
  func awaitProcess(_ process: Int32, waitsFor event: String) throws {
    while try connection.run(Self.waits, .int4(process)).first?.text(0) != event { sched_yield() }
  }

  private static let exists = PostgresStatement(
    "see whether a process exists", "SELECT count(*) FROM pg_stat_activity WHERE pid = $1", .int4)

  /// Returns when the server process has ended.
  func awaitEnd(of process: Int32) throws {
    while try connection.run(Self.exists, .int4(process))[0].int8(0) > 0 { sched_yield() }
  }

  private static let countProcesses = PostgresStatement(
    "count processes", "SELECT count(*) FROM pg_stat_activity WHERE datname = $1", .text)
  private static let countWaiting = PostgresStatement(
    "see who waits for a lock",
    """
    SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
    WHERE d.datname = $1 AND NOT l.granted AND l.mode LIKE $2
    """, .text, .text)

  /// Returns when a process of a database waits for a lock whose mode is LIKE a pattern.
  func awaitLock(_ pattern: String, in database: String) throws {
    while try connection.run(Self.countWaiting, .text(database), .text(pattern))[0].int8(0) == 0 { sched_yield() }
  }

  /// Returns when a process of a database waits for the lock of writers.
  func awaitWriter(in database: String) throws { try awaitLock("ShareUpdateExclusiveLock", in: database) }

  /// Ends all processes of a database, and returns when they have ended.
  func terminateAll(in database: String) throws {
    let processes = try connection.run(
      PostgresStatement(
        once: "end processes", "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", .text),
      .text(database))
    for process in try processes.all(make: { $0.int4(0) }) { try awaitEnd(of: process) }
  }

  /// Returns when a database has no processes.
  func awaitNoProcess(in database: String) throws {
    while try connection.run(Self.countProcesses, .text(database))[0].int8(0) > 0 { sched_yield() }
  }

  func terminate(_ process: Int32) throws {
    try connection.run(
      PostgresStatement(once: "end a process", "SELECT pg_terminate_backend($1)", .int4), .int4(process))
  }
}

extension SQLState {
  static let uniqueViolation = SQLState(rawValue: "23505")
  /// `statement_timeout`, or a request to cancel.
  static let queryCanceled = SQLState(rawValue: "57014")
}

/// Work on a thread of its own.
///
/// `@unchecked Sendable`: the result is written before the semaphore is signaled, and read after the wait for it.
final class Work<Value: Sendable>: @unchecked Sendable {
  private var result: Result<Value, any Error>?
  private let end = DispatchSemaphore(value: 0)

  init(_ body: @escaping @Sendable () throws -> Value) {
    let thread = Thread { [self] in
      result = Result(catching: body)
      end.signal()
    }
    thread.start()
  }

  func join() throws -> Value {
    end.wait()
    return try result!.get()
  }

  /// The error of the work.
  func failure() -> PostgresError? {
    do {
      _ = try join()
      return nil
    } catch { return (error as? StoreError)?.postgres }
  }
}

/// Returns the connection's error that `body` throws.
func failure(_ body: () throws -> Void) -> PostgresError? {
  do {
    try body()
    return nil
  } catch { return (error as? StoreError)?.postgres }
}

var openDescriptors: Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0 }
