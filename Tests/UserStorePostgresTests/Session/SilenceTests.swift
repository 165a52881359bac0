import Foundation
import Synchronization
import Testing

@testable import UserStore
@testable import UserStorePostgres

extension AllTests {
  /// Connections on which everything is acknowledged and nothing is answered, in every phase of an operation.
  @Suite(.timeLimit(.minutes(5)))
  struct SilenceTests {
    let database: String
    let relay: Relay
    let store: UserStore
    let user: User.ID

    static let age = Attribute<Int64>("age")
    /// A limit for a connection that answers no more; its successor has that of the settings.
    static let short = Duration.milliseconds(100)

    init() throws {
      database = try Server.newDatabase()
      relay = try Relay()
      var configuration = PostgresConfiguration(relay.address(database))
      configuration.store.watchesOtherProcesses = false
      store = try UserStore(postgres: configuration)
      user = try store.write { try $0.add(name: "Ann") }
    }

    /// The code of the error that `body` throws.
    private static func code(_ body: () throws -> Void) -> StoreError.Code? {
      do { try body() } catch { return (error as? StoreError)?.code ?? .unexpected }
      return nil
    }

    enum Phase: CaseIterable { case look, read, scan, writeHead, writeBody, commit, acknowledgment }

    static let cuts: [Relay.Cut] = [.silentRequest, .silentReply]

    /// Gives the next connection that a pool lends a short limit for replies, and returns when it has one.
    private func limit(_ pool: SessionPool?) throws {
      let session = try #require(try pool?.take() as? PostgresSession)
      // A connection that was lost before is made again.
      _ = try session.logEnd()
      #expect(session.connection.replyTimeout == PostgresConfiguration().connectTimeout)
      session.connection.replyTimeout = Self.short
      pool?.give(back: session)
    }

    private func set(_ value: Int64) throws {
      try store.write { try $0.set(AttributeName("age"), of: user, to: .integer(value)) }
    }

    /// Runs an operation that meets `cut` in a phase, and returns the code of its error.
    private func run(_ phase: Phase, _ cut: Relay.Cut, _ acknowledged: (UserStore.Consumer, ChangeSet)) throws
      -> StoreError.Code?
    {
      let start = try store.read { try $0.cursor }
      switch phase {
      case .look, .read, .scan: try limit(store.engine.readers)
      case .writeHead: try limit(store.engine.writers)
      case .writeBody, .commit, .acknowledgment: break
      }
      /// Only what the cut meets has a short limit: a busy server may take longer for what precedes it.
      func arm(_ session: (any Session)? = nil) {
        if let session = session as? PostgresSession { session.connection.replyTimeout = Self.short }
        relay.arm(cut)
      }
      return Self.code {
        switch phase {
        case .look:
          arm()
          _ = try store.page(after: start)
        case .read:
          arm()
          _ = try store.read { try $0.user(user) }
        case .scan:
          arm()
          _ = try store.read { try $0.count(where: Self.age >= 1) }
        case .writeHead:
          arm()
          try set(2)
        case .writeBody:
          try store.write { transaction in
            try transaction.set(AttributeName("age"), of: user, to: .integer(2))
            arm(try transaction.session)
            try transaction.set(AttributeName("age"), of: user, to: .integer(3))
          }
        case .commit:
          try store.write { transaction in
            try transaction.set(AttributeName("age"), of: user, to: .integer(2))
            arm(try transaction.session)
          }
        case .acknowledgment:
          try store.write { transaction in
            try acknowledged.0.acknowledge(acknowledged.1, in: &transaction)
            _ = try transaction.ids(named: "Ann")
            arm(try transaction.session)
          }
        }
      }
    }

    @Test(arguments: Phase.allCases, [0, 1])
    func `an operation that is not answered ends, and the next one connects again`(_ phase: Phase, _ cut: Int)
      async throws
    {
      let cut = Self.cuts[cut]
      let (start, consumer) = (try await store.read { try $0.cursor }, try await store.consumer("c"))
      try await store.write { [user] in try $0.set(AttributeName("age"), of: user, to: .integer(1)) }
      let set = try #require(try await store.page(after: start).first)
      let code = try run(phase, cut, (consumer, set))
      let isCommitted = if case .silentReply = cut { phase == .commit } else { false }
      #expect(!relay.isArmed)
      #expect(code == (isCommitted ? nil : .connectionLost))
      let value = try await store.read { [user] in try $0.storedValue(AttributeName("age"), of: user) }
      #expect(value == .integer(isCommitted ? 2 : 1))
      try await store.write { [user] in try $0.set(AttributeName("age"), of: user, to: .integer(4)) }
    }

    @Test(arguments: [0, 1])
    func `connecting is not waited for longer than its limit, in each of its phases`(_ cut: Int) throws {
      // What a client sends until a session is ready: its start, then the parameters.
      for count in 0...1 {
        let (relay, requests) = (try Relay(), count)
        relay.arm(Self.cuts[cut], afterRequests: requests)
        var settings = PostgresSettings(relay.address(database))
        settings.connectTimeout = .seconds(3)
        let error = failure { _ = try PostgresConnection(settings) }
        #expect(error?.kind == .timeout && !relay.isArmed)
      }
    }

    @Test(arguments: [0, 1]) func `LISTEN that is not answered fails`(_ cut: Int) throws {
      let connection = try PostgresConnection(PostgresSettings(relay.address(database)))
      connection.replyTimeout = Self.short
      relay.arm(Self.cuts[cut])
      #expect(failure { try connection.listen(to: "a") }?.kind == .timeout)
      try connection.reconnect()
      try connection.listen(to: "a")
    }

    @Test func `a COMMIT whose server cannot be reached any more is of unknown outcome`() throws {
      var configuration = PostgresConfiguration(relay.address(database))
      configuration.store.watchesOtherProcesses = false
      // Each attempt to connect again takes as long.
      configuration.connectTimeout = .seconds(3)
      let store = try UserStore(postgres: configuration)
      // The first write of a store reads what others have written.
      try store.write { try $0.set(AttributeName("age"), of: user, to: .integer(1)) }
      let code = Self.code {
        try store.write { transaction in
          try transaction.set(AttributeName("age"), of: user, to: .integer(2))
          (try transaction.session as? PostgresSession)?.decisionLimit = .zero
          relay.silence()
        }
      }
      #expect(code == .commitUnknown)
      relay.silence(false)
      while let code = Self.code({ try store.write { try $0.rename(user, to: "Zoë") } }) {
        try #require(code == .connectionLost)
      }
    }

    @Test func `a statement that the server works on is waited for, however long it is silent`() throws {
      var settings = PostgresSettings(relay.address(database))
      // Those of a question and of the lock: on a busy machine, three connections take seconds.
      (settings.connectTimeout, settings.lockTimeout) = (.seconds(600), nil)
      let connection = try PostgresConnection(settings)
      let holder = try PostgresConnection(PostgresSettings(Server.address(database)))
      try holder.run(PostgresStatement(once: "lock", "SELECT pg_advisory_lock(4720)"))
      connection.replyTimeout = Self.short
      let before = relay.connections
      let work = Work { try connection.run(PostgresStatement(once: "lock", "SELECT pg_advisory_lock(4720)")).count }
      // Each question is a connection.
      while relay.connections < before + 3 { sched_yield() }
      holder.close()
      #expect(try work.join() == 1)
      #expect(connection.isOpen)
    }

    @Test func `interrupting ends a wait whose server is asked`() throws {
      var settings = PostgresSettings(relay.address(database))
      settings.replyTimeout = .seconds(600)
      settings.connectTimeout = .seconds(600)
      let connection = try PostgresConnection(settings)
      connection.replyTimeout = Self.short
      relay.silence()
      let before = relay.connections
      let work = Work { try connection.run(PostgresStatement(once: "read one", "SELECT 1::int8")).count }
      while relay.connections == before { sched_yield() }
      connection.interrupter.interrupt()
      #expect(work.failure()?.kind == .interrupted)
      #expect(!connection.interrupter.isInUse)
    }
  }
}
