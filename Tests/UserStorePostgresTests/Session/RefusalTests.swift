import Foundation
import Testing

@testable import UserStore
@testable import UserStorePostgres

extension AllTests {
  /// What a server refuses: each error says what happened, and what to do.
  @Suite(.timeLimit(.minutes(5)))
  struct RefusalTests {
    let database: String
    let role = "r\(UInt64.random(in: 0 ... .max))"

    init() throws {
      database = try Server.newDatabase()
      try execute("CREATE ROLE \(role) LOGIN")
    }

    private func execute(_ sql: String, in database: String = "postgres") throws {
      try PostgresConnection(PostgresSettings(Server.address(database))).execute(sql, to: "prepare a test")
    }

    /// The error of opening a store, of which this says what it must contain.
    private func expect(
      _ address: String, _ code: StoreError.Code, _ message: String, _ hint: String,
      _ location: SourceLocation = #_sourceLocation
    ) throws {
      let error = try #require(throws: StoreError.self) {
        try UserStore(postgres: PostgresConfiguration(address)).close()
      }
      #expect(error.code == code && error.message.contains(message), "\(error)", sourceLocation: location)
      #expect(error.hint?.contains(hint) == true, "\(error)", sourceLocation: location)
      #expect(hint == "sslrootcert" || !"\(error)".contains("sslrootcert"), "\(error)", sourceLocation: location)
      // Neither libpq's codes nor places in the source of the server.
      #expect(!error.message.contains("LOCATION") && !error.message.contains("FATAL:  "), sourceLocation: location)
    }

    private var own: String { Server.address(database).replacing("user=postgres", with: "user=\(role)") }

    @Test func `a role that may not connect`() throws {
      try execute("REVOKE CONNECT ON DATABASE \(database) FROM PUBLIC")
      try expect(own, .cannotOpen, "permission denied for database", "GRANT CONNECT ON DATABASE")
    }

    @Test func `a role that may not create the schema, or use it`() throws {
      try expect(own, .noPermission, "permission denied for database", "usertool init")
      try UserStore(postgres: PostgresConfiguration(Server.address(database))).close()
      try expect(own, .noPermission, "permission denied for", "usertool init")
    }

    @Test func `a role that does not exist, or whose password is missing or wrong`() throws {
      func address(_ user: String) -> String { own.replacing("user=\(role)", with: "user=\(user)") }
      try expect(address("nobody"), .cannotOpen, "role \"nobody\" does not exist", "the role must exist")
      try execute(
        "DO $$ BEGIN CREATE ROLE secretive LOGIN PASSWORD 'x'; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
      try expect(address("secretive"), .cannotOpen, "no password supplied", "~/.pgpass")
      try expect(address("secretive password=wrong"), .cannotOpen, "password authentication failed", "~/.pgpass")
    }

    @Test func `a machine or a role that pg_hba.conf does not let in`() throws {
      let cluster = try Cluster()
      defer { cluster.remove() }
      let rules = URL(filePath: cluster.folder + "/data/pg_hba.conf")
      try cluster.execute("CREATE ROLE app LOGIN")
      let text = try String(contentsOf: rules, encoding: .utf8)
      try Data((text.replacing("local all all trust", with: "local all postgres trust")).utf8).write(to: rules)
      try cluster.execute("SELECT pg_reload_conf()")
      try cluster.await("EXISTS (SELECT FROM pg_hba_file_rules WHERE user_name = '{postgres}')")
      let address = Cluster.address(cluster).replacing("user=postgres", with: "user=app")
      // The postmaster reads the rules a moment later than a session does.
      while (try? PostgresConnection(PostgresSettings(address))) != nil {}
      try expect(address, .cannotOpen, "no pg_hba.conf entry", "pg_hba.conf")
    }

    @Test func `a database that does not exist, or takes no connections`() throws {
      try expect(Server.address("missing"), .cannotOpen, "database \"missing\" does not exist", "createdb")
      try execute("ALTER DATABASE \(database) ALLOW_CONNECTIONS false")
      try expect(Server.address(database), .cannotOpen, "not currently accepting connections", "ALLOW_CONNECTIONS true")
    }

    @Test func `too many connections`() throws {
      try execute("ALTER ROLE \(role) CONNECTION LIMIT 0")
      try expect(own, .cannotOpen, "too many connections for role", "raise max_connections")
    }

    @Test func `a role that only reads by default`() throws {
      try execute("ALTER ROLE \(role) SET default_transaction_read_only = on")
      try expect(own, .cannotOpen, "session is read-only", "default_transaction_read_only is on")
      try execute("GRANT CREATE ON DATABASE \(database) TO \(role)")
      try expect(
        own + " target_session_attrs=any", .readOnly, "in a read-only transaction",
        "default_transaction_read_only is on")
    }

    @Test func `a standby`() throws {
      let primary = try Cluster()
      let replica = try Cluster(replicaOf: primary)
      defer {
        replica.remove()
        primary.remove()
      }
      for attributes in ["", " target_session_attrs=any"] {
        try expect(Cluster.address(replica) + attributes, .readOnly, "the server is a replica", "needs the primary")
      }
    }

    @Test func `a host that is unknown, and a port that cannot be`() throws {
      try expect(
        "host=nowhere.invalid dbname=x", .cannotOpen, "could not translate host name", "no machine has this name")
      for port in ["99999", "0", "x"] {
        try expect(
          "host=localhost port=\(port)", .cannotOpen,
          "the port in the connection string is not a number from 1 to 65535", "the form is postgres://")
      }
    }

    @Test(arguments: [
      "LOCK TABLE userstore.writers IN EXCLUSIVE MODE", "UPDATE userstore.users SET name = 'theirs'",
    ])
    func `a lock of another program, and who holds it`(_ lock: String) throws {
      var configuration = PostgresConfiguration(Server.address(database))
      configuration.store.busyTimeout = .seconds(6)
      // So long that silence alone does not make the connection ask.
      configuration.connectTimeout = .seconds(60)
      let store = try UserStore(postgres: configuration)
      let user = try store.write { try $0.add(name: "Ann") }
      let holder = try PostgresConnection(PostgresSettings(Server.address(database) + " application_name=holder"))
      try holder.run(.begin)
      try holder.run(PostgresStatement(once: "lock", lock))
      let error = try #require(throws: StoreError.self) { try store.write { try $0.rename(user, to: "Zoë") } }
      #expect(error.code == .busy)
      #expect(
        error.hint?.contains("process \(holder.serverProcess) of the server (holder, postgres, ") == true, "\(error)")
      #expect(error.hint?.contains("pg_terminate_backend") == true)
    }

    @Test func `the code and the text of a refusal, in other languages and with several hosts`() {
      let message = """
        connection to server at "a" (10.0.0.1), port 5432 failed: FATAL:  28000: no pg_hba.conf entry
        LOCATION:  ClientAuthentication, auth.c:536
        connection to server at "b" (10.0.0.2), port 5432 failed: FATAL:  53300: zu viele: Verbindungen
        ORT:  InitProcess, proc.c:353
        """
      let error = PostgresError(refusal: message, purpose: "connect")
      #expect(error.refusal == .tooManyConnections)
      #expect(
        error.message == """
          connection to server at "a" (10.0.0.1), port 5432 failed: FATAL: no pg_hba.conf entry; \
          connection to server at "b" (10.0.0.2), port 5432 failed: FATAL: zu viele: Verbindungen
          """)
      let refused = PostgresError(
        refusal: "connection to server at \"a:  x\" failed: Connection refused\n", purpose: "connect")
      #expect(
        refused.refusal == nil && refused.message == "connection to server at \"a:  x\" failed: Connection refused")
    }
  }
}
