import CUserStoreSQLite
import Foundation
import TestSupport
import Testing

@testable import UserStore

/// `check` finds and names what is wrong with a store, and reports nothing else.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct CheckTests {
  let folder: Folder

  /// Creates and closes a store with two users, written by the library and by other programs.
  init() throws {
    folder = try Folder()
    let store = try folder.open()
    let zoe = try store.write { try $0.add(name: "Zoë", hairColor: Color("auburn")) }
    try store.write { try $0.set(Attribute<Int>("age"), of: zoe, to: 41) }
    try folder.shell("INSERT INTO users (name) VALUES ('NIX'); UPDATE attributes SET value = 41.0")
    try store.write { try $0.rename(zoe, to: "Zoe") }
    store.close()
  }

  private func found() throws -> [Finding] {
    try UserStore.check(path: folder.database)
  }

  private func kinds() throws -> [String] { try found().map { "\($0.severity) \($0.kind.rawValue)" } }

  @Test func `a sound store has no findings, whether open, closed, read-only, compacted or in memory`() throws {
    #expect(try found() == [])
    let store = try folder.open()
    #expect(try store.check() == [])
    #expect(try folder.open { $0.access = .readOnly }.check() == [])
    try folder.shell(
      """
      BEGIN; UPDATE meta SET horizon_nonce = (SELECT nonce FROM changes WHERE seq = 5), horizon = 5;
      DELETE FROM changes WHERE seq <= 5; COMMIT
      """)
    #expect(try store.check() == [])
    let memory = try UserStore.inMemory()
    try memory.write { try $0.add(name: "NIX") }
    #expect(try memory.check() == [])
  }

  @Test func `random statements of a foreign writer leave the log consistent`() throws {
    let connection = try PlainConnection(folder.database)
    let function = VaryingFunction(on: connection)
    defer { withExtendedLifetime(function) {} }
    var generator = StepGenerator(seed: Seed.base)
    for _ in 0..<400 { _ = connection.error(of: generator.next()) }
    _ = try? connection.run("COMMIT")
    let expected: Set<Finding.Kind> = [.value, .scratch]
    #expect(try found().filter { !expected.contains($0.kind) } == [], "USERSTORE_SEED=\(Seed.base)")
  }

  struct Sabotage: CustomTestStringConvertible {
    let sql: String
    let findings: [String]
    var user: Int64?
    var attribute: AttributeName?
    var testDescription: String { sql }
  }

  @Test(arguments: [
    // Records that were changed without the log.
    Sabotage(sql: "UPDATE users SET name = 'x' WHERE id = 2", findings: ["problem log"], user: 2, attribute: "name"),
    Sabotage(sql: "UPDATE attributes SET value = 41", findings: ["problem log"], user: 1, attribute: "age"),
    Sabotage(sql: "DELETE FROM attributes", findings: ["problem log"], user: 1, attribute: "age"),
    Sabotage(sql: "INSERT INTO attributes VALUES (2, 'x', 1)", findings: ["problem log"], user: 2, attribute: "x"),
    Sabotage(sql: "INSERT INTO users VALUES (7, 'x', NULL)", findings: ["problem log"], user: 7, attribute: "name"),
    Sabotage(sql: "DELETE FROM users WHERE id = 2", findings: ["problem log"], user: 2, attribute: "name"),
    Sabotage(
      sql: "INSERT INTO attributes VALUES (9, 'x', 1)", findings: ["problem log", "problem orphan"], user: 9,
      attribute: "x"),
    Sabotage(
      sql: "INSERT INTO attributes VALUES (2, 'name', 'x')", findings: ["problem integrity", "problem value"], user: 2,
      attribute: "name"),
    // The log.
    Sabotage(sql: "DELETE FROM changes WHERE seq = 5", findings: ["problem log"]),
    Sabotage(sql: "DELETE FROM changes WHERE seq = 1", findings: ["problem log"]),
    Sabotage(sql: "UPDATE changes SET nonce = NULL WHERE seq = 4", findings: ["problem log"]),
    Sabotage(sql: "UPDATE changes SET op = 10 WHERE seq = 3", findings: ["problem log"]),
    Sabotage(sql: "UPDATE changes SET old = 99 WHERE seq = 3", findings: ["problem log"]),
    Sabotage(sql: "UPDATE meta SET horizon = 99", findings: ["problem log"]),
    Sabotage(sql: "DELETE FROM meta", findings: ["problem log"]),
    Sabotage(sql: "INSERT INTO displaced_users VALUES (1, 'x', NULL, 0)", findings: ["warning scratch"]),
    // A wrong value that a later change hides.
    Sabotage(
      sql: "UPDATE changes SET new = 40 WHERE attribute = 'age' AND old IS NULL", findings: ["problem log"], user: 1,
      attribute: "age"),
    // The largest id, which older versions accepted.
    Sabotage(
      sql: "UPDATE sqlite_sequence SET seq = 9223372036854775807", findings: ["problem value"]),
    // The schema.
    Sabotage(sql: "CREATE VIEW pragma_extra AS SELECT 1", findings: ["problem schema"]),
    Sabotage(sql: "DROP TABLE consumers", findings: ["problem schema"]),
    Sabotage(sql: "DELETE FROM migrations WHERE number = 6", findings: ["problem schema"]),
  ])
  func `check finds each sabotage`(_ sabotage: Sabotage) throws {
    try folder.withoutTriggers(sabotage.sql)
    let found = try found()
    #expect(found.map { "\($0.severity) \($0.kind.rawValue)" } == sabotage.findings, "\(found)")
    // SQLite's integrity check names no user.
    let named = found.first { $0.kind != .integrity }
    #expect(named?.user?.rawValue == sabotage.user && named?.attribute == sabotage.attribute, "\(found)")
  }

  @Test func `a log that has no rows begins after none`() throws {
    try folder.withoutTriggers("DELETE FROM users")
    try folder.withoutTriggers("DELETE FROM attributes")
    try folder.withoutTriggers("DELETE FROM changes")
    #expect(try found() == [])
    try folder.withoutTriggers("UPDATE meta SET horizon = 1")
    #expect(try kinds() == ["problem log"])
  }

  /// How a connection bypasses the triggers and leaves no trace in the file; the article “Guarantees” does not promise to log this.
  enum Evasion: String, CaseIterable {
    case triggersOff, blobWrite, temporaryTrigger, function, checkConstraints
  }

  @Test(arguments: Evasion.allCases)
  func `check finds changes by a connection that bypasses or alters the triggers`(_ evasion: Evasion) throws {
    let connection = try PlainConnection(folder.database)
    switch evasion {
    case .triggersOff:
      let code = unsafe connection.withHandle { handle in
        unsafe userstore_db_config_flag(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
      }
      #expect(code == SQLITE_OK)
      try connection.run("UPDATE users SET name = 'unseen' WHERE id = 1")
    case .blobWrite:
      let code = unsafe connection.withHandle { handle in
        var blob: OpaquePointer?
        let code = unsafe sqlite3_blob_open(handle, "main", "users", "name", 1, 1, &blob)
        return unsafe code != SQLITE_OK ? code : max(sqlite3_blob_write(blob, "X", 1, 0), sqlite3_blob_close(blob))
      }
      #expect(code == SQLITE_OK)
    case .temporaryTrigger:
      // The update is logged before the insert.
      try connection.run(
        """
        CREATE TEMP TRIGGER again AFTER INSERT ON main.users
        BEGIN UPDATE users SET name = 'again' WHERE id = NEW.id; END
        """)
      try connection.run("INSERT INTO users (name) VALUES ('x')")
    case .function:
      // With this function 41.0 and 41 are equal.
      let code = unsafe connection.withHandle { handle in
        unsafe sqlite3_create_function_v2(
          handle, "typeof", 1, SQLITE_UTF8, nil, { call, _, _ in unsafe sqlite3_result_int(call, 1) }, nil, nil, nil)
      }
      #expect(code == SQLITE_OK)
      try connection.run("REPLACE INTO attributes (user_id, name, value) VALUES (1, 'age', 41)")
    case .checkConstraints:
      try connection.script(
        "PRAGMA ignore_check_constraints = ON; INSERT INTO attributes VALUES (1, 'hair_color', 'mauve')")
    }
    let found = try found()
    let kind: Finding.Kind = evasion == .checkConstraints ? .value : .log
    #expect(found.contains { $0.severity == .problem && $0.kind == kind && $0.user != nil }, "\(evasion): \(found)")
  }

  @Test func `a missing trigger is named, and its repair starts a log that can be checked`() throws {
    try folder.shell("DROP TRIGGER users_after_update; UPDATE users SET name = 'unseen'")
    #expect(try found().map(\.message).map { $0.contains("users_after_update") } == [true])
    let before = try folder.shell("SELECT epoch FROM meta")
    try folder.open().close()
    #expect(try found() == [])
    #expect(try folder.shell("SELECT epoch FROM meta") != before)
    try folder.withoutTriggers("UPDATE users SET hair_color = '#000000'")
    #expect(try found() == [], "changes from before the start of the log cannot be checked")
  }

  @Test func `the first twenty undecodable values are named by user and attribute`() throws {
    try folder.shell(
      "UPDATE users SET hair_color = 'mauve' WHERE id = 1; UPDATE users SET name = CAST(x'FF' AS TEXT) WHERE id = 2")
    try folder.shell("INSERT INTO attributes VALUES (2, 'note', CAST(x'41C3' AS TEXT)), (2, 'fine', x'FF')")
    let values = try found()
    #expect(
      Set(values.map { "\($0.user?.rawValue ?? 0) \($0.attribute ?? "")" }) == ["1 hair_color", "2 name", "2 note"])
    #expect(values.allSatisfy { $0.kind == .value && $0.severity == .problem })
    try folder.python(
      "db.executescript('BEGIN;' + \"INSERT INTO users (name, hair_color) VALUES ('x', 'mauve');\" * 50 + 'COMMIT')")
    let many = try found()
    #expect(many.count == 21)
    #expect(many.last?.message == "and 33 more of this kind")
  }

  @Test func `damage is found, and unreadable pages do not stop the check`() throws {
    try folder.damage("attributes")
    let damaged = try found()
    #expect(!damaged.isEmpty && damaged.contains { $0.kind == .integrity && $0.severity == .problem }, "\(damaged)")
  }

  @Test func `expressions of additional tables are not run, and the library's tables are checked`()
    throws
  {
    let column = "n AS (1) CHECK (length(replace(hex(zeroblob(400000000)), '0', '1')) < 0)"
    try folder.shell(
      "CREATE TABLE notes (x, \(column)); PRAGMA ignore_check_constraints = ON; INSERT INTO notes VALUES (1)")
    try folder.python(
      "db.create_function('mine', 1, lambda x: x, deterministic=True); db.execute('CREATE INDEX other ON notes (mine(x))')"
    )
    #expect(try found() == [])
    let copy = folder.path + "/copy.db"
    let store = try folder.open { $0.watchesOtherProcesses = false }
    try store.backup(to: copy)
    try store.restore(from: copy)
    // Pages in the -wal file would hide the damage.
    store.close()
    try folder.damage("attributes")
    #expect(try found().contains { $0.kind == .integrity })
  }

  @Test func `permissions that are too wide are a warning`() throws {
    let manager = FileManager.default
    func set(_ mode: Int, _ path: String) throws {
      try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }
    try set(0o640, folder.database)
    #expect(try Set(kinds()) == ["warning permissions"])
    try set(0o600, folder.database)
    for (mode, isTooWide) in [(0o777, true), (0o770, true), (0o1777, false), (0o755, false), (0o700, false)] {
      try set(mode, folder.path)
      #expect(try kinds() == (isTooWide ? ["warning permissions"] : []))
    }
  }

  @Test
  func `an open read is named once it holds back more pages than a checkpoint waits for`()
    throws
  {
    let store = try folder.open { $0.watchesOtherProcesses = false }
    let id = try store.write { try $0.add(name: "a") }
    func write() throws {
      for _ in 0..<3 {
        try store.write {
          try $0.set(Attribute<[UInt8]>("photo"), of: id, to: Array(repeating: .random(in: 0...255), count: 1 << 21))
        }
      }
    }
    try write()
    #expect(try found() == [], "the -wal file is long, but was copied")
    let reader = try PlainConnection(folder.database)
    try reader.script("BEGIN; SELECT count(*) FROM users")
    #expect(try found() == [])
    try write()
    #expect(try kinds() == ["warning reader"])
    #expect(try store.check().filter { $0.kind != .library }.map(\.kind) == [.reader])
    try reader.script("COMMIT")
    try write()
    #expect(try kinds() == [])
  }

  @Test(arguments: [
    (3_006_023, false), (3_007_000, true), (3_040_001, true), (3_051_002, true), (3_051_003, false),
  ])
  func `SQLite versions that can damage a WAL database are a warning`(_ version: Int, _ isWarned: Bool) {
    var check = StoreCheck()
    check.checkLibrary(version: version)
    #expect(check.findings.map(\.kind) == (isWarned ? [.library] : []))
    check = StoreCheck()
    check.checkLibrary()
    #expect(UserStore.checkLibrary() == check.findings)
  }

  @Test func `an older schema version is a warning, and is checked as well`() throws {
    let old = try Folder()
    try old.makeOld(Migration.oldest, "INSERT INTO users (name) VALUES ('a')")
    let findings = try UserStore.check(path: old.database).filter { $0.kind != .permissions }
    #expect(findings.map(\.kind) == [.schema] && findings.map(\.severity) == [.warning])
    try old.withoutTriggers("UPDATE users SET name = 'b'")
    #expect(try UserStore.check(path: old.database).contains { $0.kind == .log })
  }

  @Test func `a file that is not a store is an error, not a finding`() throws {
    #expect(code { try UserStore.check(path: folder.path + "/nowhere.db") } == .notFound)
    try folder.shell("PRAGMA application_id = 7")
    #expect(code { try UserStore.check(path: folder.database) } == .notAUserStore)
    let text = try folder.file("text", holding: String(repeating: "no database ", count: 99))
    #expect(code { try UserStore.check(path: text) } == .notADatabase)
  }

  @Test func `a check does not change the file`() throws {
    let before = try folder.bytes()
    _ = try found()
    #expect(try folder.bytes() == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["users.db"])
  }

  @Test func `a check copies a -wal file that a crash left into the database`() throws {
    _ = try? folder.python("db.execute(\"UPDATE users SET name = 'wal'\"); os.kill(os.getpid(), signal.SIGKILL)")
    #expect(try folder.bytes(folder.database + "-wal").count > 0)
    _ = try found()
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["users.db"])
    #expect(try folder.shell("SELECT DISTINCT name FROM users").hasPrefix("wal"))
  }
}
