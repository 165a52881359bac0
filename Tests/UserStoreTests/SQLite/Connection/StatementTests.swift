import CUserStoreSQLite
import Testing

@testable import UserStore

/// Values are stored and read without loss, and a failed statement can be used again.
@Suite(.bounded, .serialized) struct StatementTests {
  private static let insert = SQL("INSERT INTO t (id, value) VALUES (?, ?)")
  private static let select = SQL("SELECT value FROM t WHERE id = ?")
  private static let selectStored = SQL("SELECT typeof(value), length(CAST(value AS BLOB)) FROM t WHERE id = ?")

  struct Sample: CustomTestStringConvertible {
    let testDescription: String
    let value: StoredValue
    let type: String
    /// In bytes, for text and blobs.
    var length: Int?
  }

  static let samples = [
    Sample(testDescription: "null", value: .null, type: "null"),
    Sample(testDescription: "zero", value: .integer(0), type: "integer"),
    Sample(testDescription: "2^63 - 1", value: .integer(.max), type: "integer"),
    Sample(testDescription: "-2^63", value: .integer(.min), type: "integer"),
    Sample(testDescription: "a whole real", value: .real(1), type: "real"),
    Sample(testDescription: "the smallest real", value: .real(.leastNonzeroMagnitude), type: "real"),
    Sample(testDescription: "the largest real", value: .real(.greatestFiniteMagnitude), type: "real"),
    Sample(testDescription: "infinity", value: .real(.infinity), type: "real"),
    Sample(testDescription: "-infinity", value: .real(-.infinity), type: "real"),
    Sample(testDescription: "text", value: .text("Zoë 👩🏽‍🦰"), type: "text", length: 20),
    Sample(testDescription: "text that looks like a number", value: .text("007"), type: "text", length: 3),
    Sample(testDescription: "empty text", value: .text(""), type: "text", length: 0),
    Sample(testDescription: "text that contains a NUL", value: .text("a\0b"), type: "text", length: 3),
    Sample(testDescription: "text that ends with a NUL", value: .text("a\0"), type: "text", length: 2),
    Sample(testDescription: "a single NUL", value: .text("\0"), type: "text", length: 1),
    Sample(testDescription: "composed text", value: .text("\u{E9}"), type: "text", length: 2),
    Sample(testDescription: "decomposed text", value: .text("e\u{301}"), type: "text", length: 3),
    Sample(testDescription: "a byte order mark", value: .text("\u{FEFF}a"), type: "text", length: 4),
    Sample(testDescription: "a blob", value: .blob([0, 1, 0xFF]), type: "blob", length: 3),
    Sample(testDescription: "an empty blob", value: .blob([]), type: "blob", length: 0),
    Sample(
      testDescription: "a blob of 1 MB", value: .blob((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0) }),
      type: "blob", length: 1_000_000),
    Sample(
      testDescription: "text of 1 MB", value: .text(String(repeating: "é", count: 500_000)), type: "text",
      length: 1_000_000),
    Sample(testDescription: "text that is not UTF-8", value: .invalidText([0x61, 0xFF]), type: "text", length: 2),
    Sample(testDescription: "half a character", value: .invalidText([0xE2, 0x82]), type: "text", length: 2),
    Sample(
      testDescription: "a surrogate followed by a NUL", value: .invalidText([0xED, 0xA0, 0x80, 0]), type: "text",
      length: 4),
  ]

  @Test(arguments: samples)
  func `a value is read as it was stored`(sample: Sample) throws {
    let connection = try Connection.withTable()
    try connection.run(Self.insert, .integer(1), sample.value)
    #expect(try connection.first(Self.select, .integer(1)) { $0.value(0) } == sample.value)
    #expect(try connection.first(Self.select, .integer(1)) { $0.isNull(0) } == sample.value.isNull)
    #expect(try connection.first(Self.selectStored, .integer(1)) { $0.text(0) } == sample.type)
    guard let length = sample.length else { return }
    #expect(try connection.first(Self.selectStored, .integer(1)) { $0.integer(1) } == Int64(length))
  }

  @Test func `NaN is stored as null`() throws {
    let connection = try Connection.withTable()
    try connection.run(Self.insert, .integer(1), .real(.nan))
    #expect(try connection.first(Self.select, .integer(1)) { $0.value(0) } == .null)
  }

  @Test func `text that is not UTF-8 is decoded with U+FFFD`() throws {
    let connection = try Connection.withTable()
    try connection.run(Self.insert, .integer(1), .invalidText([0x61, 0xFF, 0x62]))
    #expect(try connection.first(Self.select, .integer(1)) { $0.text(0) } == "a\u{FFFD}b")
  }

  @Test func `a query without rows has no first row`() throws {
    let connection = try Connection.withTable()
    #expect(try connection.first(Self.select, .integer(1)) { $0.value(0) } == nil)
  }

  @Test func `a cached statement can be used again after an error`() throws {
    let connection = try Connection.withTable()
    try connection.run(Self.insert, .integer(1), .text("a"))
    let error = #expect(throws: StoreError.self) { try connection.run(Self.insert, .integer(1), .text("b")) }
    #expect(error?.sqlite?.code.primary == .constraint)
    #expect(error?.sqlite?.message == "UNIQUE constraint failed: t.id")
    #expect(connection.isInTransaction == false)
    try connection.run(Self.insert, .integer(2), .text("c"))
    #expect(try connection.text("SELECT group_concat(id || value) FROM t") == "1a,2c")
  }

  @Test func `a cached statement has no bindings of the last run`() throws {
    let connection = try Connection.withTable()
    try connection.run(Self.insert, .integer(1), .text("a"))
    try connection.run(Self.insert, .integer(2))
    #expect(try connection.first(Self.select, .integer(2)) { $0.value(0) } == .null)
  }

  @Test func `a cached statement that was not run to its end holds no lock`() throws {
    let connection = try Connection.withTable()
    try connection.execute("INSERT INTO t (value) VALUES (1), (2), (3)")
    let all = SQL("SELECT value FROM t")
    let first = try connection.first(all) { $0.integer(0) }
    #expect(first == 1)
    // SQLite refuses this while a statement reads the table.
    try connection.execute("DROP TABLE t")
  }

  @Test func `a cached statement survives a change of the schema`() throws {
    let connection = try Connection.withTable()
    try connection.run(Self.insert, .integer(1), .text("a"))
    try connection.execute("ALTER TABLE t ADD COLUMN other TEXT")
    try connection.run(Self.insert, .integer(2), .text("b"))
    #expect(connection.changedRows == 1)
    #expect(connection.lastInsertedRow == 2)
  }

  @Test func `a value without a parameter is refused`() throws {
    let connection = try Connection.withTable()
    let error = #expect(throws: StoreError.self) {
      try connection.run(Self.insert, .integer(1), .text("a"), .text("b"))
    }
    #expect(error?.sqlite?.code.primary == .range)
    #expect(try connection.text("SELECT count(*) FROM t") == "0")
  }

  @Test func `a value that does not fit into memory is an error, not an empty value`() async throws {
    // In a process of its own, because SQLite has one memory limit for all connections.
    await #expect(processExitsWith: .success) {
      let connection = try Connection(path: nil, access: .readWrite, busyTimeout: 0)
      // Reading text that is stored in another encoding takes memory.
      try connection.execute("PRAGMA encoding = 'UTF-16le'")
      let text = SQL("SELECT replace(hex(zeroblob(100000)), '0', ?1)")
      var isFull = false
      let value = {
        try connection.first(text, .text("a")) { row -> StoredValue in
          if isFull { sqlite3_hard_heap_limit64(sqlite3_memory_used()) }
          return row.value(0)
        }
      }
      #expect(try value() == .text(String(repeating: "a", count: 200_000)))
      isFull = true
      let error = #expect(throws: StoreError.self) { try value() }
      #expect(error?.sqlite?.code.primary == .outOfMemory)
      sqlite3_hard_heap_limit64(0)
      isFull = false
      #expect(try value() == .text(String(repeating: "a", count: 200_000)))
    }
  }

  @Test func `SQL that does not compile is refused with SQLite's message`() throws {
    let connection = try Connection.withTable()
    let error = #expect(throws: StoreError.self) { try connection.run(SQL("SELECT missing FROM t")) }
    #expect(error?.sqlite?.description == "no such column: missing (SQLite 1)")
  }
}
