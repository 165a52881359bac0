import Testing

@testable import UserStore
@testable import UserStorePostgres

extension AllTests {
  /// Unique attributes beside other programs, which write and make attributes unique.
  @Suite(.timeLimit(.minutes(5)))
  final class UniqueTests {
    private let database: String
    private let store: UserStore
    private let other: PostgresConnection
    private let (ann, bob): (User.ID, User.ID)

    init() throws {
      database = try Server.newDatabase()
      var configuration = PostgresConfiguration(Server.address(database))
      (configuration.store.watchesOtherProcesses, configuration.store.retention) = (false, .unlimited)
      let store = try UserStore(postgres: configuration)
      self.store = store
      (ann, bob) = try store.write { (try $0.add(name: "Ann"), try $0.add(name: "Bob")) }
      try store.write { [ann] in try $0.set("email", of: ann, to: .text("ann@x.de")) }
      other = try PostgresConnection(PostgresSettings(Server.address(database)))
    }

    deinit { store.close() }

    private func refusal(_ body: (inout WriteTransaction) throws -> Void) -> StoreError? {
      #expect(throws: StoreError.self) { try store.write(body) }
    }

    /// The code with which another program's statement fails.
    private func state(of sql: String) -> String? {
      do { try other.execute(sql, to: "write as another program") } catch {
        return error.postgres?.sqlState?.rawValue
      }
      return nil
    }

    private var findings: [Finding] {
      get throws { try UserStore.check(postgres: PostgresConfiguration(Server.address(database))) }
    }

    @Test func `another program is refused, whatever it writes`() throws {
      try store.addUnique(on: "email", ignoringCase: true)
      try store.addUnique(on: .name)
      let statements = [
        "INSERT INTO userstore.attributes (user_id, name, text) VALUES (\(bob), 'email', 'ANN@x.de')",
        "INSERT INTO userstore.attributes (user_id, name, text) VALUES (\(bob), 'email', 'b'); UPDATE userstore.attributes SET text = 'Ann@X.de' WHERE user_id = \(bob)",
        "INSERT INTO userstore.users (name) VALUES ('Ann')", "UPDATE userstore.users SET name = 'Ann'",
      ]
      for statement in statements { #expect(state(of: statement) == "23505", "\(statement)") }
      #expect(state(of: "INSERT INTO userstore.users (name) VALUES ('ann')") == nil)
      #expect(try findings.map(\.message) == [])
    }

    @Test func `a value that another program gives to a user at that moment is refused by the index`() async throws {
      try await store.addUnique(on: "email")
      try other.execute(
        "BEGIN; INSERT INTO userstore.attributes (user_id, name, text) VALUES (\(bob), 'email', 'new@x.de')",
        to: "write as another program")
      let refused = Task { [store, ann] in try await store.write { try $0.set("email", of: ann, to: .text("new@x.de")) }
      }
      // The index waits for the other transaction.
      let waiting = PostgresStatement(
        once: "look for a wait", "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'")
      while try other.run(waiting)[0].int8(0) == 0 { await Task.yield() }
      try other.execute("COMMIT", to: "write as another program")
      let error = await #expect(throws: StoreError.self) { try await refused.value }
      #expect(error?.code == .notUnique && error?.notUnique?.user == nil)
      #expect(error?.message == "user \(ann) cannot have the email “new@x.de”: another user has it")
      // The next one names the user.
      #expect(refusal { try $0.set("email", of: ann, to: .text("new@x.de")) }?.notUnique?.user == bob)
    }

    @Test func `an attribute that another program makes unique, or not unique, is so at once`() throws {
      #expect(state(of: "SELECT userstore.create_unique('email', true)") == nil)
      // The store learns it from the refusal, which ends the transaction this once.
      #expect(refusal { try $0.set("email", of: bob, to: .text("ANN@x.de")) }?.code == .notUnique)
      try store.write { users in
        #expect(throws: StoreError.self) { try users.set("email", of: bob, to: .text("Ann@x.de")) }
        try users.set("age", of: bob, to: .integer(1))
      }
      #expect(try store.read { try $0.uniqueAttributes.map { "\($0.attribute) \($0.ignoresCase)" } } == ["email true"])
      #expect(try store.read { try $0.storedValue("age", of: bob) } == .integer(1))
      #expect(state(of: "SELECT userstore.drop_unique('email')") == nil)
      try store.write { try $0.set("email", of: bob, to: .text("ann@x.de")) }
      #expect(state(of: "SELECT userstore.create_unique('email')") == "23505")
      #expect(try !store.removeUnique(on: "email"))
      #expect(try findings.map(\.message) == [])
    }

    @Test func `a write of a unique attribute takes as many round trips as one of another`() throws {
      try store.addUnique(on: "email")
      let session = try PostgresSession.own(#require(store.engine.writers).take())
      defer { store.engine.writers?.give(back: session) }
      func roundTrips(_ body: () throws -> Void) throws -> Int {
        let before = session.connection.roundTrips
        try body()
        return session.connection.roundTrips - before
      }
      func write(_ attribute: AttributeName, _ value: String) throws -> Int {
        try roundTrips {
          session.beginWriting(isWaiting: true)
          _ = try session.put(attribute, of: ann, .text(value))
          session.endSet(origin: nil)
          _ = try session.commit(readingAfter: nil)
        }
      }
      _ = try (write("email", "a"), write("note", "a"))
      #expect(try write("email", "b") == write("note", "b"))
    }

    @Test func `a unique value is found by its index`() throws {
      try store.addUnique(on: "email", ignoringCase: true)
      try store.addUnique(on: .name)
      // With a few rows, any index is as good.
      try other.execute(
        """
        INSERT INTO userstore.users (name) SELECT 'u' || i FROM generate_series(1, 1000) i;
        INSERT INTO userstore.attributes (user_id, name, text) SELECT id, 'email', name FROM userstore.users WHERE name LIKE 'u%';
        ANALYZE userstore.users, userstore.attributes
        """, to: "write as another program")
      let values = ["NULL::int8", "NULL::float8", "'x'", "NULL::bytea", "NULL::bytea", "1"]
      for index in [AttributeIndex(on: "email", .uniqueIgnoringCase), AttributeIndex(on: .name, .unique)] {
        let sql = values.enumerated().reduce(PostgresUniqueKey(index).selectHolder.text) {
          $0.replacing("$\($1.offset + 1)", with: $1.element)
        }
        try other.execute("SET enable_seqscan = off", to: "explain")
        let plan = try other.run(PostgresStatement(once: "explain", "EXPLAIN \(sql)")).all { $0.text(0) }.joined(
          separator: "\n")
        #expect(plan.contains("unique_\(index.attribute)_"), "\(plan)")
        let query = PostgresQuerySQL(
          counting: Condition(index.attribute, .equal, .text("x")),
          uniqueKeys: [index.attribute: PostgresUniqueKey(index)])
        let text = query.values.enumerated().reversed().reduce("EXPLAIN " + query.statement(to: "explain").text) {
          guard case .text(let value) = $1.element else { return $0.replacing("$\($1.offset + 1)", with: "NULL") }
          return $0.replacing("$\($1.offset + 1)", with: "'\(value)'")
        }
        let queryPlan = try other.run(PostgresStatement(once: "explain", text)).all { $0.text(0) }.joined(
          separator: "\n")
        #expect(queryPlan.contains("unique_\(index.attribute)_"), "\(text)\n\(queryPlan)")
        #expect(queryPlan.contains("Index Cond: (CASE"), "its key is not looked up: \(text)\n\(queryPlan)")
      }
    }
  }
}
