import TestSupport
import Testing

@testable import UserStore

/// Tables, views and triggers of an application in the store's file, and their foreign keys.
@Suite(.bounded, .serialized, .sqlite, .timeLimit(.minutes(5))) struct OwnTableTests {
  let folder: Folder
  let store: UserStore
  let zoe: User.ID
  let other: PlainConnection

  init() throws {
    folder = try Folder()
    store = try folder.open()
    zoe = try store.write { try $0.add(name: "Zoë") }
    other = try PlainConnection(folder.database, busyTimeout: 5_000)
  }

  /// Creates a table with a key on users, and a row about Zoë.
  private func createOrders(_ clause: String = "", _ column: String = "user INTEGER") throws {
    try other.script(
      "CREATE TABLE orders (\(column) REFERENCES users (id) \(clause), item); INSERT INTO orders VALUES (1, 'book')")
  }

  private func orders() throws -> [[PlainValue]] { try other.run("SELECT * FROM orders") }

  // MARK: Foreign keys

  @Test(arguments: ["", "ON DELETE RESTRICT", "ON DELETE NO ACTION", "ON DELETE SET DEFAULT"])
  func `a removal that a key forbids is refused, and the write can go on`(clause: String) throws {
    try createOrders(clause, "user INTEGER NOT NULL DEFAULT 99")
    try store.write { users in
      do throws(StoreError) {
        try users.remove(zoe)
        Issue.record("it was removed")
      } catch {
        #expect(error.code == .stillReferenced)
        #expect(error.message == "user 1 cannot be removed: another table refers to it")
      }
      try users.rename(zoe, to: "still here")
    }
    #expect(try store.allChanges().last?.entryLines == ["still here"])
    try other.script("DELETE FROM orders")
    try store.write { try $0.remove(zoe) }
  }

  @Test func `a removal that another constraint forbids says which`() throws {
    try createOrders("ON DELETE SET NULL", "user INTEGER NOT NULL")
    do {
      try store.write { try $0.remove(zoe) }
    } catch let error as StoreError {
      #expect(error.code == .stillReferenced)
      let reason = "user 1 cannot be removed: another table refers to it (NOT NULL constraint failed: orders.user)"
      #expect(error.message == reason)
    }
  }

  @Test func `rows are removed or changed with their user, and come not back by an undo`() throws {
    try createOrders("ON DELETE CASCADE")
    try other.script("CREATE TABLE notes (user REFERENCES users ON DELETE SET NULL); INSERT INTO notes VALUES (1)")
    try store.write { try $0.remove(zoe) }
    #expect(try orders() == [] && other.run("SELECT * FROM notes") == [[.null]])
    try store.write { try $0.undo() }
    #expect(try store.user(zoe)?.name == "Zoë" && orders() == [])
    #expect(try store.check().filter { $0.severity == .problem } == [])
  }

  @Test func `a deferred key fails the write that violates it, and not those that share its transaction`() async throws
  {
    try createOrders("DEFERRABLE INITIALLY DEFERRED")
    let (al, zoe) = (try await store.write { try $0.add(name: "Al") }, zoe)
    let lineup = await Lineup(store)
    await lineup.add(.thread) { try $0.rename(al, to: "first") }
    await lineup.add(.thread) { try $0.remove(zoe) }
    await lineup.add(.task) { try $0.rename(al, to: "third") }
    #expect(await lineup.go() == [nil, "stillReferenced", nil])
    let users = try await store.read { users in try [al, zoe].map { try users.user($0)?.name } }
    #expect(users == ["third", "Zoë"])
    // In the transaction of another library, the row can go after its user.
    #expect(await awaitedCode { try await store.write { try $0.remove(zoe) } } == .stillReferenced)
    try other.script("PRAGMA foreign_keys = ON; BEGIN")
    try other.writing(to: store) { try $0.remove(zoe) }
    try other.script("DELETE FROM orders; COMMIT")
    #expect(try await store.user(zoe) == nil)
  }

  @Test(arguments: [
    "CREATE TABLE bad (name REFERENCES users (name))", "CREATE TABLE bad (seq references CHANGES)",
    "CREATE TABLE bad (user, name, FOREIGN KEY (user, name) REFERENCES attributes (user_id, name))",
    "CREATE TABLE bad (user, name, FOREIGN KEY (user, name) REFERENCES users (id, name))",
    "CREATE TABLE bad (x REFERENCES \"meta\" (id))",
  ])
  func `a key on anything but the id of users is named at opening`(sql: String) throws {
    try other.script("CREATE TABLE good (user REFERENCES Users (ID), a REFERENCES good, b REFERENCES nowhere (x))")
    try folder.open().close()
    try other.script(sql)
    let error = #expect(throws: StoreError.self) { try folder.open().close() }
    #expect(error?.code == .schemaChanged)
    #expect(error?.message.hasPrefix("a foreign key of the table “bad” refers to ") == true)
  }

  // MARK: Restoring

  @Test func `a restore leaves own tables as they are, if their users exist afterwards`() throws {
    try createOrders("ON DELETE CASCADE")
    try store.backup(to: folder.path + "/backup.db")
    let al = try store.write { try $0.add(name: "Al") }
    try store.restore(from: folder.path + "/backup.db")
    #expect(try orders().count == 1 && store.user(al) == nil)
    // Keys hold again.
    try store.write { try $0.remove(zoe) }
    #expect(try orders() == [])
  }

  @Test func `a restore that would leave rows without their users is refused`() throws {
    try other.script("CREATE TABLE orders (user INTEGER REFERENCES users (id) ON DELETE CASCADE, item)")
    try store.backup(to: folder.path + "/backup.db")
    let al = try store.write { try $0.add(name: "Al") }
    try other.script("INSERT INTO orders VALUES (2, 'pen'), (2, 'ink'), (1, 'book'), (NULL, '')")
    let cursor = try store.read { try $0.cursor }
    let error = #expect(throws: StoreError.self) { try store.restore(from: folder.path + "/backup.db") }
    #expect(error?.code == .stillReferenced)
    #expect(error?.message == "the backup cannot be restored: 2 rows of “orders” refer to users that it does not have")
    #expect(try orders().count == 4 && store.read { try $0.cursor } == cursor)
    try store.write { try $0.remove(al) }
    #expect(try orders().count == 2)
    try store.restore(from: folder.path + "/backup.db")
  }

  // MARK: Triggers

  @Test func `a trigger of an own table may change users and post events, also when a removal reaches it`() throws {
    try createOrders("ON DELETE CASCADE")
    try other.script(
      """
      CREATE VIEW items AS SELECT item FROM orders;
      CREATE TRIGGER counted AFTER INSERT ON orders BEGIN
        INSERT INTO attributes VALUES (NEW.user, 'orders', 1) ON CONFLICT (user_id, name) DO UPDATE SET value = value + 1;
      END;
      CREATE TRIGGER gone AFTER DELETE ON orders BEGIN
        UPDATE attributes SET value = value - 1 WHERE user_id = OLD.user AND name = 'orders';
        DELETE FROM attributes WHERE user_id = OLD.user AND name = 'last';
        INSERT INTO changes (op, user, old, new) VALUES (6, OLD.user, 'canceled', OLD.item);
      END
      """)
    let again = try folder.open()
    let cursor = try again.read { try $0.cursor }
    try other.script("INSERT INTO orders VALUES (1, 'pen')")
    try again.write { try $0.set(Attribute("last"), of: zoe, to: "pen") }
    try again.write { try $0.remove(zoe) }
    #expect(try orders() == [])
    let sets = try again.allChanges(after: cursor)
    #expect(try sets.last?.events.map(\.name) == ["canceled", "canceled"])
    #expect(try again.check().filter { $0.severity == .problem } == [])
    try again.write { try $0.undo() }
    #expect(try again.user(zoe)?.name == "Zoë" && again.user(zoe)?[Attribute<String>("last")] == "pen")
    #expect(try again.check().filter { $0.severity == .problem } == [])
  }

  @Test(arguments: [
    "DELETE FROM changes WHERE seq < 5", "UPDATE changes SET new = NULL", "UPDATE meta SET epoch = 1",
    "INSERT INTO consumers VALUES ('x', 1, 1, 1, 1, 1)", "DELETE FROM migrations", "UPDATE sqlite_sequence SET seq = 0",
    "INSERT INTO displaced_users (id) VALUES (1)", "INSERT INTO hidden VALUES (1)",
  ])
  func `a trigger that a removal reaches may not change the library's other tables`(statement: String) throws {
    try createOrders("ON DELETE CASCADE")
    try other.script(
      """
      CREATE VIEW hidden AS SELECT seq FROM changes;
      CREATE TRIGGER inside INSTEAD OF INSERT ON hidden BEGIN DELETE FROM changes WHERE seq < 5; END;
      CREATE TRIGGER harmless AFTER INSERT ON orders BEGIN \(statement); END
      """)
    try folder.open().close()
    try other.script("CREATE TRIGGER bad AFTER DELETE ON orders BEGIN \(statement); END")
    #expect(code { try folder.open() } == .schemaChanged)
    #expect(try folder.open { $0.access = .readOnly }.count() == 1)
  }

  @Test(arguments: ["users", "changes", "meta"])
  func `a trigger that only claims to be on an own table is refused`(table: String) throws {
    try createOrders()
    try other.script(
      """
      PRAGMA writable_schema = ON;
      INSERT INTO sqlite_schema VALUES
        ('trigger', 'bad', 'orders', 0, 'CREATE TRIGGER bad AFTER UPDATE ON \(table) BEGIN DELETE FROM orders; END');
      PRAGMA writable_schema = RESET
      """)
    // SQLite compares the table with the statement.
    #expect(code { try folder.open() } == .corrupt)
    #expect(code { try folder.open { $0.access = .readOnly } } == .corrupt)
  }

  @Test(arguments: ["SELECT of_the_shop(OLD.item)", "DELETE FROM nowhere"])
  func `a trigger that only its own program can run does not keep others from using the store`(statement: String) throws
  {
    try createOrders("ON DELETE CASCADE")
    try other.script("CREATE TRIGGER other AFTER DELETE ON orders BEGIN \(statement); END")
    let again = try folder.open()
    try again.write { try $0.rename(zoe, to: "x") }
    #expect(code { try again.write { try $0.remove(zoe) } } == .unexpected)
    #expect(try again.user(zoe) != nil && orders().count == 1)
  }

  @Test func `a trigger cannot load code, write files, or call functions that could`() throws {
    try createOrders("ON DELETE CASCADE")
    for call in ["load_extension('x')", "fts3_tokenizer('x')", "writefile('x', 'y')"] {
      try other.script("CREATE TRIGGER bad AFTER DELETE ON orders BEGIN SELECT \(call); END")
      do {
        let again = try folder.open()
        #expect(throws: StoreError.self) { try again.write { try $0.remove(zoe) } }
      } catch {}
      try other.script("DROP TRIGGER bad")
    }
    #expect(try store.user(zoe) != nil)
  }

  // MARK: Checking

  @Test func `check warns of rows without their user, and of keys without an index`() throws {
    try other.script(
      """
      CREATE TABLE orders (user INTEGER REFERENCES users (id), item);
      CREATE TABLE notes (user INTEGER PRIMARY KEY REFERENCES users, text);
      CREATE TABLE marks (user INTEGER REFERENCES users, kind); CREATE INDEX by_user ON marks (user, kind);
      INSERT INTO orders VALUES (7, 'x'), (8, 'y'); INSERT INTO notes VALUES (7, '')
      """)
    let found = try store.check().filter { $0.kind == .orphan || $0.kind == .schema }
    #expect(found.allSatisfy { $0.severity == .warning })
    #expect(
      found.map(\.message) == [
        "1 row of “notes” refers to users that do not exist", "2 rows of “orders” refer to users that do not exist",
        "the foreign key of “orders” on user has no index: removing a user reads the whole table",
      ])
  }
}
