import Foundation
import Synchronization
import Testing

@testable import UserStore
@testable import UserStorePostgres

extension AllTests {
  /// Connections that are lost: each write is in the log once and was acknowledged, or is not in the log and has failed.
  @Suite(.timeLimit(.minutes(5)))
  struct LossTests {
    let database: String
    let observer: Observer
    let relay: Relay
    let store: UserStore
    let user: User.ID

    init() throws {
      database = try Server.newDatabase()
      observer = try Observer()
      relay = try Relay()
      var configuration = PostgresConfiguration(relay.address(database))
      configuration.store.watchesOtherProcesses = false
      configuration.store.busyTimeout = .seconds(60)
      store = try UserStore(postgres: configuration)
      user = try store.write { try $0.add(name: "Ann") }
    }

    /// Writes a value after which `cut` is armed: the next that is sent is the batch with COMMIT.
    ///
    /// A write before it prepares the statements, after a new connection, and finds nothing of others.
    private func write(_ value: Int64, _ cut: Relay.Cut) -> StoreError.Code? {
      Self.write(value, cut, store, user, relay)
    }

    private static func write(
      _ value: Int64, _ cut: Relay.Cut, _ store: UserStore, _ user: User.ID, _ relay: Relay
    ) -> StoreError.Code? {
      do {
        try store.write { try $0.set(AttributeName("before"), of: user, to: .text("\(value)")) }
        try store.write { transaction in
          try transaction.set(AttributeName("age"), of: user, to: .integer(value))
          relay.arm(cut)
        }
        return nil
      } catch { return (error as? StoreError)?.code }
    }

    /// The values that the log has after a cursor, in a session that no relay cuts.
    private func logged(after cursor: Cursor) throws -> [Int64] {
      var configuration = PostgresConfiguration(Server.address(database))
      configuration.store.access = .readOnly
      let store = try UserStore(postgres: configuration)
      defer { store.close() }
      return try store.page(after: cursor).flatMap { try $0.changes }.compactMap {
        if case .integer(let value) = $0.new { value } else { nil }
      }
    }

    private func cursor() throws -> Cursor { try store.read { try $0.cursor } }

    @Test func `a removal whose connection is lost was not refused by another table`() throws {
      let error = #expect(throws: StoreError.self) {
        try store.write { transaction in
          try transaction.rename(user, to: "Bob")
          relay.arm(.afterBytes(0))
          try transaction.remove(user)
        }
      }
      #expect(error?.code == .connectionLost)
    }

    @Test func `a cut at each byte of the batch with COMMIT`() throws {
      let start = try cursor()
      // The batch of a later connection can be longer, so that the second one is measured.
      #expect(write(1, .beforeReply) == nil)
      #expect(write(2, .beforeReply) == nil)
      let size = relay.sentBytes
      var written: [Int64] = [1, 2]
      for count in stride(from: 0, through: size, by: 1) {
        let value = Int64(count + 3)
        let code = write(value, .afterBytes(count))
        #expect(code == nil || code == .connectionLost, "after byte \(count)")
        if code == nil { written.append(value) }
      }
      #expect(try logged(after: start) == written)
      // Without its last byte, the batch is not executed; COMMIT precedes the Sync.
      #expect(written.contains(Int64(size + 3)))
    }

    @Test func `a cut at each byte of the reply to the batch with COMMIT`() throws {
      let start = try cursor()
      // As above, the reply to a later connection can be longer.
      #expect(write(1, .inReply(afterBytes: 0)) == nil)
      #expect(write(2, .inReply(afterBytes: 0)) == nil)
      let size = relay.repliedBytes
      // The reply to COMMIT is followed by that to the Sync. After the last byte, the connection ends while it is idle.
      for count in 0...size {
        #expect(write(Int64(count + 3), .inReply(afterBytes: count)) == nil, "after byte \(count)")
      }
      #expect(try logged(after: start) == Array(1...Int64(size + 3)))
    }

    @Test func `a cut between COMMIT and the reply`() throws {
      let start = try cursor()
      for value in 1...20 as ClosedRange<Int64> {
        #expect(write(value, value.isMultiple(of: 2) ? .beforeReply : .inReply(afterBytes: 0)) == nil)
      }
      #expect(try logged(after: start) == Array(1...20))
    }

    @Test func `a COMMIT that arrives after the client has connected again`() throws {
      let start = try cursor()
      let work = Work { [store, user, relay] in Self.write(1, .held, store, user, relay) }
      // The decision waits for the transaction that may still be committed.
      try observer.awaitWriter(in: database)
      relay.release()
      #expect(try work.join() == nil)
      #expect(try logged(after: start) == [1])
    }

    @Test func `a group of writes whose COMMIT is lost`() throws {
      let start = try cursor()
      let gate = DispatchSemaphore(value: 0)
      let entered = DispatchSemaphore(value: 0)
      let first = Work { [store, user] in
        try store.write {
          try $0.set(AttributeName("age"), of: user, to: .integer(1))
          entered.signal()
          gate.wait()
        }
      }
      entered.wait()
      let second = Work { [store, user, relay] in
        try store.write { transaction in
          try transaction.set(AttributeName("age"), of: user, to: .integer(2))
          relay.arm(.beforeReply)
        }
      }
      while store.writer?.turns.line.withLock({ $0.count }) != 1 { sched_yield() }
      gate.signal()
      try first.join()
      try second.join()
      #expect(try logged(after: start) == [1, 2])
    }

    @Test func `the store writes again after a COMMIT of unknown outcome, and delivers it if it was made`() throws {
      var configuration = PostgresConfiguration(relay.address(database))
      configuration.store.watchesOtherProcesses = false
      let store = try UserStore(postgres: configuration)
      try store.write { try $0.set(AttributeName("age"), of: user, to: .integer(0)) }
      let received = Mutex<[StoredValue]>([])
      store.listeners.bind("values", to: .attribute(Attribute<Int64>("age"), of: user)) { set in
        for change in try set.changes { received.withLock { $0.append(change.new) } }
      }
      func write(_ value: Int64, _ body: (PostgresSession?) -> Void = { _ in }) -> StoreError.Code? {
        do {
          try store.write { transaction in
            try transaction.set(AttributeName("age"), of: user, to: .integer(value))
            body(try transaction.session as? PostgresSession)
          }
          return nil
        } catch { return (error as? StoreError)?.code }
      }
      let code = write(1) { session in
        session?.decisionLimit = .milliseconds(100)
        relay.refuse()
        relay.arm(.beforeReply)
      }
      #expect(code == .commitUnknown)
      #expect(write(2) == .connectionLost)
      relay.refuse(false)
      while let code = write(3) { try #require(code == .connectionLost) }
      #expect(received.withLock { $0 } == [.integer(1), .integer(3)])
    }

    @Test func `the server process ends in a write`() throws {
      let start = try cursor()
      var code: StoreError.Code?
      do {
        try store.write { transaction in
          try transaction.set(AttributeName("age"), of: user, to: .integer(1))
          try observer.terminateAll(in: database)
          try transaction.set(AttributeName("age"), of: user, to: .integer(2))
        }
      } catch { code = (error as? StoreError)?.code }
      #expect(code == .connectionLost)
      #expect(try logged(after: start) == [])
    }

    @Test func `a COMMIT that was answered needs no server that decides it`() throws {
      let start = try cursor()
      #expect(write(1, .inReply(afterBytes: 0)) == nil)
      #expect(write(2, .inReply(afterBytes: 0)) == nil)
      let size = relay.repliedBytes
      // A last write on this connection, of which the store knows the end.
      try store.write { try $0.set(AttributeName("before"), of: user, to: .text("3")) }
      try store.write { transaction in
        try transaction.set(AttributeName("age"), of: user, to: .integer(3))
        // Without the last byte of the reply to the Sync.
        relay.arm(.inReply(afterBytes: size - 1))
        relay.refuse()
      }
      #expect(relay.refusals == 0)
      relay.accept()
      #expect(try logged(after: start) == [1, 2, 3])
    }

    /// One that is ended while it commits answers COMMIT, and not the Sync after it.
    @Test func `server processes that end at any moment of a write`() throws {
      let start = try cursor()
      let values = 1...300 as ClosedRange<Int64>
      let begins = DispatchSemaphore(value: 0)
      let duration = try ContinuousClock().measure {
        try store.write { try $0.set(AttributeName("before"), of: user, to: .text("")) }
      }
      let ends = Work { [database] in
        let observer = try Observer()
        for _ in values {
          begins.wait()
          let moment = ContinuousClock.now + duration * Double.random(in: 0...1)
          while ContinuousClock.now < moment {}
          try observer.terminateAll(in: database)
        }
      }
      var written: [Int64] = []
      for value in values {
        begins.signal()
        do {
          try store.write { try $0.set(AttributeName("age"), of: user, to: .integer(value)) }
          written.append(value)
        } catch { #expect((error as? StoreError)?.code == .connectionLost) }
      }
      try ends.join()
      #expect(try logged(after: start) == written)
    }

    @Test func `server processes that end while idle are not noticed`() throws {
      let start = try cursor()
      for value in 1...3 as ClosedRange<Int64> {
        try observer.terminateAll(in: database)
        try store.write { try $0.set(AttributeName("age"), of: user, to: .integer(value)) }
        try observer.terminateAll(in: database)
        #expect(try store.read { try $0.storedValue(AttributeName("age"), of: user) } == .integer(value))
      }
      #expect(try logged(after: start) == [1, 2, 3])
    }

    /// Starts to wait for the next set of a feed that has lost its connection, and returns when the server was not reached.
    private static func waitForServer(
      _ store: UserStore, after cursor: Cursor, _ relay: Relay
    ) async -> Task<Revision?, any Error> {
      let next = Task {
        var feed = store.changeSets(after: cursor).makeAsyncIterator()
        return try await feed.next()?.revision
      }
      while relay.refusals == 0 { await Task.yield() }
      return next
    }

    @Test func `a feed waits for a server that cannot be reached, and continues`() async throws {
      let start = try cursor()
      relay.refuse()
      try observer.terminateAll(in: database)
      let next = await Self.waitForServer(store, after: start, relay)
      let other = try UserStore(postgres: PostgresConfiguration(Server.address(database)))
      try await other.write { [user] in try $0.set(AttributeName("age"), of: user, to: .integer(1)) }
      let end = try await other.read { try $0.cursor.revision }
      await other.close()
      relay.accept()
      let received = try await next.value
      #expect(received == end)
    }

    @Test func `closing ends a feed that waits for a server`() async throws {
      let start = try cursor()
      relay.refuse()
      try observer.terminateAll(in: database)
      let next = await Self.waitForServer(store, after: start, relay)
      await store.close()
      let received = try await next.value
      #expect(received == nil)
    }

    @Test func `a consumer's position whose COMMIT is lost is not taken for saved`() throws {
      let session = try #require(try store.engine.writers?.take() as? PostgresSession)
      defer { store.engine.writers?.give(back: session) }
      session.beginWriting(isWaiting: true)
      _ = try session.claimConsumer("c", fencingToken: 1, at: session.writingEnd())
      relay.arm(.afterBytes(0))
      var code: StoreError.Code?
      do throws(StoreError) { _ = try session.commit(readingAfter: nil) } catch { code = error.code }
      #expect(code == .connectionLost)
    }

    @Test func `a store whose acknowledgment lost its COMMIT writes further`() async throws {
      let consumer = try await store.consumer("c")
      let set = try await store.write { [user] transaction in
        try transaction.set(AttributeName("age"), of: user, to: .integer(1))
        return try transaction.cursor
      }
      let sets = try await store.page(after: set)
      let acknowledged = try #require(sets.first)
      var code: StoreError.Code?
      do {
        try await store.write { [relay] transaction in
          try consumer.acknowledge(acknowledged, in: &transaction)
          // Sends everything before COMMIT.
          _ = try transaction.ids(named: "Ann")
          relay.arm(.beforeReply)
        }
      } catch { code = (error as? StoreError)?.code }
      #expect(code == .connectionLost)
      try await consumer.acknowledge(acknowledged)
      let cursor = try await consumer.cursor()
      #expect(cursor == acknowledged.cursor)
      try await store.write { [user] in try $0.set(AttributeName("age"), of: user, to: .integer(2)) }
    }
  }
}
