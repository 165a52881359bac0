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
    let both: WatchedWriter
    let errors = Inbox<StoreError>()

    init() throws {
      database = try Server.newDatabase()
      relay = try Relay()
      both = try WatchedWriter(database) { [database, relay, errors] in
        $0.address = relay.address(database)
        $0.store.onListenerError = { _, error in errors.append(StoreError(error)) }
        $0.idleLook = .milliseconds(200)
        $0.connectTimeout = .seconds(5)
      }
    }

    @Test func `a connection for notifications that receives nothing is replaced when a look finds something`() throws {
      try both.write(1)
      both.received.awaitNext()
      let before = relay.listeners
      relay.silenceListeners()
      // A look may find the first of these writes when it was woken by the notification of the one before.
      var value: Int64 = 1
      let limit = ContinuousClock.now + .seconds(60)
      while relay.listeners == before, ContinuousClock.now < limit {
        value += 1
        try both.write(value)
        both.received.awaitNext()
        let next = ContinuousClock.now + .seconds(5)
        // Polled: the server does not report that a connection listens.
        while relay.listeners == before, ContinuousClock.now < next { Thread.sleep(forTimeInterval: 0.001) }
      }
      #expect(relay.listeners == before + 1)
      try both.write(value + 1)
      both.received.awaitNext()
      #expect(both.received.all == Array(1...value + 1))
      both.watching.close()
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
      try both.write(1)
      both.received.awaitNext()
      relay.silence()
      errors.awaitNext()
      for value in 2...5 as ClosedRange<Int64> { try both.write(value) }
      relay.silence(false)
      for _ in 2...5 { both.received.awaitNext() }
      #expect(both.received.all == [1, 2, 3, 4, 5])
      let error = try #require(errors.all.first)
      #expect(errors.all.count == 1 && error.code == .connectionLost)
      #expect(error.message.contains("when the server can be reached again"))
      both.watching.close()
    }

    @Test func `the time until a loss is noticed is less than ten seconds`() throws {
      let configuration = PostgresConfiguration()
      let connections = PostgresConnections(configuration.settings)
      let limit = try #require(connections.watching.replyTimeout)
      #expect(configuration.idleLook * 11 / 10 + limit < .seconds(10))
    }

    @Test func `a feed whose connections are silent continues at its cursor`() async throws {
      let start = try await both.watching.read { try $0.cursor }
      relay.silence()
      let next = Task { [both] in
        var feed = both.watching.changeSets(after: start).makeAsyncIterator()
        return try await feed.next()?.revision
      }
      // Until a read has found its connection lost, and another connection is tried.
      while relay.connections < 4 { await Task.yield() }
      try await both.writer.write { [both] in try $0.set(AttributeName("age"), of: both.user, to: .integer(1)) }
      let end = try await both.writer.read { try $0.cursor.revision }
      relay.silence(false)
      let found = try await next.value
      #expect(found == end)
    }
  }
}
