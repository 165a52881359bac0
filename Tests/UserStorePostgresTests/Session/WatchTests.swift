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
    let both: WatchedWriter

    init() throws {
      database = try Server.newDatabase()
      observer = try Observer()
      // Only events make it look.
      both = try WatchedWriter(database) { $0.idleLook = .seconds(100_000) }
    }

    @Test func `a notification makes the watcher look`() throws {
      // The first looks of a watcher are by the clock, but not a hundred of them.
      for value in 1...100 as ClosedRange<Int64> {
        try both.write(value)
        both.received.awaitNext()
      }
      #expect(both.received.all == Array(1...100))
      both.watching.close()
    }

    @Test func `a watcher that loses its connections hears everything once, in order`() throws {
      for value in 1...30 as ClosedRange<Int64> {
        if value.isMultiple(of: 3) { try observer.terminateAll(in: database) }
        try both.write(value)
        if value.isMultiple(of: 2) {
          both.received.awaitNext()
          both.received.awaitNext()
        }
      }
      #expect(both.received.all == Array(1...30))
      both.watching.close()
    }

    @Test func `closing ends all connections`() throws {
      try both.write(1)
      both.received.awaitNext()
      both.watching.close()
      both.writer.close()
      try observer.awaitNoProcess(in: database)
    }

    @Test func `interrupting ends all connections of a store that watches`() throws {
      try both.write(1)
      both.received.awaitNext()
      both.watching.interruptAndClose()
      both.writer.close()
      try observer.awaitNoProcess(in: database)
    }

    @Test func `the time between looks is five seconds`() throws {
      let events = try PostgresEvents(PostgresConnections(PostgresSettings(Server.string)), idleLook: .seconds(5))
      #expect((4_500_000...5_500_000).contains(events.idleLook))
      #expect(PostgresConfiguration().idleLook == .seconds(5))
    }
  }
}
