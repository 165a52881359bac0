import Foundation

@testable import UserStore

/// Files that other programs or older versions wrote, and the contents of files.
extension Folder {
  /// Creates a database as the library did when its latest schema version was `version`.
  func makeOld(_ version: Int64, _ records: String = "", at file: String? = nil) throws {
    let old = Migration.all.filter { $0.number <= version }
    let rows = old.map { "INSERT INTO migrations VALUES (\($0.number), '\($0.name)', '\($0.fingerprint)');" }
    try shell(
      """
      PRAGMA journal_mode = WAL;
      \(old.map(\.sql).joined(separator: "\n"))
      \(rows.joined(separator: "\n"))
      PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = \(version);
      \(records)
      """, file)
  }

  /// Every row of the records and of the log, in SQL notation.
  func rows(_ file: String? = nil) throws -> String {
    try shell(
      """
      SELECT id, quote(name), quote(hair_color) FROM users ORDER BY id;
      SELECT rowid, user_id, quote(name), typeof(value), quote(value) FROM attributes ORDER BY rowid;
      SELECT seq, op, user, attribute, typeof(old), quote(old), typeof(new), quote(new), nonce, at
      FROM changes ORDER BY seq
      """, file)
  }

  func bytes(_ file: String? = nil) throws -> Data { try Data(contentsOf: URL(filePath: file ?? database)) }

  /// The files in the folder other than those of the test's own store.
  func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).filter { !$0.hasPrefix("users.db") }.sorted()
  }

  /// Changes a database without its triggers, so that nothing is logged, and restores the triggers.
  func withoutTriggers(_ sql: String) throws {
    try python(
      """
      db.execute('PRAGMA ignore_check_constraints = ON')
      db.execute('BEGIN IMMEDIATE')
      triggers = db.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
      for name, _ in triggers: db.execute('DROP TRIGGER ' + name)
      db.execute(\"\"\"\(sql)\"\"\")
      for _, sql in triggers: db.execute(sql)
      db.execute('COMMIT')
      """)
  }

  /// Overwrites the first page of a table.
  func damage(_ table: String, of file: String? = nil) throws {
    let root = try shell("SELECT rootpage FROM sqlite_schema WHERE name = '\(table)'; PRAGMA page_size", file)
    let numbers = root.split(separator: "\n").compactMap { UInt64($0) }
    let handle = try FileHandle(forWritingTo: URL(filePath: file ?? database))
    try handle.seek(toOffset: (numbers[0] - 1) * numbers[1])
    try handle.write(contentsOf: Data(repeating: 0xFF, count: Int(numbers[1])))
    try handle.close()
  }
}

extension Folder {
  /// The revision that the database has for a consumer, read by another connection, or nil if there is none.
  func durableRevision(of name: String = "mailer") throws -> Int64? {
    try plain().text("SELECT seq FROM consumers WHERE name = '\(name)'").flatMap { Int64($0) }
  }
}
