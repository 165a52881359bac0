import Foundation
import Testing

@testable import UserStore

/// Files that are not, or not quite, a store.
@Suite(.timeLimit(.minutes(5))) struct BadFileTests {
  let folder: Folder

  init() throws {
    folder = try Folder()
  }

  private static let all: [Configuration.Access] = [.createIfMissing, .readWrite, .readOnly]

  private func codes() -> [StoreError.Code?] {
    Self.all.map { access in code { try folder.open { $0.access = access } } }
  }

  /// Makes a store with a user, and closes it.
  private func make() throws {
    let store = try folder.open()
    try store.write { try $0.add(name: "a", hairColor: Color("red")) }
    store.close()
  }

  private func alter(_ sql: String) throws {
    try folder.python("db.execute('PRAGMA writable_schema = ON')\n" + "db.executescript(\"\"\"\(sql)\"\"\")")
  }

  @Test func `what is no database is refused, and left as it is`() throws {
    let bytes = Data(
      "this is no database, and longer than a header of one hundred bytes has to be, so that it is read".utf8)
    try bytes.write(to: URL(filePath: folder.database))
    #expect(codes() == [.notADatabase, .notADatabase, .notADatabase])
    #expect(try Data(contentsOf: URL(filePath: folder.database)) == bytes)
  }

  @Test func `a database of another program is refused, and left as it is`() throws {
    try folder.shell("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)")
    let bytes = try Data(contentsOf: URL(filePath: folder.database))
    #expect(codes() == [.notAUserStore, .notAUserStore, .notAUserStore])
    try folder.shell("PRAGMA application_id = 7")
    #expect(codes() == [.notAUserStore, .notAUserStore, .notAUserStore])
    #expect(try Data(contentsOf: URL(filePath: folder.database)).count == bytes.count)
    #expect(try folder.shell("PRAGMA journal_mode") == "delete\n")
  }

  @Test(arguments: [99, 100, 1_000, 2_047, 2_048, 5_000])
  func `a truncated file is refused or found damaged, and never crashes`(_ length: Int) throws {
    try make()
    let whole = try Data(contentsOf: URL(filePath: folder.database))
    try whole.prefix(length).write(to: URL(filePath: folder.database))
    for access in Self.all {
      do {
        let store = try folder.open { $0.access = access }
        _ = try store.read { try $0.users() }
        Issue.record("nothing was noticed at \(length)")
      } catch {
        #expect(
          [.notADatabase, .corrupt, .schemaChanged].contains((error as? StoreError)?.code), "\(length): \(error)")
      }
    }
  }

  @Test func `a file of a format that SQLite does not know is refused, and left as it is`() throws {
    try make()
    var bytes = try folder.bytes()
    // The schema format number (sqlite.org/fileformat2.html#the_database_header): 1 to 4.
    bytes[47] = 9
    try bytes.write(to: URL(filePath: folder.database))
    #expect(codes() == [.notADatabase, .notADatabase, .notADatabase])
    #expect(try folder.bytes() == bytes)
  }

  @Test func `a newer schema is refused`() throws {
    try make()
    try alter("PRAGMA user_version = 99")
    #expect(codes() == [.schemaTooNew, .schemaTooNew, .schemaTooNew])
  }

  @Test(arguments: [
    "UPDATE migrations SET fingerprint = 'x'", "DELETE FROM migrations",
    "INSERT INTO migrations VALUES (7, 'seven', 'x')", "DROP TABLE migrations",
  ])
  func `migrations that were edited, left out, or nobody knows are refused`(_ sql: String) throws {
    try make()
    try alter(sql)
    #expect(codes() == [.schemaChanged, .schemaChanged, .schemaChanged])
  }

  @Test(arguments: [
    "CREATE TRIGGER extra AFTER INSERT ON users BEGIN SELECT 1; END",
    "CREATE TRIGGER extra AFTER UPDATE ON changes BEGIN DELETE FROM users; END",
    "CREATE VIEW extra AS SELECT * FROM users", "CREATE UNIQUE INDEX extra ON users (name)",
    "CREATE INDEX extra ON changes (user)",
    "ALTER TABLE users RENAME TO people; CREATE VIEW users AS SELECT * FROM people",
    "ALTER TABLE users ADD COLUMN extra TEXT", "DROP TABLE displaced_users",
    """
    ALTER TABLE attributes RENAME TO x;
    CREATE VIEW attributes AS WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i FROM r)
    SELECT i AS user_id, 'a' AS name, 1 AS value FROM r
    """,
  ])
  func `what is not ours and could change what ours does is refused, and not run`(_ sql: String) throws {
    try make()
    try alter(sql)
    #expect(codes() == [.schemaChanged, .schemaChanged, .schemaChanged])
  }

  @Test func `further tables, with triggers' own names unused, and plain indexes are let be`() throws {
    try make()
    try alter("CREATE TABLE notes (user INTEGER, text); CREATE INDEX by_name ON users (name)")
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
  func `a missing or changed trigger is reported to who reads, and mended with a new epoch by who writes`(_ sql: String)
    throws
  {
    try make()
    let cursor = try folder.open().read { try $0.cursor }
    try alter(sql + "; UPDATE users SET name = 'unseen'")
    #expect(code { try folder.open { $0.access = .readOnly } } == .logIncomplete)
    let store = try folder.open()
    #expect(code { try store.pastChanges(after: cursor) } == .diverged)
    let now = try store.read { try $0.cursor }
    #expect(now.revision >= cursor.revision && now.epoch != cursor.epoch)
    try store.write { try $0.remove(User.ID(1)) }
    #expect(try store.allChanges(after: now).map(\.lines.first) == ["removed 1 name 'unseen' -"])
    #expect(try folder.open { $0.access = .readOnly }.read { try $0.userCount } == 0)
  }

  @Test func `a damaged page is found when it is read, and the store says so`() throws {
    try make()
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
