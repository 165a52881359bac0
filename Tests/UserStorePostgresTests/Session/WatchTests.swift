import Foundation
import Testing

@testable import UserStore
@testable import UserStorePostgres

extension AllTests {
  /// What a store hears of others.
  @Suite(.timeLimit(.minutes(5)))
  struct WatchTests {
    let database: String
    let observer: Observer
    let writer: UserStore
    let watching: UserStore
    let user: User.ID
    let received = Inbox<Int64>()

    init() throws {
      database = try Server.newDatabase()
      observer = try Observer()
      var configuration = PostgresConfiguration(Server.address(database))
      configuration.store.watchesOtherProcesses = false
      writer = try UserStore(postgres: configuration)
      configuration.store.watchesOtherProcesses = true
      // Only events make it look.
      configuration.idleLook = .seconds(100_000)
      watching = try UserStore(postgres: configuration)
      user = try writer.write { try $0.add(name: "Ann") }
      watching.listeners.bind("values", to: .attribute(Attribute<Int64>("age"), of: user)) { [received] set in
        for change in try set.changes { if case .integer(let value) = change.new { received.append(value) } }
      }
    }

    private func write(_ value: Int64) throws {
      try writer.write { try $0.set(AttributeName("age"), of: user, to: .integer(value)) }
    }

    @Test func `a notification makes the watcher look`() throws {
      // The first looks of a watcher are by the clock, but not a hundred of them.
      for value in 1...100 as ClosedRange<Int64> {
        try write(value)
        received.awaitNext()
      }
      #expect(received.all == Array(1...100))
      watching.close()
    }

    @Test func `a watcher that loses its connections hears everything once, in order`() throws {
      for value in 1...30 as ClosedRange<Int64> {
        if value.isMultiple(of: 3) { try observer.terminateAll(in: database) }
        try write(value)
        if value.isMultiple(of: 2) {
          received.awaitNext()
          received.awaitNext()
        }
      }
      #expect(received.all == Array(1...30))
      watching.close()
    }

    @Test func `closing ends all connections`() throws {
      try write(1)
      received.awaitNext()
      watching.close()
      writer.close()
      try observer.awaitNoProcess(in: database)
    }

    @Test func `interrupting ends all connections of a store that watches`() throws {
      try write(1)
      received.awaitNext()
      watching.interruptAndClose()
      writer.close()
      try observer.awaitNoProcess(in: database)
    }

    @Test func `the time between looks is five seconds`() throws {
      let events = try PostgresEvents(PostgresConnections(PostgresSettings(Server.string)), idleLook: .seconds(5))
      #expect((4_500_000...5_500_000).contains(events.idleLook))
      #expect(PostgresConfiguration().idleLook == .seconds(5))
    }
  }
}
