import Testing

@testable import UserStorePostgres

extension AllTests {
  @Suite(.timeLimit(.minutes(5)))
  struct ValueTests {
    let connection: PostgresConnection
    init() throws { connection = try Server.connect() }

    func echo(_ value: PostgresValue, _ type: PostgresType, _ name: String? = nil) throws -> PostgresRow {
      let statement = PostgresStatement(
        purpose: "echo", text: "SELECT $1::\(name ?? "\(type)")", types: [type], effect: .none, index: -1)
      return try connection.run(statement, value)[0]
    }

    @Test(arguments: [Int64.min, -1, 0, 1, .max]) func `int8`(_ value: Int64) throws {
      #expect(try echo(.int8(value), .int8).int8(0) == value)
    }

    @Test func `small integers`() throws {
      for value in [Int32.min, -1, 0, .max] { #expect(try echo(.int4(value), .int4).int4(0) == value) }
      for value in [Int16.min, -1, 0, .max] { #expect(try echo(.int2(value), .int2).int2(0) == value) }
      for value in [0, UInt64.max] { #expect(try echo(.xid8(value), .xid8).xid8(0) == value) }
      for value in [false, true] { #expect(try echo(.bool(value), .bool).bool(0) == value) }
    }

    @Test(arguments: [0.0, -0.0, .leastNonzeroMagnitude, .greatestFiniteMagnitude, .infinity, -.infinity, .nan, 0.1])
    func `float8`(_ value: Double) throws {
      let read = try echo(.float8(value), .float8).float8(0)
      #expect(read.bitPattern == value.bitPattern)
    }

    @Test(arguments: ["", "a", "é", "e\u{301}", "👩‍👩‍👧‍👦🇩🇪", "\u{1}\u{FFFF}\u{10FFFF}", "it's \\ \"$1\""])
    func `text`(_ value: String) throws {
      #expect(Array(try echo(.text(value), .text).text(0).utf8) == Array(value.utf8))
    }

    @Test func `bytea`() throws {
      for value in [[], [0], Array(0...255)] as [[UInt8]] { #expect(try echo(.bytea(value), .bytea).bytea(0) == value) }
      let row = try echo(.bytea([1, 2, 3]), .bytea)
      #expect(try row.withBytes(0) { span in span?.byteCount ?? -1 } == 3)
    }

    @Test func `large`() throws {
      let bytes = [UInt8](repeating: 0xE7, count: 16 << 20 - 4) + [0, 1, 2, 255]
      #expect(try echo(.bytea(bytes), .bytea).bytea(0) == bytes)
      let text = String(repeating: "é", count: 8 << 20)
      #expect(try echo(.text(text), .text).text(0) == text)
    }

    @Test func `time`() throws {
      for value in [0, -1, 1_700_000_000_123_456, Int64.max, .min] {
        #expect(try echo(.timestamptz(value), .timestamptz).timestamptz(0) == value)
      }
      let statement = PostgresStatement(
        once: "compare", "SELECT $1 = '1970-01-01 00:00:01.5Z'::timestamptz, $2 = 'infinity'::timestamptz",
        .timestamptz, .timestamptz)
      let row = try connection.run(statement, .timestamptz(1_500_000), .timestamptz(.max))[0]
      #expect(try row.bool(0) && row.bool(1))
      #expect(failure { _ = try echo(.timestamptz(.min + 1), .timestamptz) }?.kind == .badValue)
    }

    @Test func `times above the largest integer`() throws {
      let last = try connection.run(
        PostgresStatement(once: "read", "SELECT '294276-12-31'::timestamptz, '294247-01-10 04:00:54Z'::timestamptz"))[0]
      #expect(try last.timestamptz(0) == .max)
      #expect(try last.timestamptz(1) == 9_223_372_036_854_000_000)
    }

    @Test func `null`() throws {
      for type in [PostgresType.bool, .bytea, .int2, .int4, .int8, .text, .float8, .timestamptz, .xid8] {
        let row = try echo(.null, type)
        switch type {
        case .bool: #expect(try row.boolOrNil(0) == nil)
        case .bytea: #expect(try row.byteaOrNil(0) == nil)
        case .int2: #expect(try row.int2OrNil(0) == nil)
        case .int4: #expect(try row.int4OrNil(0) == nil)
        case .int8: #expect(try row.int8OrNil(0) == nil)
        case .text: #expect(try row.textOrNil(0) == nil)
        case .float8: #expect(try row.float8OrNil(0) == nil)
        case .timestamptz: #expect(try row.timestamptzOrNil(0) == nil)
        case .xid8: #expect(try row.xid8OrNil(0) == nil)
        }
      }
      #expect(failure { _ = try echo(.null, .int8).int8(0) }?.description == "cannot echo: column 0 is null")
    }

    @Test func `nul character`() throws {
      let trips = connection.roundTrips
      let error = failure { _ = try echo(.text("secret\0value"), .text) }
      #expect(error?.description == "cannot echo: PostgreSQL cannot store text with the character U+0000")
      #expect(connection.roundTrips == trips)
    }

    @Test func `wrong types`() throws {
      let row = try echo(.int8(1), .int8)
      #expect(failure { _ = try row.text(0) }?.kind == .unexpected)
      #expect(
        failure { _ = try row.int4(0) }?.description == "cannot echo: column 0 is not int4, but has the type number 20")
      for column in [1, -1, 1 << 32] { #expect(failure { _ = try row.int8(column) }?.kind == .unexpected) }
      let statement = PostgresStatement(once: "add", "SELECT $1 + $2", .int8, .int8)
      #expect(failure { try connection.run(statement, .int8(1)) }?.kind == .unexpected)
      #expect(
        failure { try connection.run(statement, .int8(1), .text("private")) }?.description.contains("private") == false)
    }

    @Test func `text types`() throws {
      let row = try connection.run(PostgresStatement(once: "read", "SELECT 'a'::name, 'b'::varchar(3), 'c'::text"))[0]
      #expect(try [row.text(0), row.text(1), row.text(2)] == ["a", "b", "c"])
    }

    @Test func `result outlives connection`() throws {
      let row = try echo(.text("kept"), .text)
      connection.close()
      #expect(try row.text(0) == "kept")
    }
  }
}
