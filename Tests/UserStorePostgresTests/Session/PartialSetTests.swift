import Testing

@testable import UserStore
@testable import UserStorePostgres

extension AllTests {
  /// Positions within a set, of the library or of another program.
  @Suite(.timeLimit(.minutes(5)))
  struct PartialSetTests {
    let store: UserStore
    let other: PostgresConnection
    let start: Cursor

    init() throws {
      var configuration = PostgresConfiguration(Server.address(try Server.newDatabase()))
      configuration.store.watchesOtherProcesses = false
      store = try UserStore(postgres: configuration)
      other = try PostgresConnection(configuration.settings)
      start = try store.read { try $0.cursor }
    }

    private func firstSet() throws -> ChangeSet { try #require(try store.page(after: start).first) }

    /// What a consumer receives after it has acknowledged a set through a change.
    private func rest(of set: ChangeSet, through change: Change, _ name: String) async throws -> ChangeSet? {
      let consumer = try await store.consumer(name, from: .after(start))
      try await consumer.acknowledge(set, through: change)
      try await consumer.flush()
      for try await rest in try await store.consumer(name, heartbeat: .seconds(60)) {
        return rest.heartbeat == nil ? rest : nil
      }
      return nil
    }

    @Test func `the rest of another program's transaction is continued, and a later transaction is not`() async throws {
      let insert = "INSERT INTO userstore.users (name) VALUES ('a'), ('b')"
      for _ in 1...2 { try other.execute(insert, to: "add users") }
      let set = try firstSet()
      let changes = try set.changes
      #expect(set.isForeign && changes.count == 4)
      for (index, change) in changes.enumerated() {
        let rest = try #require(try await rest(of: set, through: change, "mailer \(index)"))
        let isWhole = index == changes.count - 1
        #expect(rest.isContinued == !isWhole)
        #expect(try rest.changes.count == (isWhole ? 4 : 3 - index))
      }
    }

    @Test func `a position within a set that was replaced by another one is diverged`() async throws {
      try await store.write { users in for number in 1...3 { try users.add(name: "\(number)") } }
      let set = try firstSet()
      let middle = try set.changes[2]
      #expect(try await rest(of: set, through: middle, "mailer")?.isContinued == true)
      let saved = try await store.read { try $0.cursor(at: UserStore.Revision(rawValue: middle.sequence)) }
      let cursor = try #require(saved)
      try await store.verify(cursor)
      // As after a failover that has lost the write, and another one of the same size.
      try other.execute("UPDATE userstore.changes SET nonce = nonce + 1 WHERE op = 0", to: "replace a set")
      let consumer = try await store.consumer("mailer")
      do {
        try await store.verify(cursor)
        Issue.record("the cursor is valid")
      } catch {
        #expect(StoreError.Code.diverged ~= error)
      }
      do {
        for try await _ in consumer { Issue.record("the consumer goes on") }
      } catch {
        #expect(error.code == .diverged)
      }
    }
  }
}
