import Foundation
import Testing

@testable import UserStore
@testable import UserStorePostgres

extension AllTests {
  /// A store that hears of others through connections on which everything is acknowledged and nothing is answered.
  @Suite(.timeLimit(.minutes(5)))
  struct SilentWatchTests {
    let database: String
    let relay: Relay
    let writer: UserStore
    let watching: UserStore
    let user: User.ID
    let received = Inbox<Int64>()
    let errors = Inbox<StoreError>()

    init() throws {
      database = try Server.newDatabase()
      relay = try Relay()
      var configuration = PostgresConfiguration(Server.address(database))
      configuration.store.watchesOtherProcesses = false
      writer = try UserStore(postgres: configuration)
      configuration.address = relay.address(database)
      configuration.store.watchesOtherProcesses = true
      configuration.store.onListenerError = { [errors] _, error in errors.append(StoreError(error)) }
      configuration.idleLook = .milliseconds(200)
      configuration.connectTimeout = .seconds(5)
      watching = try UserStore(postgres: configuration)
      user = try writer.write { try $0.add(name: "Ann") }
      watching.listeners.bind("values", to: .attribute(Attribute<Int64>("age"), of: user)) { [received] set in
        for change in try set.changes { if case .integer(let value) = change.new { received.append(value) } }
      }
    }

    private func write(_ value: Int64) throws {
      try writer.write { try $0.set(AttributeName("age"), of: user, to: .integer(value)) }
    }

    @Test func `a connection for notifications that receives nothing is replaced when a look finds something`() throws {
      try write(1)
      received.awaitNext()
      let before = relay.listeners
      relay.silenceListeners()
      try write(2)
      received.awaitNext()
      let limit = ContinuousClock.now + .seconds(60)
      while relay.listeners == before, ContinuousClock.now < limit { sched_yield() }
      #expect(relay.listeners == before + 1)
      try write(3)
      received.awaitNext()
      #expect(received.all == [1, 2, 3])
      watching.close()
    }

    @Test func `a connection for notifications that works is kept when a look is sooner`() throws {
      let events = try PostgresEvents(
        PostgresConnections(PostgresSettings(relay.address(database))), idleLook: .seconds(5))
      let before = relay.connections
      events.missedEvent()
      #expect(events.wait(microseconds: 0) == [])
      #expect(relay.connections == before)
    }

    @Test func `the loss is reported once, and listeners then receive every change once and in order`() throws {
      try write(1)
      received.awaitNext()
      relay.silence()
      errors.awaitNext()
      for value in 2...5 as ClosedRange<Int64> { try write(value) }
      relay.silence(false)
      for _ in 2...5 { received.awaitNext() }
      #expect(received.all == [1, 2, 3, 4, 5])
      let error = try #require(errors.all.first)
      #expect(errors.all.count == 1 && error.code == .connectionLost)
      #expect(error.message.contains("when the server can be reached again"))
      watching.close()
    }

    @Test func `the time until a loss is noticed is less than ten seconds`() throws {
      let configuration = PostgresConfiguration()
      let connections = PostgresConnections(configuration.settings)
      let limit = try #require(connections.watching.replyTimeout)
      #expect(configuration.idleLook * 11 / 10 + limit < .seconds(10))
    }

    @Test func `a feed whose connections are silent continues at its cursor`() async throws {
      let start = try await watching.read { try $0.cursor }
      relay.silence()
      let next = Task { [watching] in
        var feed = watching.changes(after: start).makeAsyncIterator()
        return try await feed.next()?.revision
      }
      // Until a read has found its connection lost, and another connection is tried.
      while relay.connections < 4 { await Task.yield() }
      try await writer.write { [user] in try $0.set(AttributeName("age"), of: user, to: .integer(1)) }
      let end = try await writer.read { try $0.cursor.revision }
      relay.silence(false)
      let received = try await next.value
      #expect(received == end)
    }
  }
}
