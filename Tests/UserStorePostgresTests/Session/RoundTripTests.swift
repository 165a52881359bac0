import Foundation
import Synchronization
import Testing

@testable import UserStore
@testable import UserStorePostgres

extension AllTests {
  /// What is sent together, and what an error leaves of it.
  @Suite(.timeLimit(.minutes(5)))
  struct RoundTripTests {
    let store: UserStore
    let user: User.ID
    /// The settings with which another program can connect to the store's database.
    let settings: PostgresSettings

    init() throws {
      var configuration = PostgresConfiguration(Server.address(try Server.newDatabase()))
      settings = configuration.settings
      configuration.store.watchesOtherProcesses = false
      store = try UserStore(postgres: configuration)
      user = try store.write { try $0.add(name: "Ann") }
    }

    /// The round trips of a session of the store while `body` runs.
    private func roundTrips(_ pool: SessionPool?, _ body: () throws -> Void) throws -> Int {
      func count() throws -> Int {
        let session = try #require(try pool?.take() as? PostgresSession)
        defer { pool?.give(back: session) }
        return session.connection.roundTrips
      }
      let before = try count()
      try body()
      return try count() - before
    }

    @Test func `a lone write takes two round trips, with listeners too`() throws {
      for hasListener in [false, true] {
        let received = Mutex<[Cursor]>([])
        let token =
          hasListener
          ? store.listeners.bind(to: .everything) { set in received.withLock { $0.append(set.cursor) } } : nil
        let trips = try roundTrips(store.engine.writers) {
          try store.write { try $0.set(AttributeName("age"), of: user, to: .integer(hasListener ? 2 : 1)) }
        }
        #expect(trips == 2)
        #expect(received.withLock { $0.count } == (hasListener ? 1 : 0))
        withExtendedLifetime(token) {}
      }
    }

    /// Writes `values` of the attribute `age` as sets of one transaction; returns the end of the log that the session reports.
    private func end(_ session: PostgresSession, ofSets values: [Int64]) throws -> Cursor {
      session.beginWriting(isWaiting: true)
      for value in values {
        _ = try session.put("age", of: user, .integer(value))
        session.endSet(origin: nil)
      }
      return try session.commit(readingAfter: nil).end
    }

    @Test func `the end of a write is that of its last set that has rows`() throws {
      let session = try #require(try store.engine.writers?.take() as? PostgresSession)
      defer { store.engine.writers?.give(back: session) }
      for values: [Int64] in [[1], [1], [2, 3], [4, 4], [4, 4], [5, 5, 6]] {
        let end = try end(session, ofSets: values)
        #expect(try store.read { try $0.cursor } == end, "\(values)")
      }
      #expect(try store.check().isEmpty)
    }

    @Test func `a read takes two round trips`() throws {
      // The second one is ROLLBACK.
      #expect(try roundTrips(store.engine.readers) { _ = try store.read { try $0.user(user) } } == 2)
    }

    /// A session that reads the log after a position, as the watcher and a feed do.
    private func looks(_ body: (PostgresSession) throws -> Void) throws {
      let session = try #require(try store.engine.readers.take() as? PostgresSession)
      defer { store.engine.readers.give(back: session) }
      try body(session)
    }

    @Test func `a look at the log takes one round trip, whether it finds something or not`() throws {
      let start = try store.read { try $0.cursor }
      let change = try store.write { transaction in
        try transaction.set(AttributeName("age"), of: user, to: .integer(1))
        return try transaction.revision
      }
      let end = try store.read { try $0.cursor }
      try looks { session in
        for (position, revisions) in [(start, [change]), (end, [])] {
          let before = session.connection.roundTrips
          let counter = try session.commitCounter(beforeReadingAfter: position)
          try session.beginReading(after: position)
          #expect(try session.logEnd() == end)
          let last = try session.verify(position)
          let page = try LogPage(after: position, through: last, session, pages: store.reader)
          session.rollBack()
          #expect(page.sets.map(\.revision) == revisions)
          #expect(session.connection.roundTrips == before + 1)
          #expect(try session.commitCounter(beforeReadingAfter: end) == counter)
        }
      }
    }

    @Test func `a step of a feed takes one round trip`() throws {
      let start = try store.read { try $0.cursor }
      try store.write { try $0.set(AttributeName("age"), of: user, to: .integer(1)) }
      var sets: [ChangeSet] = []
      let trips = try roundTrips(store.engine.readers) { sets = try store.page(after: start) }
      #expect(sets.count == 1)
      #expect(trips == 1)
    }

    @Test func `what was read ahead is of no use after another position, or another statement`() throws {
      let start = try store.read { try $0.cursor }
      try store.write { try $0.set(AttributeName("age"), of: user, to: .integer(1)) }
      try looks { session in
        _ = try session.commitCounter(beforeReadingAfter: start)
        try store.write { try $0.set(AttributeName("age"), of: user, to: .integer(2)) }
        let end = try store.read { try $0.cursor }
        try session.beginReading(after: end)
        #expect(try session.logEnd() == end)
        session.rollBack()
        try session.beginReading(after: start)
        // The transaction begins here.
        try store.write { try $0.set(AttributeName("age"), of: user, to: .integer(3)) }
        #expect(try session.value("age", of: user) == .integer(3))
        #expect(try session.verify(start) == end.revision.rawValue + 2)
        #expect(try session.rows(after: start.revision.rawValue, through: .max).count == 6)
      }
    }

    @Test func `of more rows than a page, all are read in one state of the log`() throws {
      let start = try store.read { try $0.cursor }
      try store.write { transaction in
        for number in 0..<2_000 { try transaction.set(AttributeName("a\(number)"), of: user, to: .integer(1)) }
      }
      try looks { session in
        try session.beginReading(after: start)
        let last = try session.verify(start)
        try store.write { try $0.set(AttributeName("age"), of: user, to: .integer(1)) }
        #expect(last == start.revision.rawValue + 2_001)
        let page = try LogPage(after: start, through: last, session, pages: store.reader)
        #expect(page.isLast)
        #expect(try page.sets.map { try $0.changes.count } == [2_000])
        #expect(try session.logEnd().revision.rawValue == last)
      }
    }

    @Test func `writes that share a commit take one round trip each, and one for the commit`() throws {
      let gate = DispatchSemaphore(value: 0)
      let entered = DispatchSemaphore(value: 0)
      let trips = try roundTrips(store.engine.writers) {
        let first = Work { [store, user] in
          try store.write {
            try $0.set(AttributeName("a0"), of: user, to: .integer(1))
            entered.signal()
            gate.wait()
          }
        }
        entered.wait()
        let others = (1...7).map { number in
          Work { [store, user] in
            try store.write { try $0.set(AttributeName("a\(number)"), of: user, to: .integer(1)) }
          }
        }
        while store.writer?.turns.line.withLock({ $0.count }) != 7 { sched_yield() }
        gate.signal()
        for work in [first] + others { try work.join() }
      }
      #expect(trips == 9)
    }

    @Test func `all attributes of a page of users take one round trip`() throws {
      try store.write { transaction in
        for number in 0..<999 { try transaction.add([(.name, .text("\(number)")), ("age", .integer(1))]) }
      }
      let query = Query(sortedBy: [SortKey(.name)])
      var users: [User] = []
      let trips = try roundTrips(store.engine.readers) {
        users = try store.read { try $0.users(matching: query) }
      }
      // BEGIN; the first rows; their attributes; no more rows; ROLLBACK.
      #expect(trips == 5)
      #expect(Set(users) == Set(try store.read { try $0.users() }))
      #expect(try users.map { try $0.name } == users.map { try $0.name }.sorted())
      #expect(try store.write { try $0.users(matching: query) } == users)
    }

    @Test func `a value that cannot be sent leaves the transaction as it was`() throws {
      let session = try #require(try store.engine.readers.take() as? PostgresSession)
      defer { store.engine.readers.give(back: session) }
      try session.beginReading(after: nil)
      #expect(throws: StoreError.self) { _ = try session.consumer("a\0") }
      #expect(try session.userCount(where: .always) == 1)
      #expect(session.connection.transactionStatus == .inTransaction)
    }

    @Test func `a failed undo leaves the other changes of its write in their set`() throws {
      let first = try store.write { transaction in
        try transaction.set(AttributeName("age"), of: user, to: .integer(1))
        return try transaction.revision
      }
      try store.write { try $0.set(AttributeName("age"), of: user, to: .integer(2)) }
      let cursor = try store.read { try $0.cursor }
      try store.write(origin: "me") { transaction in
        try transaction.set(AttributeName("city"), of: user, to: .text("Rome"))
        #expect(throws: StoreError.self) { try transaction.undo(first) }
      }
      #expect(try store.page(after: cursor).map(\.origin) == ["me"])
    }

    @Test func `an error in what was due undoes the whole transaction`() throws {
      let session = try #require(try store.engine.writers?.take() as? PostgresSession)
      defer { store.engine.writers?.give(back: session) }
      // The third write of a group, when the end of the second one fails.
      session.beginWriting(isWaiting: true)
      #expect(try session.put("a", of: user, .integer(1)) == .changed)
      session.endSet(origin: nil)
      session.savepoint()
      #expect(try session.put("b", of: user, .integer(1)) == .changed)
      session.releaseSavepoint()
      session.addDue(PostgresStatement("fail", "SELECT 1 / $1", .int8), [.int8(0)])
      session.savepoint()
      #expect(throws: StoreError.self) { try session.put("c", of: user, .integer(1)) }
      #expect(!session.isInTransaction)
      #expect(session.connection.transactionStatus == .idle)
    }

    @Test func `a write goes on after its first statement has failed, if that is undone`() throws {
      let session = try #require(try store.engine.writers?.take() as? PostgresSession)
      defer { store.engine.writers?.give(back: session) }
      session.beginWriting(isWaiting: true)
      session.savepoint()
      #expect(throws: StoreError.self) {
        try session.run(PostgresStatement(once: "fail", "SELECT 1 / $1", .int8), .int8(0))
      }
      try session.rollBackToSavepoint()
      #expect(try session.put("age", of: user, .integer(1)) == .changed)
      session.endSet(origin: nil)
      let end = try session.commit(readingAfter: nil).end
      #expect(try store.read { try $0.cursor } == end)
    }

    @Test func `the end of the log at which a write began is final, although others commit before it`() throws {
      let session = try #require(try store.engine.writers?.take() as? PostgresSession)
      defer { store.engine.writers?.give(back: session) }
      session.beginWriting(isWaiting: true)
      let start = try session.startOfWrite()
      let other = try PostgresConnection(session.connection.settings)
      try other.execute("UPDATE userstore.users SET name = 'Bob'", to: "write as another program")
      #expect(try session.put("age", of: user, .integer(1)) == .changed)
      #expect(try session.finalPosition(of: start) == start)
      let first = Cursor(epoch: start.epoch, revision: start.revision.rawValue + 1, nonce: 0)
      #expect(try session.finalPosition(of: first).revision.rawValue == start.revision.rawValue + 3)
      session.rollBack()
    }

    @Test func `the end of an open write is that of its last set`() throws {
      let session = try #require(try store.engine.writers?.take() as? PostgresSession)
      defer { store.engine.writers?.give(back: session) }
      session.beginWriting(isWaiting: true)
      let start = try session.startOfWrite()
      for value in 1...2 as ClosedRange<Int64> {
        #expect(try session.put("age", of: user, .integer(value)) == .changed)
        session.endSet(origin: nil)
        #expect(try session.writingEnd().revision.rawValue == start.revision.rawValue + 2 * value)
      }
      session.rollBack()
    }

    @Test func `what a lost transaction had sent is not continued`() throws {
      let session = try #require(try store.engine.readers.take() as? PostgresSession)
      defer { store.engine.readers.give(back: session) }
      try session.beginReading(after: nil)
      #expect(try session.attributeNames() == [])
      let observer = try Observer()
      let process = session.connection.serverProcess
      try observer.terminate(process)
      try observer.awaitEnd(of: process)
      #expect(throws: StoreError.self) { try session.attributeNames() }
      #expect(!session.isInTransaction)
      #expect(throws: StoreError.self) { try session.attributeNames() }
      session.rollBack()
      #expect(try session.attributeNames() == [])
    }

    @Test func `a check of a database finds what would not be logged`() throws {
      let database = try Server.newDatabase()
      let configuration = PostgresConfiguration(Server.address(database))
      _ = try UserStore(postgres: configuration)
      #expect(try UserStore.check(postgres: configuration) == [])
      let owner = try PostgresConnection(PostgresSettings(Server.address(database)))
      try owner.execute("ALTER TABLE userstore.users DISABLE TRIGGER USER", to: "damage the schema")
      let findings = try UserStore.check(postgres: configuration)
      #expect(findings.contains { $0.severity == .problem && $0.message.contains("is disabled") }, "\(findings)")
    }

    @Test func `a write that the server ends to resolve a deadlock throws busy, and can be repeated`() throws {
      let other = try store.write { try $0.add(name: "Bob") }
      let program = try PostgresConnection(settings)
      // The server looks for a deadlock on behalf of the transaction that has waited for long enough: not of this one.
      try program.execute(
        "SET deadlock_timeout = '1h'; BEGIN; UPDATE userstore.users SET name = 'x' WHERE id = \(other)",
        to: "lock a row")
      let renamed = DispatchSemaphore(value: 0)
      let write = Work { [store, user] in
        try store.write { transaction in
          try transaction.rename(user, to: "Zoe")
          renamed.signal()
          try transaction.rename(other, to: "Zoe")
        }
      }
      renamed.wait()
      try program.execute(
        "UPDATE userstore.users SET name = 'y' WHERE id = \(user); COMMIT", to: "lock the rows in another order")
      let error = #expect(throws: StoreError.self) { try write.join() }
      #expect(error?.code == .busy)
      #expect(try store.read { try $0.users().map { try $0.name } } == ["y", "x"])
      try store.write { transaction in
        for user in [user, other] { try transaction.rename(user, to: "Zoe") }
      }
    }

    @Test func `reads beyond four wait for a connection`() throws {
      let (entered, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let reads = (0..<8).map { _ in
        Work { [store] in
          try store.read { transaction in
            _ = try transaction.count()
            entered.signal()
            mayEnd.wait()
          }
        }
      }
      for _ in 0..<4 { entered.wait() }
      try store.write { try $0.rename(user, to: "Zoe") }
      let count = PostgresStatement(
        once: "count the connections",
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
      let observer = try PostgresConnection(settings)
      #expect(try observer.run(count)[0].int8(0) == 5)
      for _ in reads { mayEnd.signal() }
      for read in reads { try read.join() }
      #expect(try observer.run(count)[0].int8(0) == 5, "the last four used the connections of the first")
    }

    @Test func `interrupting a store ends its connections`() throws {
      store.interruptAndClose()
      #expect(throws: StoreError.self) { try store.read { try $0.count() } }
    }
  }
}
