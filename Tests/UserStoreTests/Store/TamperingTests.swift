import TestSupport
import Testing

@testable import UserStore

/// Files that other programs have changed, on purpose or by mistake.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct TamperingTests {
  @Test(arguments: ["9223372036854775807", "281474976710656", "-1"])
  func `a log row with an impossible number stops no program`(number: String) throws {
    let folder = try Folder()
    let store = try folder.open()
    let id = try store.write { try $0.add(name: "NIX") }
    try folder.plain().execute("INSERT INTO changes (seq, op) VALUES (\(number), 2)")
    if number == "-1" {
      try store.write { try $0.rename(id, to: "Zoë") }
    } else {
      #expect(code { try store.write { try $0.rename(id, to: "Zoë") } } == .corrupt)
    }
  }

  @Test func `a unique index is refused although its name looks like that of a harmless one`() throws {
    for names in [("\u{E9}", "e\u{301}"), ("e\u{301}", "\u{E9}")] {
      let folder = try Folder()
      try folder.open().close()
      try folder.shell("CREATE INDEX '\(names.0)' ON users (hair_color)")
      try folder.open().close()
      try folder.shell("CREATE UNIQUE INDEX '\(names.1)' ON users (hair_color)")
      #expect(code { try folder.open() } == .schemaChanged)
    }
  }

  @Test func `an end of a set that names an impossible first row ends its own set`() throws {
    let folder = try Folder()
    let store = try folder.open()
    let id = try store.write { try $0.add(name: "NIX") }
    let received = Recorder<Bool>()
    store.listeners.bind("all", to: .user(id)) { set in received.record(set.isForeign) }
    try folder.plain().execute(
      """
      BEGIN;
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
      INSERT INTO changes (op, user, attribute) SELECT 2, \(id), 'x' FROM n;
      INSERT INTO changes (op, old) VALUES (0, -9223372036854775807 - 1);
      COMMIT
      """)
    received.wait(for: 1)
  }

  @Test func `a file that replaces the database is not read`() throws {
    let folder = try Folder()
    let store = try folder.open { $0.watchesOtherProcesses = false }
    try store.write { try $0.add(name: "mine") }
    try folder.shell(
      """
      CREATE VIEW users AS SELECT 1 AS id, 'hostile' AS name, NULL AS hair_color;
      CREATE VIEW attributes AS SELECT 1 AS user_id, 'a' AS name, 2 AS value;
      """, folder.path + "/other.db")
    try Program.run("mv", [folder.path + "/other.db", folder.database])
    #expect(code { try store.read { try $0.users() } } == .moved)
  }

  @Test func `a wide table of another program has no effect`() throws {
    let folder = try Folder()
    let store = try folder.open()
    let id = try store.write { try $0.add(name: "NIX") }
    let columns = (0..<500).map { "c\($0) DEFAULT (1\(String(repeating: " + 1", count: 60)))" }.joined(separator: ", ")
    try folder.shell("CREATE TABLE wide (\(columns))")
    try store.write { try $0.rename(id, to: "Zoë") }
    #expect(try folder.open().read { try $0.user(id)?.name } == "Zoë")
  }

  @Test(arguments: [0] + Array(Migration.oldest...Migration.latest))
  func `a migrations table with computed columns, which fail when they are read, is not read`(_ version: Int64) throws {
    let folder = try Folder()
    try folder.shell(
      """
      CREATE TABLE migrations (number INTEGER, name TEXT);
      INSERT INTO migrations (number) VALUES (1);
      ALTER TABLE migrations ADD COLUMN fingerprint AS (abs(-9223372036854775807 - 1) || '');
      PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = \(version);
      """)
    #expect(code { try folder.open() } == .schemaChanged)
  }

  @Test(arguments: [
    "CREATE INDEX extra ON users (length(replace(hex(zeroblob(1000)), '0', '1')))",
    "CREATE UNIQUE INDEX extra ON users (name)",
    "CREATE INDEX extra ON users (name) WHERE name > 'a'",
    "CREATE INDEX extra ON changes (user)",
    #"CREATE INDEX "userstore_index_age" ON attributes (value, user_id, name) WHERE name = 'Age'"#,
    #"CREATE INDEX "userstore_index_Age" ON attributes (value, user_id, name) WHERE name = 'Age'"#,
    #"CREATE INDEX "userstore_index_age" ON attributes (user_id, value, name) WHERE name = 'age'"#,
    #"CREATE INDEX "userstore_index_age" ON attributes (value, user_id, name) WHERE name='age'"#,
    #"CREATE INDEX userstore_index_age ON attributes (value, user_id, name) WHERE name = 'age'"#,
    #"CREATE INDEX "userstore_index_age" ON attributes (value)"#,
    #"CREATE UNIQUE INDEX "userstore_index_age" ON attributes (value, user_id, name) WHERE name = 'age'"#,
    #"CREATE INDEX "userstore_index_id" ON attributes (value, user_id, name) WHERE name = 'id'"#,
    #"CREATE INDEX "userstore_index_" ON attributes (value, user_id, name) WHERE name = ''"#,
    #"CREATE INDEX "userstore_index_name" ON attributes (value, user_id, name) WHERE name = 'name'"#,
    #"CREATE INDEX "userstore_index_name" ON users (name COLLATE NOCASE)"#,
    #"CREATE INDEX "userstore_index_hair_color" ON users (hair_color)"#,
    """
    CREATE UNIQUE INDEX extra ON users (name);
    PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = replace(sql, 'CREATE UNIQUE', 'CREATE  UNIQUE') WHERE name = 'extra'
    """,
  ])
  func `an index that could run code, refuse rows, or only looks like one of the library is refused`(sql: String) throws
  {
    let folder = try Folder()
    try folder.open().close()
    try folder.shell(sql)
    #expect(code { try folder.open() } == .schemaChanged)
  }

  @Test(arguments: [
    "CREATE TABLE pragma_index_list (name, seq)",
    "CREATE VIRTUAL TABLE PRAGMA_index_list USING fts5(name, 'unique', 'partial')",
    "CREATE TABLE Pragma_page_count (page_count)",
    """
    CREATE TABLE notes (x);
    PRAGMA writable_schema = ON;
    INSERT INTO sqlite_schema VALUES ('view', 'pragma_index_list', 'pragma_index_list', 0,
      'CREATE VIEW pragma_index_list AS WITH RECURSIVE r(name) AS (SELECT 1 UNION ALL SELECT 1 FROM r) SELECT * FROM r')
    """,
  ])
  func `tables and views with the names of SQLite's pragma functions are refused`(sql: String) throws {
    let folder = try Folder()
    try folder.open().close()
    try folder.shell(sql)
    #expect(code { try folder.open() } == .schemaChanged)
    #expect(try UserStore.check(path: folder.database).contains { $0.kind == .schema })
  }

  @Test func `a trigger that is declared as a table is damage`() throws {
    let folder = try Folder()
    try folder.open().close()
    try folder.shell(
      """
      PRAGMA writable_schema = ON;
      INSERT INTO sqlite_schema VALUES ('table', 'notes', 'notes', 0,
        'CREATE TRIGGER notes AFTER INSERT ON users BEGIN DELETE FROM changes; END')
      """)
    #expect(code { try folder.open() } == .corrupt)
  }

  @Test(arguments: [
    "INSERT INTO changes (seq, op) VALUES (-9223372036854775807 - 1, 2)",
    "UPDATE meta SET measured = 1, bytes = 9223372036854775807",
    "UPDATE meta SET measured = 9223372036854775807, bytes = -9223372036854775807",
    "UPDATE meta SET horizon = -9223372036854775807 - 1", "UPDATE meta SET horizon = 9223372036854775807",
    "UPDATE meta SET horizon = 99", "UPDATE changes SET at = -9223372036854775807 - 1",
    "UPDATE changes SET at = 9223372036854775807",
    "UPDATE meta SET searched = 9223372036854775807, sized = 1, size = -1",
    "UPDATE changes SET old = -9223372036854775807 - 1 WHERE op = 0",
  ])
  func `with impossible numbers in the log, compaction succeeds or throws corrupt`(sql: String)
    throws
  {
    let folder = try Folder()
    let store = try folder.open { $0.retention = RetentionPolicy(.init(age: .seconds(1), changes: 2, bytes: 10)) }
    for name in ["a", "b", "c"] { try store.write { try $0.add(name: name) } }
    try folder.shell(sql)
    let isDamaged = sql.contains("horizon")
    let policy = RetentionPolicy(.init(age: .seconds(1), changes: 2, bytes: 10))
    for compact in [{ _ = try store.compactionPreview(keeping: policy) }, { _ = try store.compact(keeping: policy) }]
      as [() throws -> Void]
    {
      do { try compact() } catch let error as StoreError { #expect(isDamaged && error.code == .corrupt, "\(error)") }
    }
    _ = try? store.write { try $0.rename(User.ID(1), to: "d") }
    #expect(try store.read { try $0.count() } == 3)
  }

  @Test func `compaction throws corrupt if the root page of a table belongs to another table`() throws {
    let folder = try Folder()
    try folder.open { $0.watchesOtherProcesses = false }.close()
    // The first row is as in a file of earlier migrations, and can be read as that of meta.
    try folder.shell(
      """
      INSERT INTO migrations VALUES (1, 'users_and_changes', '51eccbfa679912a6');
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'migrations') WHERE name = 'meta'
      """)
    let store = try folder.open { $0.watchesOtherProcesses = false }
    try store.write { try $0.add(name: "NIX") }
    #expect(code { try store.compact(keeping: RetentionPolicy(.init(changes: 1))) } == .corrupt)
  }

  @Test func `a plain index is allowed`() throws {
    let folder = try Folder()
    try folder.open().close()
    try folder.shell("CREATE INDEX by_name ON users (name, hair_color)")
    try folder.open().write { try $0.add(name: "NIX") }
  }

  @Test func `an index that another program created as the library does is one of the library`() throws {
    let folder = try Folder()
    try folder.open().close()
    try folder.shell(
      #"""
      CREATE INDEX "userstore_index_^age" ON attributes (value, user_id, name) WHERE name = 'Age';
      CREATE INDEX "userstore_index_name" ON users (name)
      """#)
    #expect(try folder.open().read { try $0.indexes } == ["Age", "name"])
  }

  @Test func `a row that was deleted from the log stops no writer, and listeners receive a discontinuity`() throws {
    let folder = try Folder()
    let store = try folder.open { $0.watchesOtherProcesses = false }
    let id = try store.write { try $0.add(name: "NIX") }
    let received = Recorder<String>()
    store.listeners.bind("all", to: .everything) { set in
      received.record(try set.discontinuity?.rawValue ?? set.changes.map { "\($0.new.forMessages)" }.joined())
    }
    try folder.shell(
      """
      UPDATE users SET name = 'x'; UPDATE users SET name = 'y';
      DELETE FROM changes WHERE seq = (SELECT max(seq) - 1 FROM changes)
      """)
    try store.write { try $0.rename(id, to: "one") }
    try store.write { try $0.rename(id, to: "two") }
    #expect(received.all == ["diverged", "“one”", "“two”"])
  }

  @Test func `an attribute with the name of a column does not change the record`() throws {
    let folder = try Folder()
    let store = try folder.open()
    let zoe = try store.write { try $0.add(name: "Zoë", hairColor: Color("red")) }
    try folder.withoutTriggers("INSERT INTO attributes VALUES (1, 'name', 'x'), (1, 'hair_color', '#000000')")
    let (user, name) = try store.read { (try $0.user(zoe), try $0.value(.name, of: zoe)) }
    #expect(try user?.name == "Zoë" && name == "Zoë")
    #expect(try user?.hairColor == Color("red"))
  }

  @Test func `attribute names are compared by their bytes`() throws {
    let store = try UserStore.forTests()
    let (composed, decomposed) = (Attribute<String>("caf\u{e9}"), Attribute<String>("cafe\u{301}"))
    let id = try store.write { try $0.add(name: "NIX") }
    try store.write { try $0.set(composed, of: id, to: "one") }
    let value = try store.listenable(composed, of: id)
    try store.write { try $0.set(decomposed, of: id, to: "two") }
    #expect(value.value == "one")
  }
}
