import Foundation
import Testing

@testable import UserStore
@testable import UserStorePostgres

extension AllTests {
  /// Databases of earlier and later layouts.
  @Suite(.timeLimit(.minutes(5)))
  struct LayoutTests {
    private let database: String
    private let owner: PostgresConnection
    private let observer: Observer
    private static let age = Attribute<Int>("age")
    private static let ann = User.ID(1)

    /// Creates a database of the oldest layout, as the library did when it had only the first migration.
    init() throws {
      database = try Server.newDatabase()
      owner = try PostgresConnection(PostgresSettings(Server.address(database)))
      observer = try Observer()
      try owner.execute(PostgresSchema.migrations[0].sql, to: "create the oldest layout")
      for change in [
        "INSERT INTO userstore.users (name, hair_color) VALUES ('Ann', '#aa0000'), ('Bo', NULL)",
        "INSERT INTO userstore.attributes (user_id, name, integer) VALUES (1, 'age', 7)",
        "UPDATE userstore.users SET name = 'Zoë' WHERE id = 1",
      ] { try owner.execute(change, to: "write as another program") }
    }

    private func configuration(_ role: String = "postgres") -> PostgresConfiguration {
      var configuration = PostgresConfiguration(Server.address(database) + " options='-c role=\(role)'")
      configuration.idleLook = .seconds(100_000)
      return configuration
    }

    private func count(_ sql: String) throws -> Int64? {
      try owner.run(PostgresStatement(once: "count", sql)).first?.int8(0)
    }

    private var layout: Int64? { get throws { try count("SELECT layout::int8 FROM userstore.meta") } }

    /// Calls `body` with a role that can write but does not own the schema.
    private func withWriter(_ body: (String) throws -> Void) throws {
      let role = "w\(UInt64.random(in: 0 ... .max))"
      try owner.execute("CREATE ROLE \(role); SELECT userstore.set_rights('\(role)', 'write')", to: "create a role")
      defer { try? owner.execute("DROP OWNED BY \(role); DROP ROLE \(role)", to: "remove a role") }
      try body(role)
    }

    private func code(_ body: () throws(StoreError) -> Void) -> StoreError.Code? {
      do {
        try body()
        return nil
      } catch { return error.code }
    }

    private func open(_ configuration: PostgresConfiguration) throws(StoreError) {
      try UserStore(postgres: configuration).close()
    }

    @Test func `the owner migrates a store, and its records, log and cursors remain`() throws {
      let first = Cursor(
        epoch: try #require(try count("SELECT epoch FROM userstore.meta")),
        revision: try #require(try count("SELECT min(last) FROM userstore.commits")),
        nonce: try #require(
          try count("SELECT nonce FROM userstore.nonce_at((SELECT min(last) FROM userstore.commits))")))
      let store = try UserStore(postgres: configuration())
      defer { store.close() }
      #expect(try self.layout == PostgresSchema.latest)
      #expect(try store.read { try $0.user(Self.ann)?.name } == "Zoë")
      let sets = try store.page(after: first)
      #expect(try sets.flatMap { try $0.changes }.map(\.new) == [.integer(7), .text("Zoë")])
      try store.write { try $0.set(Self.age, of: Self.ann, to: 8) }
      try store.write { _ = try $0.undo() }
      #expect(try store.read { try $0.value(Self.age, of: Self.ann) } == 7)
      #expect(try UserStore.check(postgres: configuration()).isEmpty)
    }

    @Test func `the first id of a database is not given again`() throws {
      let database = try Server.newDatabase()
      let program = try PostgresConnection(PostgresSettings(Server.address(database)))
      try program.execute(PostgresSchema.migrations[0].sql, to: "create the oldest layout")
      try program.execute("INSERT INTO userstore.users (id, name) VALUES (1, 'Ann')", to: "add a user")
      try program.execute("DELETE FROM userstore.users", to: "remove the user")
      let store = try UserStore(postgres: PostgresConfiguration(Server.address(database)))
      defer { store.close() }
      #expect(try store.write { try $0.add(name: "Bo") }.rawValue == 2)
    }

    @Test func `a migrated database is as a new one`() throws {
      try open(configuration())
      let other = try Server.newDatabase()
      try open(PostgresConfiguration(Server.address(other)))
      let parts = PostgresStatement(
        once: "read the layout",
        """
        SELECT string_agg(part || definition, ';' ORDER BY part COLLATE "C") FROM (
          SELECT * FROM userstore.layout
          UNION ALL SELECT * FROM userstore.parts()
          UNION ALL SELECT number::text, name || fingerprint FROM userstore.migrations
            WHERE number > \(PostgresSchema.oldest)) p
        """)
      let new = try PostgresConnection(PostgresSettings(Server.address(other))).run(parts)[0].text(0)
      #expect(try owner.run(parts)[0].text(0) == new)
    }

    @Test func `a role that does not own the schema uses it as it is, and keeps working through the migration`() throws
    {
      try withWriter { role in
        let received = Inbox<StoredValue>()
        let store = try UserStore(postgres: configuration(role))
        defer { store.close() }
        store.listeners.bind("age", to: .attribute(Self.age, of: Self.ann)) { set in
          for change in try set.changes { received.append(change.new) }
        }
        var reading = configuration(role)
        reading.store.access = .readOnly
        try open(reading)
        func write(_ number: Int) throws {
          try store.write { try $0.set(Self.age, of: Self.ann, to: number) }
          try owner.execute(
            "UPDATE userstore.attributes SET integer = \(number + 1) WHERE user_id = 1", to: "write as another program")
          received.awaitNext()
          received.awaitNext()
        }
        try write(10)
        #expect(try layout == PostgresSchema.oldest)
        try open(configuration())
        #expect(try layout == PostgresSchema.latest)
        try write(20)
        try open(configuration(role))
        #expect(received.all == [10, 11, 20, 21].map { .integer($0) })
        #expect(try UserStore.check(postgres: configuration()).isEmpty)
      }
    }

    /// What was changed in the last set of the log.
    private var lastSet: [StoredValue] {
      get throws {
        let store = try UserStore(postgres: configuration())
        defer { store.close() }
        return try store.page(after: store.read { try $0.oldestCursor }).last?.changes.map(\.new) ?? []
      }
    }

    @Test func `while another store writes, a store opens and does not migrate`() throws {
      let other = try PostgresConnection(PostgresSettings(Server.address(database)))
      try other.execute(
        "BEGIN; SELECT userstore.begin_writing(true); UPDATE userstore.attributes SET integer = 8",
        to: "write as another store")
      var impatient = configuration()
      impatient.store.busyTimeout = .milliseconds(50)
      try open(impatient)
      #expect(try layout == PostgresSchema.oldest)
      try other.execute("UPDATE userstore.users SET name = 'Di' WHERE id = 2; COMMIT", to: "write and commit")
      #expect(try lastSet == [.integer(8), .text("Di")])
      #expect(try layout == PostgresSchema.latest)
      #expect(try UserStore.check(postgres: configuration()).isEmpty)
    }

    @Test func `transactions that began before the migration go on after it`() throws {
      let writer = try PostgresConnection(PostgresSettings(Server.address(database)))
      let reader = try PostgresConnection(PostgresSettings(Server.address(database)))
      let rename = "UPDATE userstore.users SET name = name || '!' WHERE id = 2"
      try writer.execute("BEGIN; \(rename); \(rename)", to: "write as another program")
      try reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT userstore.head()", to: "read the log")
      try open(configuration())
      #expect(try layout == PostgresSchema.latest)
      try reader.execute("SELECT * FROM userstore.attributes; COMMIT", to: "read the records")
      try writer.execute("UPDATE userstore.attributes SET integer = 8; \(rename); COMMIT", to: "write and commit")
      #expect(try lastSet == [.text("Bo!"), .text("Bo!!"), .integer(8), .text("Bo!!!")])
      #expect(try UserStore.check(postgres: configuration()).isEmpty)
    }

    @Test func `the migration neither adopts what others added, nor hides damage`() throws {
      try owner.execute(
        """
        SELECT userstore.create_index('age');
        ALTER TABLE userstore.users ADD note text;
        ALTER TABLE userstore.attributes DROP CONSTRAINT attributes_user_id_fkey;
        """, to: "change the schema")
      try open(configuration())
      try owner.execute(
        "SELECT userstore.drop_index('age'); ALTER TABLE userstore.users DROP note", to: "change the schema back")
      let findings = try UserStore.check(postgres: configuration())
      #expect(findings.count == 1 && findings[0].message.contains("attributes_user_id_fkey"), "\(findings)")
    }

    @Test func `the migration waits for a write that has begun, and they do not block each other`() throws {
      try withWriter { role in
        let store = try UserStore(postgres: configuration(role))
        defer { store.close() }
        var opening: Work<Void>?
        try store.write { write in
          try write.rename(Self.ann, to: "Cy")
          opening = Work { [configuration = configuration()] in try UserStore(postgres: configuration).close() }
          try observer.awaitLock("%ExclusiveLock", in: database)
          try write.set(Self.age, of: Self.ann, to: 8)
        }
        try opening?.join()
        #expect(try layout == PostgresSchema.latest)
        #expect(try store.read { try $0.value(Self.age, of: Self.ann) } == 8)
        #expect(try UserStore.check(postgres: configuration()).isEmpty)
      }
    }

    @Test func `a store that needs no migration opens while others write`() throws {
      try open(configuration())
      let other = try PostgresConnection(PostgresSettings(Server.address(database)))
      try other.execute("BEGIN; SELECT userstore.begin_writing(true)", to: "write as another store")
      var impatient = configuration()
      impatient.store.busyTimeout = .milliseconds(50)
      try open(impatient)
    }

    @Test(arguments: ["o", "postgres"])
    func `the owner of the schema and a superuser migrate it, and all of it stays the owner's`(migrator: String) throws
    {
      let database = try Server.newDatabase()
      let creator = try PostgresConnection(PostgresSettings(Server.address(database)))
      let role = "o\(UInt64.random(in: 0 ... .max))"
      try creator.execute(
        "CREATE ROLE \(role); GRANT CREATE ON DATABASE \"\(database)\" TO \(role); SET ROLE \(role)",
        to: "create a role")
      defer { try? creator.execute("RESET ROLE; DROP OWNED BY \(role); DROP ROLE \(role)", to: "remove a role") }
      try creator.execute(PostgresSchema.migrations[0].sql, to: "create the oldest layout")
      let chosen = migrator == "o" ? role : migrator
      let configuration = PostgresConfiguration(Server.address(database) + " options='-c role=\(chosen)'")
      try open(configuration)
      let layout = PostgresStatement(once: "read the layout", "SELECT layout::int8 FROM userstore.meta")
      #expect(try creator.run(layout)[0].int8(0) == PostgresSchema.latest)
      #expect(try UserStore.check(postgres: configuration).isEmpty)
    }

    @Test func `of many processes that open a store at once, one migrates it`() throws {
      let opening = (0..<8).map { _ in
        Work { [configuration = configuration()] in try UserStore(postgres: configuration).close() }
      }
      for work in opening { try work.join() }
      #expect(try layout == PostgresSchema.latest)
      #expect(
        try count("SELECT count(*) FROM userstore.migrations") == PostgresSchema.latest - PostgresSchema.oldest)
    }

    @Test func `a newer layout is used if it allows that, and is not changed`() throws {
      try open(configuration())
      try owner.execute("UPDATE userstore.meta SET layout = 99", to: "write as a newer library")
      try open(configuration())
      #expect(try layout == 99)
      try owner.execute("UPDATE userstore.meta SET min_client = 99", to: "write as a newer library")
      #expect(code { () throws(StoreError) in try open(configuration()) } == .schemaTooNew)
    }

    @Test func `a layout that is too old is used by nobody, and the hint says what to do`() throws {
      let older = PostgresSchema.oldest - 1
      try owner.execute("UPDATE userstore.meta SET layout = \(older)", to: "write as an older library")
      var reading = configuration()
      reading.store.access = .readOnly
      try withWriter { role in
        for configuration in [configuration(), reading, configuration(role)] {
          let error = #expect(throws: StoreError.self) { try open(configuration) }
          #expect(error?.code == .schemaTooOld && error?.hint?.contains("export the users") == true)
        }
      }
      #expect(try layout == older)
    }

    @Test func `roles that may write can post events after the migration`() throws {
      try withWriter { role in
        try owner.execute("SET ROLE \(role)", to: "become a writer")
        #expect(throws: StoreError.self) { try owner.execute("SELECT userstore.post('x')", to: "post") }
        try owner.execute("RESET ROLE", to: "become the owner")
        try open(configuration())
        try owner.execute("SET ROLE \(role); SELECT userstore.post('x', about => 1); RESET ROLE", to: "post")
        #expect(try UserStore.check(postgres: configuration()).isEmpty)
      }
    }

    @Test func `before the migration, an event is refused, and everything else works`() throws {
      try withWriter { role in
        let store = try UserStore(postgres: configuration(role))
        defer { store.close() }
        let writer = try #require(store.engine.writers).take()
        try writer.beginWriting(isWaiting: true)
        let error = #expect(throws: StoreError.self) {
          try writer.append(.event(name: "x", payload: .null, about: nil))
        }
        #expect(error?.code == .schemaTooOld && error?.message.contains("the owner of the schema") == true)
        writer.rollBack()
        store.engine.writers?.give(back: writer)
        try store.write { try $0.set(Self.age, of: Self.ann, to: 8) }
        let bo = try store.write { try $0.add(name: "Bo") }
        try store.write { try $0.remove(bo) }
        #expect(try store.purge(bo).blanked == 4, "without a note")
        #expect(try count("SELECT count(*) FROM userstore.changes WHERE is_blank") == 4)
        #expect(try layout == PostgresSchema.oldest)
      }
    }

    @Test func `a migration that fails changes nothing`() throws {
      try owner.execute(
        "CREATE FUNCTION userstore.note_purged(id bigint) RETURNS void LANGUAGE sql AS ''", to: "obstruct")
      #expect(code { () throws(StoreError) in try open(configuration()) } != nil)
      #expect(try layout == PostgresSchema.oldest)
      #expect(try count("SELECT count(*) FROM userstore.migrations") == 0)
      #expect(try count("SELECT count(*) FROM userstore.parts() WHERE part LIKE 'function post(%'") == 0)
      try owner.execute("DROP FUNCTION userstore.note_purged", to: "clear the way")
      try open(configuration())
    }

    @Test func `a migration that was edited after it was applied is noticed, except the oldest`() throws {
      try open(configuration())
      let oldest = PostgresSchema.oldest
      try owner.execute(
        "INSERT INTO userstore.migrations SELECT n, 'older', 'x' FROM generate_series(1, \(oldest)) n", to: "fold")
      try open(configuration())
      try owner.execute("UPDATE userstore.migrations SET fingerprint = 'x'", to: "edit")
      let error = #expect(throws: StoreError.self) { try open(configuration()) }
      #expect(
        error?.code == .schemaChanged && error?.message.contains("migration \(oldest + 1) was edited") == true)
    }
  }
}
