import Foundation
import Testing

@testable import UserStore

/// Files that are not a store, or whose schema is not the library's.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct BadFileTests {
  let folder: Folder

  init() throws {
    folder = try Folder()
  }

  private static let all: [Configuration.Access] = [.createIfMissing, .readWrite, .readOnly]

  private func codes() -> [StoreError.Code?] {
    Self.all.map { access in code { try folder.open { $0.access = access } } }
  }

  /// Creates a store with a user, and closes it.
  private func createStore() throws {
    let store = try folder.open()
    try store.write { try $0.add(name: "a", hairColor: Color("red")) }
    store.close()
  }

  private func alter(_ sql: String) throws {
    try folder.python("db.execute('PRAGMA writable_schema = ON')\n" + "db.executescript(\"\"\"\(sql)\"\"\")")
  }

  @Test func `a file that is not a database is refused and left unchanged`() throws {
    let bytes = Data(
      "this is not a database, and it is longer than the header of a database, one hundred bytes, so that SQLite reads it"
        .utf8)
    try bytes.write(to: URL(filePath: folder.database))
    #expect(codes() == [.notADatabase, .notADatabase, .notADatabase])
    #expect(try Data(contentsOf: URL(filePath: folder.database)) == bytes)
  }

  @Test func `another program's database is refused and left unchanged`() throws {
    try folder.shell("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)")
    let bytes = try Data(contentsOf: URL(filePath: folder.database))
    #expect(codes() == [.notAUserStore, .notAUserStore, .notAUserStore])
    try folder.shell("PRAGMA application_id = 7")
    #expect(codes() == [.notAUserStore, .notAUserStore, .notAUserStore])
    #expect(try Data(contentsOf: URL(filePath: folder.database)).count == bytes.count)
    #expect(try folder.shell("PRAGMA journal_mode") == "delete\n")
  }

  @Test(arguments: [99, 100, 1_000, 2_047, 2_048, 5_000])
  func `a truncated file is refused or reported as damaged, and never crashes`(_ length: Int) throws {
    try createStore()
    let whole = try Data(contentsOf: URL(filePath: folder.database))
    try whole.prefix(length).write(to: URL(filePath: folder.database))
    for access in Self.all {
      do {
        let store = try folder.open { $0.access = access }
        _ = try store.read { try $0.users() }
        Issue.record("nothing was noticed with \(length) bytes")
      } catch {
        #expect(
          [.notADatabase, .corrupt, .schemaChanged].contains((error as? StoreError)?.code), "\(length): \(error)")
      }
    }
  }

  @Test func `a file in a format that SQLite does not support is refused and left unchanged`() throws {
    try createStore()
    var bytes = try folder.bytes()
    // The schema format number is 1 to 4 (sqlite.org/fileformat2.html#the_database_header).
    bytes[47] = 9
    try bytes.write(to: URL(filePath: folder.database))
    #expect(codes() == [.notADatabase, .notADatabase, .notADatabase])
    #expect(try folder.bytes() == bytes)
  }

  @Test func `a newer schema is refused`() throws {
    try createStore()
    try alter("PRAGMA user_version = 99")
    #expect(codes() == [.schemaTooNew, .schemaTooNew, .schemaTooNew])
  }

  @Test(arguments: [
    "UPDATE migrations SET fingerprint = 'x'", "DELETE FROM migrations",
    "INSERT INTO migrations VALUES (99, 'newer', 'x')", "DROP TABLE migrations",
  ])
  func `edited, missing and unknown migrations are refused`(_ sql: String) throws {
    try createStore()
    try alter(sql)
    #expect(codes() == [.schemaChanged, .schemaChanged, .schemaChanged])
  }

  @Test(arguments: [
    "CREATE TRIGGER extra AFTER INSERT ON users BEGIN SELECT 1; END",
    "CREATE TRIGGER extra AFTER UPDATE ON changes BEGIN DELETE FROM users; END",
    "CREATE UNIQUE INDEX extra ON users (name)",
    "CREATE INDEX extra ON changes (user)",
    "ALTER TABLE users RENAME TO people; CREATE VIEW users AS SELECT * FROM people",
    "ALTER TABLE users ADD COLUMN extra TEXT", "DROP TABLE displaced_users",
    """
    ALTER TABLE attributes RENAME TO x;
    CREATE VIEW attributes AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i FROM r)
    SELECT i AS user_id, 'a' AS name, 1 AS value FROM r
    """,
  ])
  func `schema objects that could change what the library does are refused and not run`(_ sql: String) throws {
    try createStore()
    try alter(sql)
    #expect(codes() == [.schemaChanged, .schemaChanged, .schemaChanged])
  }

  @Test func `additional tables, views and plain indexes are accepted`() throws {
    try createStore()
    try alter(
      """
      CREATE TABLE notes (user INTEGER, text); CREATE INDEX by_name ON users (name);
      CREATE VIEW noted AS SELECT * FROM users JOIN notes ON user = id
      """)
    let store = try folder.open()
    let sets = Recorder<[String]>()
    store.listeners.bind("test", to: .everything) { sets.record($0.lines) }
    try folder.shell("BEGIN; INSERT INTO notes VALUES (1, 'x'); UPDATE users SET name = 'b'; COMMIT")
    sets.wait(for: 1)
    #expect(sets.all == [["updated 1 name 'a' 'b'"]])
  }

  @Test(arguments: [
    "DROP TRIGGER users_after_update",
    "DROP TRIGGER users_after_delete; CREATE TRIGGER users_after_delete AFTER DELETE ON users BEGIN SELECT 1; END",
  ])
  func `a missing or changed trigger is reported to readers, and repaired with a new epoch by a writer`(_ sql: String)
    throws
  {
    try createStore()
    let cursor = try folder.open().read { try $0.cursor }
    try alter(sql + "; UPDATE users SET name = 'unseen'")
    #expect(code { try folder.open { $0.access = .readOnly } } == .logIncomplete)
    let store = try folder.open()
    #expect(code { try store.page(after: cursor) } == .diverged)
    let now = try store.read { try $0.cursor }
    #expect(now.revision >= cursor.revision && now.epoch != cursor.epoch)
    try store.write { try $0.remove(User.ID(1)) }
    #expect(try store.allChanges(after: now).map(\.lines.first) == ["removed 1 name 'unseen' -"])
    #expect(try folder.open { $0.access = .readOnly }.read { try $0.count() } == 0)
  }

  @Test func `reads and writes of a damaged page throw corrupt`() throws {
    try createStore()
    var bytes = try Data(contentsOf: URL(filePath: folder.database))
    let root = try #require(Int(try folder.shell("SELECT rootpage FROM sqlite_schema WHERE name = 'users'").dropLast()))
    let start = (root - 1) * 2_048
    bytes.replaceSubrange(start..<start + 2_048, with: Data(repeating: 0xFF, count: 2_048))
    try bytes.write(to: URL(filePath: folder.database))
    let store = try folder.open()
    #expect(code { try store.read { try $0.users() } } == .corrupt)
    #expect(code { try store.write { try $0.add(name: "b") } } == .corrupt)
  }
}
