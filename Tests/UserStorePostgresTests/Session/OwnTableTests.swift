import Foundation
import Testing

@testable import UserStore
@testable import UserStorePostgres

extension AllTests {
  /// Tables of another program in a schema of its own, with foreign keys to users.
  @Suite(.timeLimit(.minutes(5)))
  final class OwnTableTests {
    private let database: String
    private let store: UserStore
    private let owner: PostgresConnection
    private let role = "w\(UInt64.random(in: 0 ... .max))"
    /// Another program, with the right to write.
    private let other: PostgresConnection
    private let ann: User.ID

    init() throws {
      database = try Server.newDatabase()
      var configuration = PostgresConfiguration(Server.address(database))
      configuration.store.watchesOtherProcesses = false
      store = try UserStore(postgres: configuration)
      ann = try store.write { try $0.add(name: "Ann") }
      owner = try PostgresConnection(PostgresSettings(Server.address(database)))
      try owner.execute(
        "CREATE ROLE \(role); SELECT userstore.set_rights('\(role)', 'write'); GRANT CREATE ON DATABASE \(database) TO \(role)",
        to: "create a role")
      other = try PostgresConnection(PostgresSettings(Server.address(database) + " options='-c role=\(role)'"))
    }

    deinit {
      store.close()
      try? owner.execute("DROP SCHEMA IF EXISTS shop CASCADE; DROP OWNED BY \(role); DROP ROLE \(role)", to: "clean")
    }

    /// The statements of the article “Own tables”.
    private static let statements: [String] = {
      let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
      let article = root.appending(path: "Sources/UserStore/UserStore.docc/Storing/OwnTables.md")
      let parts = (try? String(contentsOf: article, encoding: .utf8))?.split(separator: "```").map(String.init) ?? []
      return parts.filter { $0.hasPrefix("sql\n") }.map { String($0.dropFirst(4)) }
    }()

    private func count(_ table: String) throws -> Int64? {
      try owner.run(PostgresStatement(once: "count", "SELECT count(*) FROM \(table)")).first?.int8(0)
    }

    private func error(_ body: () throws -> Void) -> StoreError? {
      do { try body() } catch { return error as? StoreError }
      return nil
    }

    @Test func `a writer's own tables change in one transaction with users, and follow their removal`() throws {
      try #require(Self.statements.count == 2)
      try other.execute(Self.statements[0], to: "create tables")
      let cursor = try store.read { try $0.cursor }
      try other.execute(Self.statements[1], to: "order")
      let set = try #require(try store.page(after: cursor).first)
      #expect(set.isForeign)
      #expect(try set.changes.map(\.new) == [.text("pro")] && set.events.map(\.name) == ["ordered"])
      #expect(try UserStore.check(postgres: PostgresConfiguration(Server.address(database))).isEmpty)
      try store.write { try $0.remove(ann) }
      #expect(try count("shop.orders") == 0)
      #expect(try UserStore.check(postgres: PostgresConfiguration(Server.address(database))).isEmpty)
    }

    @Test func `a removal that a key forbids is refused`() throws {
      try other.execute(
        """
        CREATE SCHEMA shop;
        CREATE TABLE shop.orders (customer bigint REFERENCES userstore.users (id));
        INSERT INTO shop.orders VALUES (\(ann))
        """, to: "create tables")
      let refusal = error { try store.write { try $0.remove(ann) } }
      #expect(refusal?.code == .stillReferenced)
      let reason = "user 1 cannot be removed: another table refers to it (orders_customer_fkey)"
      #expect(refusal?.message == reason)
      try other.execute(
        "ALTER TABLE shop.orders ALTER CONSTRAINT orders_customer_fkey DEFERRABLE INITIALLY DEFERRED", to: "defer")
      #expect(error { try store.write { try $0.remove(ann) } }?.code == .stillReferenced)
      #expect(try store.user(ann) != nil)
      try other.execute("DELETE FROM shop.orders", to: "empty")
      try store.write { try $0.remove(ann) }
    }

    @Test func `a reader cannot refer to users`() throws {
      try owner.execute("SELECT userstore.set_rights('\(role)', 'read')", to: "take the right")
      let sql = "CREATE SCHEMA shop; CREATE TABLE shop.orders (customer bigint REFERENCES userstore.users (id))"
      #expect(throws: StoreError.self) { try other.execute(sql, to: "create tables") }
    }
  }
}
