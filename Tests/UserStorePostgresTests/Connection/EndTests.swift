import Foundation
import Testing

@testable import UserStorePostgres

private let sleep = PostgresStatement("sleep", "SELECT pg_sleep(600)")
private let one = PostgresStatement("read one", "SELECT 1::int8")

extension AllTests {
  /// Interruptions, deadlines, lost connections and notifications.
  @Suite(.timeLimit(.minutes(5)))
  struct EndTests {
    let observer: Observer
    init() throws { observer = try Observer() }

    // MARK: Interruptions

    @Test func `interrupts a statement`() throws {
      let connection = try Server.connect()
      let (process, interrupter) = (connection.serverProcess, connection.interrupter)
      let work = Work { try connection.run(sleep).count }
      try observer.awaitProcess(process, waitsFor: "PgSleep")
      let start = ContinuousClock.now
      interrupter.interrupt()
      let error = work.failure()
      // Some milliseconds; the limit allows for a busy machine.
      #expect(start.duration(to: .now) < .milliseconds(500))
      #expect(error?.kind == .interrupted && error?.isConnectionLost == true)
      #expect(!connection.isOpen)
      #expect(failure { try connection.run(one) }?.kind == .interrupted)
      // The server has stopped the statement too.
      try observer.awaitEnd(of: process)
      #expect(failure { try connection.reconnect() }?.kind == .interrupted)
    }

    @Test func `stops a statement, and connects again`() throws {
      let connection = try Server.connect()
      let (process, interrupter) = (connection.serverProcess, connection.interrupter)
      let work = Work { try connection.run(sleep).count }
      try observer.awaitProcess(process, waitsFor: "PgSleep")
      interrupter.stop()
      #expect(work.failure()?.kind == .interrupted)
      try observer.awaitEnd(of: process)
      #expect(failure { try connection.reconnect() }?.kind == .interrupted)
      interrupter.resume()
      try connection.reconnect()
      #expect(try connection.run(one)[0].int8(0) == 1)
      // What ends the use for good is not taken back.
      interrupter.interrupt()
      interrupter.resume()
      #expect(failure { try connection.run(one) }?.kind == .interrupted)
    }

    @Test func `interrupt releases locks`() throws {
      let holder = try Server.connect()
      let waiter = try Server.connect()
      let lock = PostgresStatement("lock", "SELECT pg_advisory_lock(4711)")
      try holder.run(lock)
      let process = waiter.serverProcess
      let work = Work { try waiter.run(lock).count }
      try observer.awaitProcess(process, waitsFor: "advisory")
      waiter.interrupter.interrupt()
      #expect(work.failure()?.kind == .interrupted)
      try observer.awaitEnd(of: process)
      holder.close()
    }

    @Test func `interrupts before and between`() throws {
      let connection = try Server.connect()
      let trips = connection.roundTrips
      connection.interrupter.interrupt()
      let error = failure { try connection.run(one) }
      #expect(error?.kind == .interrupted && error?.isOutcomeUnknown == false)
      #expect(connection.roundTrips == trips)
    }

    @Test func `interrupts a wait for notifications`() throws {
      let connection = try Server.connect()
      let work = Work { try connection.wait(for: .seconds(600)).isWoken }
      connection.interrupter.interrupt()
      #expect(work.failure()?.kind == .interrupted)
    }

    @Test func `interrupts connecting`() throws {
      let listener = try SilentListener()
      var settings = PostgresSettings("host=127.0.0.1 port=\(listener.port) user=postgres sslmode=disable")
      settings.connectTimeout = .seconds(600)
      let interrupter = try PostgresInterrupter()
      let work = Work { [settings] in try PostgresConnection(settings, interrupter: interrupter).isOpen }
      listener.awaitConnection()
      interrupter.interrupt()
      #expect(work.failure()?.kind == .interrupted)
    }

    // MARK: Deadlines

    @Test func `connect deadline`() throws {
      let listener = try SilentListener()
      var settings = PostgresSettings("host=127.0.0.1 port=\(listener.port) user=postgres sslmode=disable")
      settings.connectTimeout = .milliseconds(100)
      let start = ContinuousClock.now
      let error = failure { _ = try PostgresConnection(settings) }
      #expect(error?.kind == .timeout)
      #expect(error?.description == "cannot connect: the server did not answer in time")
      #expect(start.duration(to: .now) >= .milliseconds(100))
    }

    @Test func `reply deadline`() throws {
      let relay = try Relay()
      let connection = try PostgresConnection(PostgresSettings(relay.address("postgres")))
      connection.replyTimeout = .milliseconds(100)
      let process = connection.serverProcess
      relay.arm(.silentReply)
      let start = ContinuousClock.now
      let error = failure { try connection.run(one) }
      #expect(error?.kind == .timeout && error?.isOutcomeUnknown == true)
      #expect(start.duration(to: .now) >= .milliseconds(100))
      #expect(!connection.isOpen)
      try observer.awaitEnd(of: process)
      try connection.reconnect()
      #expect(try connection.run(one)[0].int8(0) == 1)
    }

    @Test func `statement deadline`() throws {
      let connection = try Server.connect { $0.statementTimeout = .seconds(1) }
      #expect(failure { try connection.run(sleep) }?.sqlState == .queryCanceled)
      #expect(try connection.run(one)[0].int8(0) == 1)
    }

    @Test func `lock deadline`() throws {
      let holder = try Server.connect()
      let lock = PostgresStatement("lock", "SELECT pg_advisory_lock(4712)")
      try holder.run(lock)
      let waiter = try Server.connect { $0.lockTimeout = .milliseconds(50) }
      let error = failure { try waiter.run(lock) }
      #expect(error?.sqlState == .lockNotAvailable)
      holder.close()
    }

    @Test func `idle in transaction deadline`() throws {
      let connection = try Server.connect { $0.idleInTransactionTimeout = .milliseconds(50) }
      let process = connection.serverProcess
      try connection.run(.begin)
      try observer.awaitEnd(of: process)
      let error = failure { try connection.run(one) }
      #expect(error?.kind == .connectionLost && error?.isOutcomeUnknown == false)
    }

    // MARK: Lost connections

    @Test func `server process ends in a statement`() throws {
      let connection = try Server.connect()
      let process = connection.serverProcess
      let work = Work { try connection.run(sleep).count }
      try observer.awaitProcess(process, waitsFor: "PgSleep")
      try observer.terminate(process)
      let error = work.failure()
      #expect(error?.kind == .connectionLost && error?.isOutcomeUnknown == true)
      #expect(error?.message.contains("administrator command") == true)
      #expect(!connection.isOpen && connection.transactionStatus == .unknown)
      #expect(failure { try connection.run(one) }?.kind == .connectionLost)
      try connection.reconnect()
      #expect(try connection.run(one)[0].int8(0) == 1)
    }

    @Test func `server process ends while idle`() throws {
      let connection = try Server.connect()
      let process = connection.serverProcess
      try observer.terminate(process)
      try observer.awaitEnd(of: process)
      #expect(failure { try connection.run(one) }?.kind == .connectionLost)
    }

    @Test func `server process ends while waiting for notifications`() throws {
      let connection = try Server.connect()
      try connection.listen(to: "news")
      let process = connection.serverProcess
      let work = Work { try connection.wait(for: .seconds(600)).isWoken }
      try observer.terminate(process)
      let error = work.failure()
      #expect(error?.kind == .connectionLost)
      #expect(!connection.isOpen)
    }

    /// A COMMIT that waits in a deferred trigger when the server process is ended.
    @Test func `commit of unknown outcome`() throws {
      let connection = try Server.connect()
      let process = connection.serverProcess
      try connection.execute(
        """
        CREATE TEMP TABLE t (a int8);
        CREATE FUNCTION pg_temp.wait() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN PERFORM pg_advisory_xact_lock(4713); RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER w AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
          EXECUTE FUNCTION pg_temp.wait();
        """, to: "set up")
      try observer.connection.run(PostgresStatement(once: "lock", "SELECT pg_advisory_lock(4713)"))
      let insert = PostgresStatement("insert", "INSERT INTO pg_temp.t VALUES (1)")
      try connection.pipeline { batch in
        batch.add(.begin)
        batch.add(insert)
      }
      let work = Work { try connection.run(.commit).count }
      try observer.awaitProcess(process, waitsFor: "advisory")
      try observer.terminate(process)
      let error = work.failure()
      #expect(error?.kind == .connectionLost && error?.isOutcomeUnknown == true)
      // Without a COMMIT, nothing can have been committed.
      try connection.reconnect()
      let second = connection.serverProcess
      try connection.run(.begin)
      let other = Work { try connection.run(sleep).count }
      try observer.awaitProcess(second, waitsFor: "PgSleep")
      try observer.terminate(second)
      #expect(other.failure()?.isOutcomeUnknown == false)
      try observer.connection.run(PostgresStatement(once: "unlock", "SELECT pg_advisory_unlock(4713)"))
    }

    @Test func `server restarts`() throws {
      let (folder, port) = (Server.folder + "-restart", "\((Int(Server.port) ?? 0) + 1)")
      try Server.cluster("start", folder, port: port)
      defer { try? Server.cluster("remove", folder, port: port) }
      let connection = try PostgresConnection(PostgresSettings("host=\(folder) port=\(port) user=postgres"))
      let waiter = try PostgresConnection(PostgresSettings("host=\(folder) port=\(port) user=postgres"))
      let work = Work { try waiter.wait(for: .seconds(600)).isWoken }
      for mode in ["fast", "immediate"] {
        #expect(try connection.run(one)[0].int8(0) == 1)
        try Server.cluster("restart", folder, mode, port: port)
        #expect(failure { try connection.run(one) }?.kind == .connectionLost)
        try connection.reconnect()
      }
      #expect(work.failure()?.kind == .connectionLost)
      try Server.cluster("stop", folder, port: port)
      #expect(failure { try connection.run(one) }?.kind == .connectionLost)
      #expect(failure { try connection.reconnect() }?.kind == .cannotConnect)
    }

    @Test func `script of unknown outcome`() throws {
      let connection = try Server.connect()
      let process = connection.serverProcess
      let work = Work { try connection.execute("SELECT 1; SELECT pg_sleep(600)", to: "set up") }
      try observer.awaitProcess(process, waitsFor: "PgSleep")
      try observer.terminate(process)
      let error = work.failure()
      #expect(error?.kind == .connectionLost && error?.isOutcomeUnknown == true)
    }

    // MARK: Notifications

    private static let notify = PostgresStatement("notify", "SELECT pg_notify($1, $2)", .text, .text)

    @Test func `notifications`() throws {
      let listener = try Server.connect()
      try listener.listen(to: "a \"b\"")
      #expect(try listener.wait(for: .zero) == ([], false))
      let sender = observer.connection
      let work = Work { try listener.wait(for: .seconds(600)).notifications }
      try sender.run(Self.notify, .text("a \"b\""), .text("é"))
      #expect(
        try work.join() == [PostgresNotification(channel: "a \"b\"", payload: "é", process: sender.serverProcess)])
      // Those that come with the reply to a statement are kept.
      try sender.run(Self.notify, .text("a \"b\""), .text("1"))
      try sender.run(Self.notify, .text("a \"b\""), .text("2"))
      var received: [String] = []
      while received.count < 2 {
        try listener.run(one)
        received += try listener.wait(for: .seconds(60)).notifications.map(\.payload)
      }
      #expect(received == ["1", "2"])
      // Of a transaction that was rolled back, there is none.
      try sender.run(.begin)
      try sender.run(Self.notify, .text("a \"b\""), .text("3"))
      try sender.run(.rollback)
      #expect(try listener.wait(for: .milliseconds(20)) == ([], false))
    }

    @Test func `wakes a wait`() throws {
      let connection = try Server.connect()
      let work = Work { try connection.wait(for: .seconds(600)).isWoken }
      connection.interrupter.wake()
      #expect(try work.join())
      #expect(try connection.wait(for: .zero).isWoken == false)
      // A wake-up before the wait, or while a statement runs, is kept.
      connection.interrupter.wake()
      #expect(try connection.run(one)[0].int8(0) == 1)
      #expect(try connection.wait(for: .seconds(600)).isWoken)
      let process = connection.serverProcess
      try observer.connection.run(PostgresStatement(once: "lock", "SELECT pg_advisory_lock(4714)"))
      let statement = Work {
        try connection.run(PostgresStatement(once: "lock", "SELECT pg_advisory_lock(4714)")).count
      }
      try observer.awaitProcess(process, waitsFor: "advisory")
      connection.interrupter.wake()
      try observer.connection.run(PostgresStatement(once: "unlock", "SELECT pg_advisory_unlock(4714)"))
      _ = try statement.join()
      #expect(try connection.wait(for: .seconds(600)).isWoken)
    }

    @Test func `wait ends in time`() throws {
      let connection = try Server.connect()
      let start = ContinuousClock.now
      #expect(try connection.wait(for: .milliseconds(30)) == ([], false))
      #expect(start.duration(to: .now) >= .milliseconds(30))
    }

    // MARK: Descriptors

    @Test func `hundred connections leave no descriptor`() throws {
      let before = openDescriptors
      var connections = try (0..<100).map { _ in try Server.connect() }
      #expect(try connections.allSatisfy { try $0.run(one)[0].int8(0) == 1 })
      // Each has three. A thread of a test before, that asked the server to cancel, can close its own meanwhile.
      #expect(openDescriptors > before + 200)
      connections = []
      #expect(openDescriptors <= before)
    }

    @Test func `failures leave no descriptor`() throws {
      let before = openDescriptors
      for _ in 0..<20 {
        #expect(failure { _ = try PostgresConnection(PostgresSettings(Server.string + " dbname=missing")) } != nil)
        let connection = try Server.connect()
        let (process, interrupter) = (connection.serverProcess, connection.interrupter)
        let work = Work { try connection.run(sleep).count }
        try observer.awaitProcess(process, waitsFor: "PgSleep")
        interrupter.interrupt()
        #expect(work.failure()?.kind == .interrupted)
      }
      // The thread that asks the server to cancel closes its descriptors at the latest when the server has answered: here, and in
      // a test before, so that there can be fewer in the end. With a leak, this does not end before the suite's limit.
      while openDescriptors > before { sched_yield() }
    }
  }
}

/// Accepts connections and never answers.
final class SilentListener {
  private let descriptor: Int32
  private var accepted: Int32 = -1
  let port: UInt16

  init() throws {
    (descriptor, port) = try listenOnLoopback()
  }

  deinit {
    close(descriptor)
    if accepted >= 0 { close(accepted) }
  }

  /// Returns when a client has connected.
  func awaitConnection() { accepted = accept(descriptor, nil, nil) }
}
