import Foundation
import Testing

@testable import UserStore

/// Copies of a store that lack its mark, and tables that somebody has altered.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct AdoptionTests {
  let folder: Folder
  let copy: String

  init() throws {
    folder = try Folder()
    copy = folder.path + "/copy.db"
    let store = try folder.open()
    try store.write { users in
      try users.add(name: "A", hairColor: Color("red"))
      let last = try users.add(name: "B")
      try users.set(.age, of: last, to: 41)
      try users.remove(last)
    }
    try store.addIndex(on: "age")
    store.close()
  }

  /// How a copy is made.
  enum Maker: String, CaseIterable {
    case dump, clone, python

    /// Makes a copy, and returns its path.
    func copy(of folder: Folder) throws -> String {
      let copy = folder.path + "/copy.db"
      switch self {
      case .dump: try Program.run("sh", ["-c", "sqlite3 \"$0\" .dump | sqlite3 \"$1\"", folder.database, copy])
      case .clone: try folder.shell(".clone '\(copy)'")
      case .python:
        try folder.python(
          "sqlite3.connect(path.replace('users.db', 'copy.db')).executescript('\\n'.join(db.iterdump()))")
      }
      return copy
    }
  }

  private func adopt(isKept: Bool = true) throws -> Bool {
    try UserStore.adopt(path: copy, busyTimeout: .seconds(5), isKept: isKept)
  }

  @Test(arguments: Maker.allCases)
  func `a copy is adopted with its records, and no cursor of the original is valid in it`(_ maker: Maker) throws {
    _ = try maker.copy(of: folder)
    let cursor = try folder.open().read { try $0.cursor }
    for access in [Configuration.Access.createIfMissing, .readWrite, .readOnly] {
      var configuration = Configuration()
      configuration.access = access
      let error = #expect(throws: StoreError.self) { try UserStore(path: copy, configuration: configuration) }
      #expect(error?.code == .needsAdoption && error?.hint?.contains("usertool init --adopt") == true)
    }
    #expect(try adopt(isKept: false))
    #expect(code { try UserStore(path: copy) } == .needsAdoption, "nothing was changed")
    #expect(try adopt())
    #expect(try !adopt(), "it is a store now")
    let store = try UserStore(path: copy)
    #expect(try store.read { try $0.users().map { try $0.name } } == ["A"])
    #expect(code { try store.page(after: cursor) } == .diverged)
    #expect(try store.page(after: store.read { try $0.cursor }).isEmpty)
    #expect(try store.check().filter { $0.severity == .problem }.isEmpty)
    // The id of the removed user is not assigned again.
    #expect(try store.write { try $0.add(name: "C") } == User.ID(3))
    store.close()
    #expect(try folder.rows(copy) != folder.rows())
  }

  @Test func `the ids of removed users are kept also if the copy has lost them`() throws {
    _ = try Maker.dump.copy(of: folder)
    try folder.shell("DELETE FROM sqlite_sequence", copy)
    #expect(try adopt())
    #expect(try UserStore(path: copy).write { try $0.add(name: "C") } == User.ID(3))
  }

  @Test func `the copy of an older layout is adopted and then migrated`() throws {
    for version in Migration.oldest..<Migration.latest {
      let old = folder.path + "/old\(version).db"
      try folder.makeOld(version, "INSERT INTO users (name) VALUES ('old')", at: old)
      try folder.shell("PRAGMA user_version = 0; PRAGMA application_id = 0", old)
      #expect(try UserStore.adopt(path: old, busyTimeout: .seconds(5), isKept: true))
      #expect(try folder.shell("PRAGMA user_version", old) == "\(version)\n")
      #expect(try UserStore(path: old).read { try $0.users().map { try $0.name } } == ["old"])
    }
  }

  @Test(arguments: [
    "DROP TRIGGER users_after_update", "ALTER TABLE users ADD COLUMN extra TEXT",
    "UPDATE migrations SET fingerprint = 'x'",
    "CREATE TRIGGER extra AFTER INSERT ON users BEGIN SELECT 1; END", "CREATE VIEW pragma_extra AS SELECT 1",
  ])
  func `a copy whose tables or triggers are not ours is not adopted, and stays as it is`(_ sql: String) throws {
    _ = try Maker.dump.copy(of: folder)
    try folder.shell(sql, copy)
    let bytes = try folder.bytes(copy)
    #expect(code { try adopt() } == .schemaChanged)
    #expect(try folder.bytes(copy) == bytes)
    #expect(code { try UserStore(path: copy) } == .needsAdoption)
  }

  @Test func `what is no copy is not adopted`() throws {
    #expect(code { try adopt() } == .notFound)
    try folder.shell("CREATE TABLE users (id INTEGER PRIMARY KEY)", copy)
    #expect(code { try adopt() } == .notAUserStore)
    #expect(try !UserStore.adopt(path: folder.database, busyTimeout: .seconds(5), isKept: true))
    let store = try folder.open()
    #expect(try store.allChanges().isEmpty == false, "its log goes on")
  }

  private func message(after sql: String) throws -> String {
    try folder.shell(sql)
    let error = #expect(throws: StoreError.self) { try folder.open() }
    #expect(error?.code == .schemaChanged)
    return error?.message ?? ""
  }

  @Test(arguments: ["users", "attributes", "changes", "meta", "consumers"])
  func `the message about a column that was added has the statement that removes it`(_ table: String) throws {
    let text = try message(
      after: "ALTER TABLE \(table) ADD COLUMN \"e \"\"mail\" TEXT; ALTER TABLE \(table) ADD COLUMN b INTEGER")
    #expect(text.contains("“\(table)” has a column that is not this library's"), "\(text)")
    let statements = try #require(text.range(of: "remove it with ").map { String(text[$0.upperBound...]) })
    try folder.shell(statements)
    #expect(try folder.open().read { try $0.users().count } == 1)
  }

  @Test(arguments: [
    ("CREATE VIEW \"pragma_my view\" AS SELECT * FROM users", "a view"),
    ("CREATE UNIQUE INDEX one ON users (name)", "an index"),
    ("CREATE TRIGGER extra AFTER INSERT ON users BEGIN SELECT 1; END", "a trigger"),
  ])
  func `the message about another object has the statement that removes it`(_ sql: String, _ kind: String) throws {
    let text = try message(after: sql)
    let statement = try #require(text.range(of: "remove it with ").map { String(text[$0.upperBound...]) })
    try folder.shell(statement)
    try folder.open().close()
  }

  @Test(arguments: [
    ("ALTER TABLE users RENAME TO people", "“users” is missing: it was removed or renamed; restore a backup"),
    ("ALTER TABLE attributes RENAME COLUMN value TO v", "“attributes” was changed; restore a backup"),
    ("DROP TABLE consumers", "“consumers” is missing"),
  ])
  func `the message about a table that was renamed, changed or removed says so`(_ sql: String, _ words: String) throws {
    #expect(try message(after: sql).contains(words))
  }
}
