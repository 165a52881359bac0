import TestSupport
import Testing

@testable import UserStore

/// The changes that single statements of a foreign writer leave in the log.
@Suite(.bounded, .serialized) struct TriggerTests {
  private static let removal = [
    "3 1 'name' 'Ada' NULL", "3 1 'hair_color' '#112233' NULL", "3 1 'age' 36 NULL", "3 1 'tag' X'00' NULL",
  ]

  private func connectionWithAda(recursiveTriggers: Bool = false) throws -> PlainConnection {
    let connection = try PlainConnection.withTables(recursiveTriggers: recursiveTriggers)
    try connection.script(
      """
      INSERT INTO users (name, hair_color) VALUES ('Ada', '#112233');
      INSERT INTO attributes (user_id, name, value) VALUES (1, 'age', 36), (1, 'tag', X'00');
      """)
    return connection
  }

  @Test func `a new user is logged with its name and hair color`() throws {
    let connection = try PlainConnection.withTables()
    try connection.script("INSERT INTO users (name) VALUES ('Ada')")
    #expect(try connection.log() == ["1 1 'name' NULL 'Ada'", "1 1 'hair_color' NULL NULL"])
  }

  @Test(arguments: [false, true])
  func `a removal is logged for every attribute`(recursiveTriggers: Bool) throws {
    let connection = try connectionWithAda(recursiveTriggers: recursiveTriggers)
    let position = try connection.position()
    try connection.script("DELETE FROM users WHERE id = 1")
    #expect(try connection.log(after: position) == Self.removal)
  }

  @Test(arguments: [false, true])
  func `a removal by REPLACE is logged for every attribute`(recursiveTriggers: Bool) throws {
    let connection = try connectionWithAda(recursiveTriggers: recursiveTriggers)
    let position = try connection.position()
    try connection.script("REPLACE INTO users (id, name) VALUES (1, 'Bob')")
    let addition = ["1 1 'name' NULL 'Bob'", "1 1 'hair_color' NULL NULL"]
    #expect(try connection.log(after: position) == Self.removal + addition)
    #expect(try connection.value("SELECT count(*) FROM attributes") == 0)
  }

  @Test(arguments: [false, true])
  func `a replaced attribute is logged with its old value`(recursiveTriggers: Bool) throws {
    let connection = try connectionWithAda(recursiveTriggers: recursiveTriggers)
    let position = try connection.position()
    try connection.script("INSERT OR REPLACE INTO attributes (user_id, name, value) VALUES (1, 'age', 36.0)")
    let log = try connection.log(after: position)
    #expect(log == (recursiveTriggers ? ["2 1 'age' 36 NULL", "2 1 'age' NULL 36.0"] : ["2 1 'age' 36 36.0"]))
  }

  /// SQLite before 3.45.3 fills OLD with pages of another row here, or even reports that the database is malformed.
  @Test(arguments: [512, 1024, 2048, 4096], [3_000, 9_000, 40_000])
  func `an UPSERT that conflicts with its own row logs the stored values`(pageSize: Int, count: Int) throws {
    let connection = try PlainConnection.withTables(pageSize: pageSize)
    try connection.script("INSERT INTO users (name) VALUES ('Ada')")
    let position = try connection.position()
    let values = "acbc".utf8.map {
      PlainValue.text(Array(repeating: 0x50, count: pageSize) + Array(repeating: $0, count: count))
    }
    try connection.run(
      """
      INSERT INTO attributes (user_id, name, value) VALUES (1, 'a', ?), (1, 'a', ?), (1, 'b', ?), (1, 'b', ?)
      ON CONFLICT DO UPDATE SET value = excluded.value
      """, values)
    let log = try connection.run("SELECT attribute, old, new FROM changes WHERE seq > ?", [.integer(position)])
    let expected: [[PlainValue]] = [
      ["a", .null, values[0]], ["a", values[0], values[1]], ["b", .null, values[2]], ["b", values[2], values[3]],
    ]
    // Compared outside #expect, which would print megabytes.
    let isAsExpected = log == expected
    #expect(isAsExpected)
  }

  @Test func `the newest change cannot be deleted`() throws {
    let connection = try connectionWithAda()
    let position = try connection.position()
    for condition in ["seq = \(position)", "seq >= \(position - 1)", "1", "op = 2"] {
      #expect(throws: PlainError.self) { try connection.run("DELETE FROM changes WHERE \(condition)") }
    }
    #expect(throws: PlainError.self) { try connection.run("DELETE FROM changes") }
    #expect(try connection.value("SELECT count(*) FROM changes") == .integer(position))
  }

  @Test func `older changes can be deleted, and no number is reused`() throws {
    let connection = try connectionWithAda()
    let position = try connection.position()
    try connection.run("DELETE FROM changes WHERE seq < ?", [.integer(position)])
    try connection.script("UPDATE users SET name = 'Eve'")
    #expect(try connection.run("SELECT seq FROM changes") == [[.integer(position)], [.integer(position + 1)]])
  }

  @Test(arguments: ["", "OR IGNORE", "OR REPLACE", "OR FAIL", "OR ROLLBACK"])
  func `an attribute of a missing user is refused`(clause: String) throws {
    let connection = try connectionWithAda()
    let position = try connection.position()
    #expect(throws: PlainError.self) {
      try connection.run("INSERT \(clause) INTO attributes (user_id, name, value) VALUES (1, 'b', 1), (2, 'a', 1)")
    }
    #expect(try connection.position() == position)
    #expect(try connection.value("SELECT count(*) FROM attributes") == 2)
  }

  @Test func `an id is not reused after a removal`() throws {
    let connection = try connectionWithAda()
    try connection.script("DELETE FROM users; INSERT INTO users (name) VALUES ('Bob')")
    #expect(try connection.value("SELECT id FROM users") == 2)
  }

  @Test func `a value keeps its storage class`() throws {
    let connection = try connectionWithAda()
    try connection.run("UPDATE attributes SET value = '007' WHERE name = 'age'")
    #expect(try connection.value("SELECT value FROM attributes WHERE name = 'age'") == "007")
    #expect(try connection.value("SELECT new FROM changes ORDER BY seq DESC LIMIT 1") == "007")
  }

  /// SQLite computes random() once for BEFORE triggers, and again for the row.
  @Test(
    arguments: [
      "REPLACE INTO users (id, name) VALUES (abs(random() % 3) + 1, 'x')",
      "REPLACE INTO attributes (rowid, user_id, name, value) VALUES (abs(random() % 5), 2, 'c', 1)",
      "REPLACE INTO attributes (rowid, user_id, name, value) VALUES (abs(random() % 5), abs(random() % 3) + 1, char(97 + abs(random() % 3)), 1)",
      "INSERT INTO attributes (user_id, name, value) VALUES (abs(random() % 9), 'a', 1) ON CONFLICT DO UPDATE SET value = random()",
    ], [false, true])
  func `a key that SQLite computes twice is logged or refused`(statement: String, recursiveTriggers: Bool) throws {
    let connection = try connectionWithAda(recursiveTriggers: recursiveTriggers)
    try connection.script("INSERT INTO users (name, hair_color) VALUES ('Bob', '#000000'), ('Eve', NULL)")
    for name in ["a", "b", "c"] {
      try connection.script("INSERT INTO attributes (user_id, name, value) SELECT id, '\(name)', name FROM users")
    }
    var refused = 0
    for _ in 0..<60 {
      do { try connection.run(statement) } catch {
        #expect(error.message.contains("computed twice") || error.message.contains("no user has this id"))
        refused += 1
      }
      var check = LogCheck()
      try check.check(connection)
    }
    #expect(refused > 0)
  }

  /// SQLite computes all columns except the rowid only once here, and the triggers rely on that.
  @Test func `keys that SQLite computes once are accepted`() throws {
    let connection = try connectionWithAda()
    try connection.script(
      """
      REPLACE INTO users (id, name) SELECT abs(random() % 3) + 1, 'x';
      REPLACE INTO users (id, name) VALUES (abs(random() % 3) + 1, 'x'), (abs(random() % 3) + 1, 'y');
      REPLACE INTO attributes (user_id, name, value) SELECT id, char(97 + abs(random() % 3)), 1 FROM users;
      INSERT OR IGNORE INTO users (id, name) VALUES (1, 'x'), (2, 'y'), (3, 'z');
      """)
    for _ in 0..<60 {
      try connection.script(
        """
        REPLACE INTO attributes (user_id, name, value) VALUES (abs(random() % 3) + 1, char(97 + abs(random() % 3)), random() % 2)
        """)
      var check = LogCheck()
      try check.check(connection)
    }
  }

  @Test(arguments: ["INSERT", "REPLACE", "INSERT OR IGNORE"])
  func `the largest id is refused, and new users still get ids`(statement: String) throws {
    let connection = try connectionWithAda()
    let error = #expect(throws: PlainError.self) {
      try connection.run("\(statement) INTO users (id, name) VALUES (9223372036854775807, 'last')")
    }
    #expect(error?.message == "the id of a new user is at most 4611686018427387904")
    try connection.script(
      "INSERT INTO users (id, name) VALUES (4611686018427387904, 'x'); INSERT INTO users (name) VALUES ('y')")
    #expect(try connection.value("SELECT max(id) FROM users") == 4_611_686_018_427_387_905)
  }

  @Test(arguments: [
    "name = 'Eve', hair_color = '#000000'", "(hair_color, name) = ('#000000', 'Eve')",
    "(NAME, \"Hair_Color\") = (SELECT 'Eve', '#000000')",
  ])
  func `an update of both columns is logged for each column`(assignments: String) throws {
    let connection = try connectionWithAda()
    let position = try connection.position()
    try connection.script("UPDATE users SET \(assignments)")
    #expect(
      try connection.log(after: position) == ["2 1 'name' 'Ada' 'Eve'", "2 1 'hair_color' '#112233' '#000000'"])
  }

  @Test(arguments: [false, true])
  func `a displaced row does not stay in the scratch tables`(recursiveTriggers: Bool) throws {
    let connection = try connectionWithAda(recursiveTriggers: recursiveTriggers)
    try connection.script("INSERT OR REPLACE INTO attributes (user_id, name, value) VALUES (1, 'age', zeroblob(1000))")
    try connection.script("INSERT OR REPLACE INTO attributes (rowid, user_id, name, value) VALUES (2, 1, 'b', 1)")
    try connection.script("INSERT OR REPLACE INTO users (id, name) VALUES (1, 'Bob')")
    #expect(try connection.run("SELECT 1 FROM displaced_users UNION ALL SELECT 1 FROM displaced_attributes") == [])
  }
}
