import Testing

@testable import UserStore
@testable import UserStorePostgres

extension AllTests {
  /// The schema of a database: who may create, read and change it.
  @Suite(.timeLimit(.minutes(5)))
  struct SchemaTests {
    private let database: String

    init() throws { database = try Server.newDatabase() }

    private func configuration(
      _ role: String = "postgres", _ access: UserStore.Configuration.Access = .createIfMissing
    ) -> PostgresConfiguration {
      var configuration = PostgresConfiguration(Server.address(database) + " options='-c role=\(role)'")
      configuration.store.access = access
      return configuration
    }

    /// Calls `body` with the name of a new role, which has no rights.
    private func withRole(_ body: (String) throws -> Void) throws {
      let role = "r\(UInt64.random(in: 0 ... .max))"
      let owner = try PostgresConnection(PostgresSettings(Server.address(database)))
      try owner.execute("CREATE ROLE \(role)", to: "create a role")
      defer { try? owner.execute("DROP OWNED BY \(role); DROP ROLE \(role)", to: "remove a role") }
      try body(role)
    }

    private func code(_ body: () throws(StoreError) -> Void) -> StoreError.Code? {
      do {
        try body()
        return nil
      } catch { return error.code }
    }

    @Test func `a database without the schema is not found`() {
      for access in [UserStore.Configuration.Access.readWrite, .readOnly] {
        #expect(
          code { () throws(StoreError) in _ = try UserStore(postgres: configuration("postgres", access)) } == .notFound)
      }
      #expect(code { () throws(StoreError) in _ = try UserStore.check(postgres: configuration()) } == .notFound)
      let rights = { () throws(StoreError) in
        try UserStore.setRights(.read, of: "postgres", postgres: self.configuration())
      }
      #expect(code(rights) == .notFound)
    }

    @Test func `a role without the right can neither create the schema, nor read it, nor give rights`() throws {
      try withRole { role in
        let opening = { () throws(StoreError) in _ = try UserStore(postgres: self.configuration(role)) }
        #expect(code(opening) == .noPermission)
        #expect(code { () throws(StoreError) in _ = try UserStore.check(postgres: configuration()) } == .notFound)
        try UserStore(postgres: configuration()).close()
        #expect(code(opening) == .noPermission)
        try UserStore.setRights(.read, of: role, postgres: configuration())
        let reading = try UserStore(postgres: configuration(role, .readOnly))
        #expect(try reading.read { try $0.count() } == 0)
        reading.close()
        let rights = { () throws(StoreError) in
          try UserStore.setRights(.write, of: role, postgres: self.configuration(role))
        }
        #expect(code(rights) == .noPermission)
      }
    }

    @Test func `rights of a role that the server does not have are not found`() throws {
      try UserStore(postgres: configuration()).close()
      let rights = { () throws(StoreError) in
        try UserStore.setRights(.read, of: "nobody", postgres: self.configuration())
      }
      #expect(code(rights) == .notFound)
    }

    @Test func `while another process creates the schema, a store waits for it`() throws {
      let other = try PostgresConnection(PostgresSettings(Server.address(database)))
      try other.execute("BEGIN; SELECT pg_advisory_xact_lock(8101830119125)", to: "hold the lock")
      var configuration = configuration()
      configuration.store.busyTimeout = .milliseconds(50)
      #expect(code { () throws(StoreError) in _ = try UserStore(postgres: configuration) } == .busy)
      try other.execute("COMMIT", to: "end")
      configuration.store.busyTimeout = .seconds(60)
      try UserStore(postgres: configuration).close()
    }

    @Test func `a store does not open if one of the log's triggers does not always run`() throws {
      try UserStore(postgres: configuration()).close()
      let owner = try PostgresConnection(PostgresSettings(Server.address(database)))
      let triggers = try owner.run(
        PostgresStatement(
          once: "list the triggers",
          """
          SELECT format('%s %I', tgrelid::regclass, tgname) FROM pg_trigger JOIN pg_class c ON c.oid = tgrelid
          WHERE relnamespace = 'userstore'::regnamespace AND starts_with(tgname, 'A_userstore_')
          """))
      #expect(triggers.count == 11)
      for name in try triggers.all(make: { $0.text(0).split(separator: " ") }) {
        for (state, expected) in [
          ("DISABLE", StoreError.Code.schemaChanged), ("ENABLE", .schemaChanged), ("ENABLE ALWAYS", nil),
        ] {
          try owner.execute("ALTER TABLE \(name[0]) \(state) TRIGGER \(name[1])", to: "change a trigger")
          #expect(
            code { () throws(StoreError) in try UserStore(postgres: configuration()).close() } == expected,
            "\(name) \(state)")
        }
      }
    }

    @Test func `indexes are added once and removed once`() throws {
      let store = try UserStore(postgres: configuration())
      defer { store.close() }
      #expect(try store.addIndex(on: "age") && !store.addIndex(on: "age"))
      #expect(try store.read { try $0.indexes } == ["age"])
      #expect(try store.removeIndex(on: "age") && !store.removeIndex(on: "age"))
      #expect(try store.read { try $0.indexes } == [])
    }

    @Test func `a name that no attribute can have is not sent to the server`() throws {
      let store = try UserStore(postgres: configuration())
      defer { store.close() }
      let user = try store.write { try $0.add(name: "Ann") }
      #expect(try store.read { try $0.value(Attribute<String>("a\u{0}b"), of: user) } == nil)
      #expect(try store.read { try $0.ids(named: "a\u{0}b") } == [])
    }

    @Test(arguments: [
      ("PostgreSQL 15.14 (Debian 15.14-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc, 64-bit", true),
      ("PostgreSQL 11.2-YB-2.18.0.0-b0 on x86_64-pc-linux-gnu, compiled by clang", false),
      ("CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27)", false),
      ("PostgreSQL 13.0.0 on Cockroach", false), ("Redshift 1.0", false), ("", false),
    ])
    func `servers that only speak the protocol are not PostgreSQL`(version: String, isPostgres: Bool) {
      #expect(PostgresSchema.isPostgres(version) == isPostgres)
    }

    @Test func `the options reach the settings of the connections`() {
      var configuration = PostgresConfiguration("host=/nowhere")
      #expect(configuration.connectTimeout == .seconds(10) && configuration.idleInTransactionTimeout == .seconds(10))
      configuration.connectTimeout = .seconds(3)
      configuration.idleInTransactionTimeout = .seconds(4)
      configuration.store.busyTimeout = .seconds(5)
      let settings = configuration.settings
      #expect(settings.connectTimeout == .seconds(3) && settings.idleInTransactionTimeout == .seconds(4))
      #expect(settings.lockTimeout == .seconds(5))
    }
  }
}
