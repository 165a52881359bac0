import Testing

@testable import UserStore
@testable import UserStorePostgres

private let one = PostgresStatement("read one", "SELECT 1::int8")
private let echo = PostgresStatement("echo a number", "SELECT $1", .int8)
private let divide = PostgresStatement("divide", "SELECT 10 / $1", .int8)
private let insert = PostgresStatement("insert a number", "INSERT INTO pg_temp.numbers VALUES ($1)", .int8)
private let count = PostgresStatement("count", "SELECT count(*) FROM pg_temp.numbers")

extension AllTests {
  @Suite(.timeLimit(.minutes(5)))
  struct BatchTests {
    let connection: PostgresConnection
    init() throws {
      connection = try Server.connect()
      try connection.execute(
        "CREATE TEMP TABLE numbers (number int8 PRIMARY KEY); CREATE TEMP TABLE other (a int8)", to: "set up")
    }

    @Test func `one round trip`() throws {
      let before = connection.roundTrips
      let (a, b, c) = try connection.pipeline { batch in
        (batch.add(echo, .int8(1)), batch.add(one), batch.add(echo, .int8(3)))
      }
      #expect(connection.roundTrips == before + 1)
      #expect([a[0].int8(0), b[0].int8(0), c[0].int8(0)] == [1, 1, 3])
      #expect(try connection.run(echo, .int8(4))[0].int8(0) == 4)
      #expect(connection.roundTrips == before + 2)
      try connection.pipeline { _ in }
      #expect(connection.roundTrips == before + 2)
    }

    @Test func `error in the middle`() throws {
      let error = failure {
        try connection.pipeline { batch in
          batch.add(insert, .int8(1))
          batch.add(divide, .int8(0))
          batch.add(insert, .int8(2))
        }
      }
      #expect(error?.sqlState?.rawValue == "22012")
      #expect(error?.statementIndex == 1)
      #expect(error?.purpose == "divide")
      #expect(error?.isOutcomeUnknown == false)
      #expect(connection.transactionStatus == .idle)
      #expect(try connection.run(count)[0].int8(0) == 0)
    }

    @Test func `error while preparing`() throws {
      let wrong = PostgresStatement("read what is missing", "SELECT * FROM missing")
      for _ in 0..<2 {
        let error = failure {
          try connection.pipeline { batch in
            batch.add(one)
            batch.add(wrong)
            batch.add(echo, .int8(1))
          }
        }
        #expect(error?.sqlState?.rawValue == "42P01")
        #expect(error?.statementIndex == 1)
      }
      #expect(try connection.run(echo, .int8(5))[0].int8(0) == 5)
    }

    @Test func `transactions`() throws {
      try connection.pipeline { batch in
        batch.add(.begin)
        batch.add(insert, .int8(1))
      }
      #expect(connection.transactionStatus == .inTransaction)
      #expect(failure { try connection.run(divide, .int8(0)) } != nil)
      #expect(connection.transactionStatus == .failed)
      let error = failure { try connection.run(.commit) }
      #expect(error?.sqlState == .inFailedTransaction)
      #expect(connection.transactionStatus == .idle)
      #expect(try connection.run(count)[0].int8(0) == 0)
      try connection.pipeline { batch in
        batch.add(.begin)
        batch.add(insert, .int8(1))
        batch.add(.commit)
      }
      #expect(try connection.run(count)[0].int8(0) == 1)
    }

    @Test func `constraint`() throws {
      let inserted = try connection.run(insert, .int8(4_711))
      #expect(inserted.affectedRows == 1)
      let error = failure { try connection.run(insert, .int8(4_711)) }
      #expect(error?.sqlState == .uniqueViolation)
      #expect(error?.constraint == "numbers_pkey")
      #expect(error?.detail?.contains("4711") == true)
      #expect(error?.description.contains("4711") == false)
    }

    @Test func `data exceptions show no values`() throws {
      let cast = PostgresStatement("read a number", "SELECT $1::int8", .text)
      let error = failure { try connection.run(cast, .text("4711 \"secret\"")) }
      #expect(
        error?.description == "cannot read a number: invalid input syntax for type bigint: \"…\" [SQLSTATE 22P02]")
    }

    @Test func `many large statements`() throws {
      // More than the buffers of the socket in both directions.
      let large = PostgresStatement("echo text", "SELECT $1", .text)
      let text = String(repeating: "x", count: 1 << 20)
      let results = try connection.pipeline { batch in
        var results: [PostgresResult] = []
        for _ in 0..<20 { results.append(batch.add(large, .text(text))) }
        return results
      }
      #expect(results.allSatisfy { $0[0].text(0) == text })
    }

    @Test func `nothing is sent if a value cannot be stored`() throws {
      let before = connection.roundTrips
      let error = failure {
        try connection.pipeline { batch in
          batch.add(insert, .int8(9))
          batch.add(PostgresStatement(once: "store", "SELECT $1", .text), .text("\0"))
        }
      }
      #expect(error?.kind == .badValue)
      #expect(connection.roundTrips == before)
      #expect(try connection.run(count)[0].int8(0) == 0)
    }

    @Test func `batch inside of a batch`() throws {
      let result = try connection.pipeline { batch in
        (batch.add(echo, .int8(1)), Result { try connection.run(echo, .int8(2))[0].int8(0) })
      }
      #expect(result.0[0].int8(0) == 1)
      #expect(try result.1.get() == 2)
    }

    @Test func `what the server raises`() throws {
      #expect(
        failure { try connection.run(PostgresStatement(once: "x", "COPY pg_temp.other TO STDOUT")) }?.kind
          == .unexpected)
      #expect(!connection.isOpen)
      try connection.reconnect()
      for (state, code) in [
        ("40001", .busy), ("40P01", .busy), ("55P03", .busy), ("57014", .busy), ("23505", .conflict),
        ("22P02", .badValue), ("53100", .diskFull), ("P0001", .unexpected),
      ] as [(String, StoreError.Code)] {
        let error = failure {
          try connection.execute(
            "DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '\(state)', HINT = 'try'; END $$", to: "raise")
        }
        #expect(error.map { StoreError($0).code } == code)
        #expect(error?.description == "cannot raise: x [SQLSTATE \(state)] (try)")
      }
    }

    // MARK: Prepared statements

    @Test func `prepared once`() throws {
      let prepared = PostgresStatement(
        "count", "SELECT count(*) FROM pg_prepared_statements WHERE statement = 'SELECT $1'")
      for _ in 0..<3 { try connection.run(echo, .int8(1)) }
      try connection.pipeline { batch in for _ in 0..<3 { batch.add(echo, .int8(1)) } }
      #expect(try connection.run(prepared)[0].int8(0) == 1)
      try connection.reconnect()
      #expect(try connection.run(prepared)[0].int8(0) == 0)
      let trips = connection.roundTrips
      #expect(try connection.run(echo, .int8(7))[0].int8(0) == 7)
      #expect(connection.roundTrips == trips + 1)
      #expect(try connection.run(prepared)[0].int8(0) == 1)
    }

    @Test func `prepared again`() throws {
      let all = PostgresStatement("read all", "SELECT * FROM pg_temp.other")
      try connection.run(all)
      try connection.execute(
        "ALTER TABLE pg_temp.other ADD COLUMN b int8; INSERT INTO pg_temp.other VALUES (1, 2)", to: "change")
      #expect(try connection.run(all)[0].int8(1) == 2)
      let before = connection.roundTrips
      #expect(try connection.run(all)[0].int8(1) == 2)
      #expect(connection.roundTrips == before + 1)
      // In a transaction, the caller must run it again.
      try connection.execute("ALTER TABLE pg_temp.other ADD COLUMN c int8 DEFAULT 3", to: "change")
      try connection.run(.begin)
      let error = failure { try connection.run(all) }
      #expect(error?.isStalePlan == true)
      try connection.run(.rollback)
      #expect(try connection.run(all)[0].int8(2) == 3)
      // The server has forgotten it.
      try connection.execute("DEALLOCATE ALL", to: "forget")
      #expect(try connection.run(all)[0].int8(2) == 3)
      // Not if an earlier statement of the batch would run twice.
      try connection.execute("DEALLOCATE ALL", to: "forget")
      let second = failure {
        try connection.pipeline { batch in
          batch.add(PostgresStatement(once: "insert", "INSERT INTO pg_temp.numbers VALUES (77)"))
          batch.add(all)
        }
      }
      #expect(second?.isStalePlan == true && second?.statementIndex == 1)
      #expect(try connection.run(count)[0].int8(0) == 0)
      #expect(try connection.run(all)[0].int8(2) == 3)
    }

    // MARK: Scans

    private static let million = PostgresStatement(
      "scan", "SELECT n, n::text, n::float8 FROM generate_series(1, $1) n", .int8)

    @Test func `scan of a million rows`() throws {
      try connection.run(.beginReading)
      let trips = connection.roundTrips
      var (rows, sum): (Int64, Int64) = (0, 0)
      try connection.scan(Self.million, [.int8(1_000_000)]) { row in
        rows += 1
        sum += row.int8(0)
        return true
      }
      #expect(rows == 1_000_000 && sum == 500_000_500_000)
      #expect(connection.roundTrips - trips == 1_001)
      try connection.run(.commit)
    }

    @Test func `scan stops early`() throws {
      try connection.run(.beginReading)
      let trips = connection.roundTrips
      var rows = 0
      try connection.scan(Self.million, [.int8(1_000_000)]) { _ in
        rows += 1
        return rows < 10
      }
      #expect(rows == 10)
      #expect(connection.roundTrips - trips == 1)
      #expect(failure { try connection.scan(divide, [.int8(0)]) { _ in true } }?.sqlState?.rawValue == "22012")
      try connection.run(.rollback)
    }

    @Test func `scans inside of scans`() throws {
      let cursors = PostgresStatement("count", "SELECT count(*) FROM pg_cursors WHERE name LIKE 'userstore%'")
      try connection.run(.beginReading)
      var found: [Int64] = []
      try connection.scan(Self.million, [.int8(5)], rowsPerTrip: 2) { outer in
        let nested = failure {
          try connection.scan(Self.million, [.int8(3)], rowsPerTrip: 2) { inner in
            found.append(outer.int8(0) * 10 + inner.int8(0))
            return true
          }
        }
        #expect(nested == nil)
        // An error that is caught must not keep the cursor's name.
        let error = failure { try connection.scan(Self.million, [.int8(3)]) { row in row.text(0).isEmpty } }
        #expect(error?.kind == .unexpected)
        return true
      }
      #expect(found == [11, 12, 13, 21, 22, 23, 31, 32, 33, 41, 42, 43, 51, 52, 53])
      #expect(try connection.run(cursors)[0].int8(0) == 0)
      try connection.run(.commit)
      #expect(failure { try connection.scan(Self.million, [.int8(1)]) { _ in true } }?.kind == .unexpected)
      // A cursor of the last transaction is not closed in the next one.
      try connection.run(.beginReading)
      try connection.scan(Self.million, [.int8(5)], rowsPerTrip: 2) { _ in false }
      try connection.run(.commit)
      try connection.run(.beginReading)
      #expect(try connection.run(one)[0].int8(0) == 1)
    }

    @Test func `session parameters`() throws {
      let connection = try Server.connect {
        $0.lockTimeout = .milliseconds(1_500)
        $0.sessionParameters = ["TimeZone": "Europe/Berlin"]
      }
      for (name, value) in [
        ("search_path", "pg_catalog, pg_temp"), ("jit", "off"), ("client_encoding", "UTF8"), ("lock_timeout", "1500ms"),
        ("idle_in_transaction_session_timeout", "10s"), ("TimeZone", "Europe/Berlin"),
        ("standard_conforming_strings", "on"),
      ] {
        let row = try connection.run(PostgresStatement(once: "read", "SELECT current_setting($1)", .text), .text(name))[
          0]
        #expect(row.text(0) == value)
      }
    }
  }
}
