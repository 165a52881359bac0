import Foundation
import Testing

@testable import UserStore
@testable import UserStorePostgres

extension AllTests {
  /// Stores on a replica.
  @Suite(.timeLimit(.minutes(5)))
  struct ReplicaTests {
    private static let clusters = Result {
      let primary = try Cluster()
      return (primary: primary, replica: try Cluster(replicaOf: primary))
    }

    let primary: Cluster
    let replica: Cluster
    let database: String
    let writer: UserStore
    let user: User.ID
    let age = AttributeName("age")

    init() throws {
      (primary, replica) = try Self.clusters.get()
      database = try primary.newDatabase()
      writer = try primary.open(database) { $0.store.watchesOtherProcesses = false }
      user = try writer.write { try $0.add(name: "Ann") }
      try replica.awaitReplay(of: primary)
    }

    private func read(_ change: (inout PostgresConfiguration) -> Void = { _ in }) throws -> UserStore {
      try replica.open(database) {
        $0.store.access = .readOnly
        change(&$0)
      }
    }

    private func write(_ value: Int64, in store: UserStore? = nil) throws {
      try (store ?? writer).write { try $0.set(age, of: user, to: .integer(value)) }
    }

    private func value(in store: UserStore) throws -> StoredValue {
      try store.read { try $0.storedValue(age, of: user) }
    }

    private func follow(_ store: UserStore) -> Inbox<Int64> {
      let values = Inbox<Int64>()
      store.listeners.bind("values", to: .everything) { set in
        if set.discontinuity != nil { values.append(-1) }
        for change in try set.changes { if case .integer(let value) = change.new { values.append(value) } }
      }
      return values
    }

    private func code(_ body: () throws -> Void) -> StoreError.Code? {
      do {
        try body()
        return nil
      } catch { return (error as? StoreError)?.code }
    }

    @Test func `a store on a replica hears everything once, in order`() throws {
      let store = try read()
      defer { store.close() }
      #expect(!store.hasFileEvents)
      let values = follow(store)
      let ages = try store.listenable(Attribute<Int64>("age"), of: user)
      let count = try store.liveCount(where: Attribute<Int64>("age") > 50)
      for value in 1...100 as ClosedRange<Int64> { try write(value) }
      for _ in 1...100 { values.awaitNext() }
      #expect(values.all == Array(1...100))
      #expect(ages.value == 100)
      #expect(count.value == 1)
      #expect(code { try store.write { try $0.remove(user) } } == .readOnly)
      #expect(try UserStore.check(postgres: PostgresConfiguration(Cluster.address(replica, database: database))) == [])
    }

    @Test(arguments: ["", " target_session_attrs=any", " target_session_attrs=standby"])
    func `a store that writes refuses a replica`(_ option: String) throws {
      do {
        _ = try Cluster.open(Cluster.address(replica, database: database) + option)
        Issue.record("it was opened")
      } catch let error as StoreError {
        #expect(error.code == .readOnly)
        #expect(error.hint?.contains("needs the primary") == true)
      }
    }

    @Test func `a store that writes finds the primary among the hosts`() throws {
      let store = try Cluster.open(Cluster.address(replica, primary, database: database))
      defer { store.close() }
      try store.write { try $0.set(age, of: user, to: .integer(1)) }
      #expect(store.hasFileEvents)
    }

    @Test func `a cursor that the replica has not received`() async throws {
      let store = try read { $0.store.busyTimeout = .zero }
      let patient = try read()
      defer {
        store.close()
        patient.close()
      }
      let start = try await writer.read { try $0.cursor }
      try replica.pauseReplay()
      try write(1)
      let cursor = try await writer.read { try $0.cursor }
      #expect(code { try store.verify(cursor) } == .behind)
      #expect(code { _ = try store.page(after: cursor) } == .behind)
      var feed = store.changeSets(after: cursor).makeAsyncIterator()
      await #expect { try await feed.next() } throws: { StoreError.Code.behind ~= $0 }
      #expect(try await store.read { try $0.cursor } == start)
      // What can never come is not awaited.
      func differs(_ store: UserStore, _ cursor: Cursor) -> Bool { code { try store.verify(cursor) } == .diverged }
      let revision = start.revision.rawValue
      #expect(differs(patient, Cursor(epoch: start.epoch, revision: revision, nonce: start.nonce ^ 1)))
      #expect(differs(patient, Cursor(epoch: start.epoch ^ 1, revision: revision + 100, nonce: 1)))
      #expect(differs(writer, Cursor(epoch: start.epoch, revision: revision + 100, nonce: 1)))
      let work = Work { try patient.verify(cursor) }
      try replica.resumeReplay()
      try work.join()
      #expect(try await store.page(after: start).count == 1)
    }

    /// The hosts of the address are two replicas.
    @Test func `a store that moves to a replica that lags more, which then becomes the primary`() async throws {
      let other = try Cluster(replicaOf: primary)
      defer { other.remove() }
      let errors = Inbox<StoreError.Code?>()
      let store = try Cluster.open(Cluster.address(replica, other, database: database)) {
        $0.store.access = .readOnly
        $0.store.busyTimeout = .zero
        $0.store.onListenerError = { errors.append(($1 as? StoreError)?.code) }
      }
      defer { store.close() }
      let values = follow(store)
      let start = try await store.read { try $0.cursor }
      try other.awaitReplay(of: primary)
      try other.pauseReplay()
      for value in 1...3 as ClosedRange<Int64> { try write(value) }
      for _ in 1...3 { values.awaitNext() }
      try replica.stop()
      defer { try? replica.start() }
      // The loss of the first replica is reported, too, if it ends within a look.
      repeat { errors.awaitNext() } while errors.all.last != .behind
      // A listener has received 3: no read returns an older value.
      #expect(code { _ = try store.read { try $0.count() } } == .behind)
      #expect(code { _ = try store.page(after: start) } == .behind)
      try other.resumeReplay()
      try write(4)
      values.awaitNext()
      #expect(values.all == [1, 2, 3, 4])
      #expect(errors.all.filter { $0 != .connectionLost } == [.behind])
      #expect(try value(in: store) == .integer(4))

      try other.awaitReplay(of: primary)
      try other.promote()
      let promoted = try other.open(database) { $0.store.watchesOtherProcesses = false }
      defer { promoted.close() }
      try write(5, in: promoted)
      values.awaitNext()
      #expect(values.all == [1, 2, 3, 4, 5])
      #expect(!store.hasFileEvents)
      // With new connections, the server notifies.
      try other.terminateAll()
      while !store.hasFileEvents { sched_yield() }
      try write(6, in: promoted)
      values.awaitNext()
      #expect(values.all == [1, 2, 3, 4, 5, 6])
      #expect(errors.all.filter { $0 != .connectionLost } == [.behind])
    }
  }
}
