import Foundation
import Testing

@testable import UserStore
@testable import UserStorePostgres

extension AllTests {
  /// A server whose COMMIT waits for a synchronous standby that does not exist.
  @Suite(.timeLimit(.minutes(5)))
  struct UnreplicatedTests {
    private static let age = AttributeName("age")
    private static let isWaiting = "EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep')"

    /// Starts a write that waits for the standby, and calls `body` then.
    private func write(
      _ body: (Cluster, _ otherProcess: (String) throws -> Void) throws -> Void
    ) throws -> (StoreError?, StoredValue) {
      let cluster = try Cluster()
      defer { cluster.remove() }
      let store = try cluster.open()
      let user = try store.write { try $0.add(name: "Ann") }
      try cluster.set("synchronous_standby_names", "nobody")
      // The server reads its settings a moment later.
      try cluster.await("current_setting('synchronous_standby_names') = 'nobody'")
      let work = Work {
        do {
          try store.write { try $0.set(Self.age, of: user, to: .integer(1)) }
          return StoreError?.none
        } catch { return error as? StoreError }
      }
      try cluster.await(Self.isWaiting)
      try body(cluster) { function in
        try cluster.execute("SELECT \(function)(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
      }
      let error = try work.join()
      try cluster.set("synchronous_standby_names", "")
      let value = try store.read { try $0.storedValue(Self.age, of: user) }
      try store.write { try $0.set(Self.age, of: user, to: .integer(2)) }
      store.close()
      return (error, value)
    }

    @Test func `a COMMIT whose wait for a standby is canceled is not reported as a success`() throws {
      let (error, value) = try write { _, end in try end("pg_cancel_backend") }
      #expect(error?.code == .commitUnknown)
      #expect(error?.message.contains("the standby may not have the write") == true)
      #expect(value == .integer(1))
    }

    @Test func `a decision whose own wait for the standby is canceled says what it has found`() throws {
      let (error, value) = try write { cluster, end in
        let first = try #require(try cluster.process(where: "wait_event = 'SyncRep'"))
        try end("pg_terminate_backend")
        try cluster.await("EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid <> \(first))")
        try end("pg_cancel_backend")
      }
      #expect(error?.code == .commitUnknown && error?.message.contains("unknown") == false)
      #expect(error?.message.contains("the standby may not have the write") == true)
      #expect(error?.hint?.contains("do not write it again") == true)
      #expect(value == .integer(1))
    }

    @Test func `a COMMIT whose server process is ended while it waits is decided when the standby has it`() throws {
      let (error, value) = try write { cluster, end in
        let first = try #require(try cluster.process(where: "wait_event = 'SyncRep'"))
        try end("pg_terminate_backend")
        // The decision waits for the standby, too.
        try cluster.await("EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid <> \(first))")
        try cluster.set("synchronous_standby_names", "")
      }
      #expect(error == nil)
      #expect(value == .integer(1))
    }
  }
}
