import CUserStoreSQLite

/// Changes with SQL, by a program that turns off the constraints and triggers that would refuse them.
enum Statements {
  static func run(on image: inout Image, _ generator: inout Generator) {
    let sql = all.randomElement(using: &generator)!.replacing("$value", with: values.randomElement(using: &generator)!)
      .replacing("$name", with: names.randomElement(using: &generator)!)
    if let changed = changed(image.database, by: sql) { image.database = changed }
  }

  private static let values = [
    "NULL", "0", "-1", "1", "9223372036854775807", "-9223372036854775808", "1.5", "9e999", "x'ff'",
    "CAST(x'ff41' AS TEXT)", "''",
    "'a' || char(0) || 'b'", "zeroblob(5000)", "random()", "hex(randomblob(700))", "'#A0b1C2'", "char(27) || '[2J'",
  ]

  private static let names = ["'age'", "'name'", "'id'", "CAST(x'c3' AS TEXT)", "''", "'hair_color'"]

  /// The statements.
  ///
  /// Constraints and triggers are off, and the schema is writable.
  private static let all = [
    "UPDATE changes SET op = $value WHERE seq = (SELECT seq FROM changes ORDER BY random() LIMIT 1)",
    "UPDATE changes SET user = $value WHERE seq = (SELECT seq FROM changes ORDER BY random() LIMIT 1)",
    "UPDATE changes SET attribute = $name WHERE seq = (SELECT seq FROM changes ORDER BY random() LIMIT 1)",
    "UPDATE changes SET old = $value, new = $value WHERE seq = (SELECT seq FROM changes ORDER BY random() LIMIT 1)",
    "UPDATE changes SET nonce = $value WHERE seq = (SELECT seq FROM changes ORDER BY random() LIMIT 1)",
    "UPDATE changes SET at = $value WHERE seq = (SELECT seq FROM changes ORDER BY random() LIMIT 1)",
    "UPDATE OR REPLACE changes SET seq = $value WHERE seq = (SELECT seq FROM changes ORDER BY random() LIMIT 1)",
    "UPDATE changes SET seq = 9223372036854775807 WHERE seq = (SELECT max(seq) FROM changes)",
    "DELETE FROM changes WHERE seq = (SELECT seq FROM changes ORDER BY random() LIMIT 1)",
    "DELETE FROM changes", "DELETE FROM meta", "DELETE FROM sqlite_sequence", "DELETE FROM users",
    "DELETE FROM migrations",
    "UPDATE meta SET epoch = $value", "UPDATE meta SET horizon = $value", "UPDATE meta SET horizon_nonce = $value",
    "UPDATE meta SET measured = $value", "UPDATE meta SET bytes = $value", "UPDATE meta SET searched = $value",
    "UPDATE meta SET sized = $value", "UPDATE meta SET size = $value", "UPDATE meta SET id = $value",
    "UPDATE users SET id = $value WHERE id = (SELECT id FROM users ORDER BY random() LIMIT 1)",
    "UPDATE users SET name = $value", "UPDATE users SET hair_color = $value", "UPDATE attributes SET value = $value",
    "UPDATE attributes SET name = $name WHERE rowid = (SELECT rowid FROM attributes ORDER BY random() LIMIT 1)",
    "UPDATE attributes SET user_id = $value WHERE rowid = (SELECT rowid FROM attributes ORDER BY random() LIMIT 1)",
    "UPDATE sqlite_sequence SET seq = $value", "INSERT INTO sqlite_sequence VALUES ('users', $value)",
    "INSERT INTO displaced_users VALUES (1, $value, $value, $value)",
    "INSERT INTO displaced_attributes VALUES (1, 1, 'age', $value, 1, 'tag', $value, NULL)",
    "UPDATE consumers SET seq = $value", "UPDATE consumers SET epoch = $value", "UPDATE consumers SET name = $name",
    "UPDATE consumers SET at = $value", "UPDATE consumers SET holder = $value",
    "UPDATE migrations SET number = $value", "UPDATE migrations SET fingerprint = $value",
    "UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '') WHERE type = 'table'",
    "UPDATE sqlite_schema SET sql = $value WHERE name = (SELECT name FROM sqlite_schema ORDER BY random() LIMIT 1)",
    "UPDATE sqlite_schema SET name = $name WHERE name = (SELECT name FROM sqlite_schema ORDER BY random() LIMIT 1)",
    "UPDATE sqlite_schema SET tbl_name = 'users' WHERE name = (SELECT name FROM sqlite_schema ORDER BY random() LIMIT 1)",
    "UPDATE sqlite_schema SET type = 'view' WHERE name = (SELECT name FROM sqlite_schema ORDER BY random() LIMIT 1)",
    "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE type = 'table' ORDER BY random() LIMIT 1) WHERE name = (SELECT name FROM sqlite_schema WHERE rootpage > 0 ORDER BY random() LIMIT 1)",
    "DELETE FROM sqlite_schema WHERE name = (SELECT name FROM sqlite_schema ORDER BY random() LIMIT 1)",
    "INSERT INTO sqlite_schema VALUES ('view', 'v', 'v', 0, 'CREATE VIEW v AS WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT 1 FROM r) SELECT * FROM r')",
    "INSERT INTO sqlite_schema VALUES ('trigger', 't', 'users', 0, 'CREATE TRIGGER t AFTER INSERT ON users BEGIN DELETE FROM changes; END')",
    "CREATE TABLE other (x, y AS (length(x)))", "CREATE INDEX users_name ON users (name)",
    "CREATE INDEX \"userstore_index_age\" ON attributes (value, user_id, name) WHERE name = 'age'",
    "CREATE UNIQUE INDEX users_one ON users (name)", "CREATE INDEX a_expression ON attributes (length(value))",
    "PRAGMA user_version = 2", "PRAGMA user_version = 1", "PRAGMA application_id = 0", "VACUUM",
    "PRAGMA auto_vacuum = 1; VACUUM",
    "PRAGMA page_size = 1024; VACUUM", "CREATE TABLE big (x); INSERT INTO big VALUES (zeroblob(20000))",
    "CREATE VIRTUAL TABLE ft USING fts5(x)", "CREATE TABLE sqlite_stat1 (tbl, idx, stat)", "ANALYZE",
  ]

  /// The image after a statement, which is run in memory.
  private static func changed(_ image: [UInt8], by sql: String) -> [UInt8]? {
    guard image.count >= 512 else { return nil }
    var handle: OpaquePointer?
    defer { sqlite3_close_v2(handle) }
    guard sqlite3_open(":memory:", &handle) == SQLITE_OK else { return nil }
    let size = sqlite3_int64(image.count)
    guard let copy = sqlite3_malloc64(sqlite3_uint64(image.count)) else { return nil }
    image.withUnsafeBytes { copy.copyMemory(from: $0.baseAddress!, byteCount: image.count) }
    let bytes = copy.assumingMemoryBound(to: UInt8.self)
    // A database in memory has no WAL.
    let modes = (bytes[18], bytes[19])
    (bytes[18], bytes[19]) = (1, 1)
    let flags = UInt32(SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE)
    guard sqlite3_deserialize(handle, "main", bytes, size, size, flags) == SQLITE_OK else { return nil }
    return run(sql, on: handle, modes: modes)
  }

  private static func run(_ sql: String, on handle: OpaquePointer?, modes: (UInt8, UInt8)) -> [UInt8]? {
    // Ends statements that would run forever.
    var steps: Int32 = 0
    sqlite3_progress_handler(
      handle, 10_000,
      { steps in
        let steps = steps!.assumingMemoryBound(to: Int32.self)
        steps.pointee += 1
        return steps.pointee > 100 ? 1 : 0
      }, &steps)
    let setup = "PRAGMA writable_schema = ON; PRAGMA ignore_check_constraints = ON; PRAGMA recursive_triggers = OFF"
    sqlite3_exec(handle, setup, nil, nil, nil)
    _ = userstore_db_config_flag(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    sqlite3_exec(handle, sql, nil, nil, nil)
    sqlite3_progress_handler(handle, 0, nil, nil)
    var size: sqlite3_int64 = 0
    guard let bytes = sqlite3_serialize(handle, "main", &size, 0), size >= 100 else { return nil }
    defer { sqlite3_free(bytes) }
    (bytes[18], bytes[19]) = modes
    return Array(UnsafeBufferPointer(start: bytes, count: Int(size)))
  }
}
