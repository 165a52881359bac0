import Foundation
import Testing

@testable import UserStore
@testable import UserStorePostgres

extension AllTests {
  /// A replica becomes the primary, and the stores continue there.
  @Suite(.timeLimit(.minutes(5)))
  final class FailoverTests {
    let primary: Cluster
    let replica: Cluster
    /// The address of both.
    let address: String
    let age = AttributeName("age")

    init() throws {
      primary = try Cluster()
      replica = try Cluster(replicaOf: primary)
      address = Cluster.address(primary, replica)
    }

    deinit {
      primary.remove()
      replica.remove()
    }

    private func set(_ value: Int64, of user: User.ID, in store: UserStore) throws {
      try store.write { try $0.set(age, of: user, to: .integer(value)) }
    }

    private func value(of user: User.ID, in store: UserStore) throws -> StoredValue {
      try store.read { try $0.storedValue(age, of: user) }
    }

    private func code(_ body: () throws -> Void) -> StoreError.Code? {
      do {
        try body()
        return nil
      } catch { return (error as? StoreError)?.code }
    }

    private static func integers(_ set: ChangeSet) throws -> [Int64] {
      try set.changes.compactMap { if case .integer(let value) = $0.new { value } else { nil } }
    }

    @Test func `what a failover takes back`() async throws {
      let store = try Cluster.open(address)
      defer { store.close() }
      let user = try await store.write { try $0.add(name: "Ann") }
      let told = Inbox<[Int64]?>()
      store.listeners.bind("told", to: .everything) { set in
        told.append(set.discontinuity == nil ? try Self.integers(set) : nil)
      }
      let list = try await store.list(Query(where: Attribute<Int64>("age") == 2))
      var before: Consumer? = try await store.consumer("before")
      let behind = try await store.consumer("behind")
      var feed = store.changeSets(after: try await store.read { try $0.cursor }).makeAsyncIterator()
      var following = behind.makeAsyncIterator()
      try set(1, of: user, in: store)
      let first = try #require(try await feed.next())
      #expect(try await following.next()?.cursor == first.cursor)
      try await before?.acknowledge(first)
      try await before?.flush()
      try await behind.acknowledge(first)
      try await behind.flush()
      try replica.awaitReplay(of: primary)

      try replica.disconnect()
      try set(2, of: user, in: store)
      let lost = try #require(try await feed.next())
      try await behind.acknowledge(try #require(try await following.next()))
      try await behind.flush()
      #expect(list.value.count == 1)
      try replica.promote()
      let other = try replica.open { $0.store.watchesOtherProcesses = false }
      defer { other.close() }
      #expect(code { try other.verify(lost.cursor) } == .diverged)
      // The new log ends at the same number as the old one.
      try set(3, of: user, in: other)
      #expect(try await other.read { try $0.cursor.revision } == lost.revision)
      try primary.stop()

      for _ in 1...3 { told.awaitNext() }
      #expect(told.all == [[1], [2], nil])
      #expect(list.value.isEmpty)
      await #expect { try await feed.next() } throws: { StoreError.Code.diverged ~= $0 }
      await #expect { try await following.next() } throws: { StoreError.Code.diverged ~= $0 }
      #expect(code { try store.verify(lost.cursor) } == .diverged)
      #expect(try value(of: user, in: store) == .integer(3))
      // What is before the lost part continues.
      #expect(try await store.page(after: first.cursor).map(Self.integers) == [[3]])
      var continuing = try #require(before).makeAsyncIterator()
      #expect(try await continuing.next().map(Self.integers) == [3])
      before = nil

      try set(4, of: user, in: store)
      told.awaitNext()
      #expect(told.all == [[1], [2], nil, [4]])
      #expect(code { try store.verify(lost.cursor) } == .diverged)
      // The next claim of the name continues after the last acknowledgment that was not lost.
      var again = try await store.consumer("behind").makeAsyncIterator()
      #expect(try await again.next().map(Self.integers) == [3])
    }

    /// The store's last write is the last that the new primary has.
    ///
    /// What others wrote after it, which the store was told, is lost.
    @Test func `a write right after a failover tells what was taken back, and all of itself`() throws {
      let store = try Cluster.open(address)
      defer { store.close() }
      let user = try store.write { try $0.add(name: "Ann") }
      let told = Inbox<[Int64]?>()
      store.listeners.bind("told", to: .everything) { set in
        told.append(set.discontinuity == nil ? try Self.integers(set) : nil)
      }
      try set(1, of: user, in: store)
      told.awaitNext()
      try replica.awaitReplay(of: primary)
      try replica.disconnect()
      let other = try primary.open { $0.store.watchesOtherProcesses = false }
      try set(2, of: user, in: other)
      told.awaitNext()
      other.close()
      try replica.promote()
      try primary.stop()
      try store.write { transaction in
        for index in 3...6 { try transaction.set(AttributeName("a\(index)"), of: user, to: .integer(Int64(index))) }
      }
      for _ in 1...2 { told.awaitNext() }
      #expect(told.all == [[1], [2], nil, [3, 4, 5, 6]])
    }

    /// A database in which two stores write: the COMMIT of one waits for the replica, the other for its turn.
    private struct Writes {
      let database: String
      let stores: [UserStore]
      let user: User.ID
      private var work: [Work<StoreError.Code?>] = []

      init(_ database: String, _ address: String) throws {
        self.database = database
        stores = try (0..<2).map { _ in
          try Cluster.open(address + " dbname=" + database) { $0.store.watchesOtherProcesses = false }
        }
        user = try stores[0].write { try $0.add(name: "Ann") }
      }

      private static func name(_ index: Int) -> AttributeName { AttributeName("a\(index)") }

      mutating func start() {
        work = stores.indices.map { index in
          Work { [store = stores[index], user] () throws -> StoreError.Code? in
            do {
              try store.write { try $0.set(Self.name(index), of: user, to: .integer(1)) }
              return nil
            } catch { return (error as? StoreError)?.code }
          }
        }
      }

      /// Checks that the new primary has exactly the writes that are reported as committed, and returns how many these are.
      func countCommitted(on primary: Cluster) throws -> Int {
        let codes = try work.map { try $0.join() }
        let store = try primary.open(database)
        defer { store.close() }
        for (index, code) in codes.enumerated() {
          // Without a primary, a write cannot even begin.
          #expect(code == nil || code == .connectionLost || code == .cannotOpen)
          let value = try store.read { try $0.storedValue(Self.name(index), of: user) }
          #expect(value == (code == nil ? .integer(1) : .null))
        }
        return codes.count { $0 == nil }
      }

      func close() { for store in stores { store.close() } }
    }

    /// The server commits one transaction that notifies at a time: the other COMMITs wait for it.
    @Test(arguments: [true, false])
    func `writes without a reply are reported as the new primary's log has them`(_ isReceived: Bool) throws {
      let count = Int(Server.environment("USERSTORE_COMMITS")) ?? 2
      // From here on, a COMMIT returns when the replica has replayed it.
      try primary.set("synchronous_commit", "remote_apply")
      try primary.set("synchronous_standby_names", "*")
      try primary.await("EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')")
      var all = try (0..<count).map { _ in try Writes(primary.newDatabase(), address) }
      defer { for writes in all { writes.close() } }
      try replica.awaitReplay(of: primary)
      if isReceived { try replica.pauseReplay() } else { try replica.disconnect() }
      all[0].start()
      try primary.await("(SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep') = 1")
      if isReceived { try replica.awaitReceipt(from: primary) }
      for index in all.indices.dropFirst() { all[index].start() }
      try primary.await("(SELECT count(*) FROM pg_locks WHERE NOT granted) = \(2 * count - 1)")
      try primary.stop()
      try replica.promote()
      let committed = try all.map { try $0.countCommitted(on: replica) }
      if isReceived { #expect(committed[0] > 0) }
    }
  }
}
