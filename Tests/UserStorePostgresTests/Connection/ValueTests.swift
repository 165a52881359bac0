import Testing
import UserStore

@testable import UserStorePostgres

extension AllTests {
  @Suite(.timeLimit(.minutes(5)))
  struct ValueTests {
    let connection: PostgresConnection
    init() throws { connection = try Server.connect() }

    func echo(_ value: PostgresValue, _ type: PostgresType, _ name: String? = nil) throws -> PostgresRow {
      let statement = PostgresStatement(once: "echo", "SELECT $1::\(name ?? "\(type)")", type)
      return try connection.run(statement, value)[0]
    }

    private func read(_ sql: String) throws -> PostgresRow {
      try connection.run(PostgresStatement(once: "read", "SELECT \(sql)"))[0]
    }

    @Test(arguments: [Int64.min, -1, 0, 1, .max]) func `int8`(_ value: Int64) throws {
      #expect(try echo(.int8(value), .int8).int8(0) == value)
    }

    @Test func `small integers`() throws {
      for value in [Int32.min, -1, 0, .max] { #expect(try echo(.int4(value), .int4).int4(0) == value) }
      for value in [false, true] { #expect(try echo(.bool(value), .bool).bool(0) == value) }
      for value in [Int16.min, -1, 0, .max] { #expect(try read("'\(value)'::int2").int2(0) == value) }
    }

    @Test(arguments: [0.0, -0.0, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, -.infinity, .nan, 0.1])
    func `float8`(_ value: Double) throws {
      let read = try echo(.float8(value), .float8).float8OrNil(0)
      #expect(read?.bitPattern == value.bitPattern)
    }

    @Test(arguments: ["", "a", "é", "e\u{301}", "👩‍👩‍👧‍👦🇩🇪", "\u{1}\u{FFFF}\u{10FFFF}", "it's \\ \"$1\""])
    func `text`(_ value: String) throws {
      #expect(Array(try echo(.text(value), .text).text(0).utf8) == Array(value.utf8))
    }

    @Test func `bytea`() throws {
      for value in [[], [0], Array(0...255)] as [[UInt8]] {
        #expect(try echo(.bytea(value), .bytea).byteaOrNil(0) == value)
      }
    }

    @Test func `large`() throws {
      let bytes = [UInt8](repeating: 0xE7, count: 16 << 20 - 4) + [0, 1, 2, 255]
      #expect(try echo(.bytea(bytes), .bytea).byteaOrNil(0) == bytes)
      let text = String(repeating: "é", count: 8 << 20)
      #expect(try echo(.text(text), .text).text(0) == text)
    }

    @Test(arguments: [
      ("1970-01-01 00:00:00Z", 0), ("1969-12-31 23:59:59.999999Z", -1),
      ("2023-11-14 22:13:20.123456Z", 1_700_000_000_123_456),
      ("infinity", Int64.max), ("-infinity", .min), ("294276-12-31", .max),
      ("294247-01-10 04:00:54Z", 9_223_372_036_854_000_000),
    ])
    func `time`(_ text: String, _ microseconds: Int64) throws {
      #expect(try read("'\(text)'::timestamptz").timestamptz(0) == microseconds)
    }

    @Test func `null`() throws {
      for type in [PostgresType.bool, .bytea, .int8, .text, .float8] {
        let row = try echo(.null, type)
        switch type {
        case .bool: #expect(row.boolOrNil(0) == nil)
        case .bytea: #expect(row.byteaOrNil(0) == nil)
        case .int8: #expect(row.int8OrNil(0) == nil)
        case .text: #expect(row.textOrNil(0) == nil)
        default: #expect(row.float8OrNil(0) == nil)
        }
        try row.result.check()
      }
      #expect(misreading(try echo(.null, .int8)) { $0.int8(0) }?.description == "cannot echo: column 0 is null")
      for read: (PostgresRow) -> Any in [
        { $0.int4(0) }, { $0.bool(0) }, { $0.int2(0) }, { $0.text(0) }, { $0.timestamptz(0) },
      ] {
        #expect(misreading(try echo(.null, .int8), read)?.kind == .unexpected)
      }
    }

    /// Returns the failure that a result notes when one of its rows is read.
    private func misreading(_ row: PostgresRow, _ read: (PostgresRow) -> Any) -> PostgresError? {
      _ = read(row)
      return failure { try row.result.check() }
    }

    @Test func `nul character`() throws {
      let trips = connection.roundTrips
      let error = failure { _ = try echo(.text("secret\0value"), .text) }
      #expect(error?.description == "cannot echo: PostgreSQL cannot store text with the character U+0000")
      #expect(connection.roundTrips == trips)
    }

    @Test func `wrong types`() throws {
      #expect(misreading(try echo(.int8(1), .int8)) { $0.text(0) }?.kind == .unexpected)
      #expect(
        misreading(try echo(.int8(1), .int8)) { $0.int4(0) }?.description
          == "cannot echo: column 0 is not int4, but has the type number 20")
      for column in [1, -1, 1 << 32] {
        #expect(misreading(try echo(.int8(1), .int8)) { $0.int8(column) }?.kind == .unexpected)
      }
      // The first failure stays, and is thrown by whatever reads rows.
      let result = try connection.run(PostgresStatement(once: "read", "SELECT 1::int8"))
      let description = "cannot read: the result has no such column"
      #expect(failure { _ = try result.first { $0.int8(1) } }?.description == description)
      #expect(failure { _ = try result.all { $0.text(0) } }?.description == description)
      #expect(failure { try result.each { _ in true } }?.description == description)
    }

    @Test func `values that do not fit their statement end the program`() async {
      await #expect(processExitsWith: .failure) {
        var batch = PostgresBatch()
        batch.add(PostgresStatement(once: "add", "SELECT $1 + $2", .int8, .int8), .int8(1))
      }
      await #expect(processExitsWith: .failure) {
        var batch = PostgresBatch()
        batch.add(PostgresStatement(once: "read", "SELECT $1", .int8), .text("private"))
      }
    }

    @Test func `text types`() throws {
      let row = try connection.run(PostgresStatement(once: "read", "SELECT 'a'::name, 'b'::varchar(3), 'c'::text"))[0]
      #expect([row.text(0), row.text(1), row.text(2)] == ["a", "b", "c"])
    }

    @Test func `result outlives connection`() throws {
      let row = try echo(.text("kept"), .text)
      connection.close()
      #expect(row.text(0) == "kept")
    }
  }
}
