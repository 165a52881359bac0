import Foundation
import Testing

@testable import UserStore
@testable import UserStorePostgres
@testable import UserStoreSync

extension AllTests {
  /// What a server has decided about sets of replicas: who may store it, in which layout, and at what cost.
  ///
  /// `SessionContractTests` has what holds on every engine.
  @Suite(.timeLimit(.minutes(5)))
  struct DecisionTests {
    private let database: String
    private let owner: PostgresConnection

    /// Creates a database of the layout before decisions, with a server of replicas.
    init() throws {
      database = try Server.newDatabase()
      owner = try PostgresConnection(PostgresSettings(Server.address(database)))
      for migration in PostgresSchema.migrations where migration.number < 7 {
        try owner.execute("BEGIN; \(migration.sql); COMMIT", to: "create layout 6")
        if migration.number > PostgresSchema.oldest {
          try owner.execute(
            "INSERT INTO userstore.migrations VALUES (\(migration.number), '\(migration.name)', '\(migration.fingerprint)')",
            to: "record a migration")
        }
      }
      try owner.execute(
        "INSERT INTO userstore.users (name) VALUES ('NIX'); SELECT userstore.serve_replicas()", to: "serve replicas")
    }

    private func open(
      as role: String = "postgres", _ access: UserStore.Configuration.Access = .createIfMissing
    ) throws -> UserStore {
      var configuration = PostgresConfiguration(Server.address(database) + " options='-c role=\(role)'")
      configuration.store.access = access
      return try UserStore(postgres: configuration)
    }

    private func migrate() throws { try open().close() }

    private var layout: Int64? {
      get throws {
        try owner.run(PostgresStatement(once: "read the layout", "SELECT layout::int8 FROM userstore.meta"))
          .first?.int8(0)
      }
    }

    /// Creates a role that has the right `read` or `write`.
    private func newRole(_ rights: String) throws -> String {
      let role = "r\(UInt64.random(in: 0 ... .max))"
      try owner.execute("CREATE ROLE \(role); SELECT userstore.set_rights('\(role)', '\(rights)')", to: "create a role")
      return role
    }

    private func remove(_ role: String) {
      try? owner.execute("DROP OWNED BY \(role); DROP ROLE \(role)", to: "remove a role")
    }

    /// Whether a statement of a role fails because the role may not do this.
    private func isDenied(_ statement: String, to role: String) throws -> Bool {
      try owner.execute("SET ROLE \(role)", to: "become a role")
      defer { try? owner.execute("RESET ROLE", to: "become the owner") }
      return failure { try owner.execute(statement, to: "write") }?.kind == .server(SQLState(rawValue: "42501"))
    }

    private func decides(_ store: UserStore) throws -> Bool? { try store.read { try $0.session.replicated?.decides() } }

    private func known(_ store: UserStore) throws -> [Decision?]? {
      try store.read { try $0.session.replicated?.decisions(about: [(1, 10), (2, 20), (3, 1), (4, 40)], of: 5) }
    }

    private func decide(in store: UserStore) throws {
      try store.write { transaction in
        let session = try transaction.session
        try session.replicated?.store([(1, 10, .accepted), (2, 20, .accepted)], of: 5)
        try session.replicated?.store([(3, 30, Decision("conflict", detail: "é"))], of: 5)
        try session.replicated?.forgetDecisions(of: 5, through: 1, before: .max)
        _ = try transaction.add(name: "Zoë")
        try session.append(.pushed(10))
      }
    }

    private static let decided: [Decision?] = [.expired, .accepted, .forked, nil]

    @Test func `outcomes of requests need the layout, and end with the transaction`() throws {
      let role = try newRole("write")
      defer { remove(role) }
      #expect(try open(as: role).write { try $0.outcome(of: 1) } == nil)
      #expect(
        throws: StoreError.self, performing: { try open(as: role).write { try $0.keep("1", of: 1) } })
      try migrate()
      let store = try open(as: role)
      try store.write { transaction in
        #expect(try transaction.outcome(of: 1) == nil)
        try transaction.keep("é \"1\"", of: 1)
      }
      struct Stop: Error {}
      #expect(throws: Stop.self) {
        try store.write { transaction in
          try transaction.keep("2", of: 2)
          throw Stop()
        }
      }
      #expect(try store.write { try ($0.outcome(of: 1), $0.outcome(of: 2)) } == ("é \"1\"", nil))
      // Also if the clock of the server of the database is another one.
      try owner.execute("UPDATE userstore.decisions SET at = at - 86400000", to: "make it old")
      #expect(try store.write { try $0.outcome(of: 1) } == nil)
    }

    @Test(arguments: ["read", "write"])
    func `before the owner has migrated, replicas follow, and cannot send`(_ rights: String) async throws {
      let role = try newRole(rights)
      defer { remove(role) }
      for access in [UserStore.Configuration.Access.createIfMissing, .readOnly] {
        let store = try open(as: role, access)
        defer { store.close() }
        let copy = try UserStore.temporary()
        let transport = try DirectTransport(to: SyncService(store))
        try await UserStoreSync.Replica(of: copy, from: transport, writes: .none).catchUp()
        #expect(try await copy.count() == 1)
        #expect(try decides(store) == false && layout == 6)
      }
      try migrate()
      #expect(try layout == 7)
      let store = try open(as: role)
      defer { store.close() }
      #expect(try decides(store) == true)
      _ = try SyncService(store)
      #expect(try UserStore.check(postgres: PostgresConfiguration(Server.address(database))).isEmpty)
    }

    @Test(arguments: [true, false])
    func `writers store decisions, and readers read them, also those from before the migration`(_ isNew: Bool) throws {
      if isNew { try migrate() }
      let (writer, reader) = (try newRole("write"), try newRole("read"))
      defer { for role in [writer, reader] { remove(role) } }
      if !isNew { try migrate() }
      let store = try open(as: writer)
      defer { store.close() }
      try decide(in: store)
      #expect(try known(store) == Self.decided)
      let reading = try open(as: reader, .readOnly)
      defer { reading.close() }
      #expect(try known(reading) == Self.decided)
      for statement in [
        "SELECT userstore.store_decisions(5, '[[9, 90, \"accepted\", null]]')",
        "SELECT userstore.forget_decisions(5, 9, 9)", "SELECT userstore.note_pushed(9)",
      ] { #expect(try isDenied(statement, to: reader)) }
      // Writers do it only with the functions.
      for table in ["decisions", "producers"] {
        #expect(try isDenied("DELETE FROM userstore.\(table)", to: writer))
      }
      #expect(try UserStore.check(postgres: PostgresConfiguration(Server.address(database))).isEmpty)
    }

    @Test func `a dump has them, and a database that it is restored in goes on`() throws {
      let store = try open()
      try decide(in: store)
      let identity = try store.read { try $0.session.server()?.identity }
      store.close()
      let dump = FileManager.default.temporaryDirectory.appending(path: "\(database).sql")
      defer { try? FileManager.default.removeItem(at: dump) }
      try Server.dump(database, to: dump)
      let other = try Server.newDatabase()
      try Server.restore(dump, into: other)
      let restored = try UserStore(postgres: PostgresConfiguration(Server.address(other)))
      defer { restored.close() }
      #expect(try known(restored) == Self.decided)
      #expect(try identity != nil && restored.read { try $0.session.server()?.identity } == identity)
      try restored.write { try $0.session.replicated?.store([(4, 40, .accepted)], of: 5) }
      #expect(try known(restored)?.last == .accepted)
      #expect(try UserStore.check(postgres: PostgresConfiguration(Server.address(other))).isEmpty)
    }

    @Test func `a batch is stored and found in one round trip each, and a note takes none`() throws {
      let store = try open()
      defer { store.close() }
      let sets = (1...1_000).map { (number: Int64($0), nonce: Int64.random(in: .min ... .max)) }
      try store.write { transaction in
        let session = PostgresSession.own(try transaction.session)
        func roundTrips(_ body: () throws -> Void) throws -> Int {
          let before = session.connection.roundTrips
          try body()
          return session.connection.roundTrips - before
        }
        #expect(try roundTrips { try session.store(sets.map { ($0.number, $0.nonce, .accepted) }, of: 5) } == 1)
        var found: [Decision?] = []
        #expect(try roundTrips { found = try session.decisions(about: sets, of: 5) } == 1)
        #expect(found == sets.map { _ in .accepted })
        #expect(try roundTrips { try session.append(.pushed(1)) } == 0)
        _ = try transaction.add(name: "Zoë")
      }
      #expect(try store.read { try $0.session.rows(after: 0, through: .max).compactMap(\.pushed) } == [1])
    }

    @Test func `a note without a nonce is refused, and one that the library has not written is found`() throws {
      try migrate()
      #expect(
        failure { try owner.execute("SELECT userstore.note_pushed(NULL)", to: "write") }?.kind
          == .server(SQLState(rawValue: "22004")))
      for column in ["old_t", "new_i"] {
        let value = column == "old_t" ? "'5'" : "5"
        try owner.execute(
          "INSERT INTO userstore.changes (n, op, \(column), starts) VALUES (1, 9, \(value), true)", to: "write a note")
      }
      let findings = try UserStore.check(postgres: PostgresConfiguration(Server.address(database)))
      let wrong = findings.filter { $0.message.contains("was not written by the triggers") }
      #expect(wrong.count == 2, "\(findings)")
    }
  }
}
