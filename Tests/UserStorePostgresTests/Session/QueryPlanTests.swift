import Testing

@testable import UserStore
@testable import UserStorePostgres

extension AllTests {
  /// What PostgreSQL reads for a query, with statistics of the tables.
  @Suite(.timeLimit(.minutes(5)))
  struct QueryPlanTests {
    private static let age = Attribute<Int>("age")
    private static let statements = [
      """
      INSERT INTO userstore.users (name, hair_color) SELECT 'user ' || i, '#a52a2a' FROM generate_series(1, 5000) i;
      INSERT INTO userstore.attributes (user_id, name, integer) SELECT id, 'age', id % 100 FROM userstore.users;
      INSERT INTO userstore.attributes (user_id, name, text) SELECT id, 'owner', 'o' || id / 10 FROM userstore.users
      """,
      "SELECT userstore.create_index('age'); SELECT userstore.create_index('owner'); SELECT userstore.create_index('name')",
      "VACUUM ANALYZE userstore.users", "VACUUM ANALYZE userstore.attributes",
    ]

    /// How many pages a query reads.
    private func pages(_ query: PostgresQuerySQL, _ connection: PostgresConnection) throws -> Int {
      let explain = "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF, COSTS OFF) "
      let statement = query.statement(to: "explain")
      let plan = PostgresStatement(once: "explain", explain + statement.text, types: statement.types)
      let lines = try connection.pipeline { $0.add(plan, query.values) }.all { $0.text(0) }
      let numbers = try #require(lines.first { $0.contains("Buffers:") }).split { !$0.isNumber }.compactMap { Int($0) }
      return numbers.reduce(0, +)
    }

    /// So that how long a query takes says nothing about users who are hidden.
    @Test func `users are read only if they meet what is tested first`() throws {
      let database = try Server.newDatabase()
      var configuration = PostgresConfiguration(Server.address(database))
      (configuration.store.watchesOtherProcesses, configuration.store.retention) = (false, .unlimited)
      try UserStore(postgres: configuration).close()
      let other = try PostgresConnection(PostgresSettings(Server.address(database)))
      for sql in Self.statements { try other.execute(sql, to: "prepare a test") }
      let named = Condition.isOneOf("id", [.integer(3), .integer(5)])
      let own = Condition("owner", .equal, .text("o36"))
      // None meets any of them, but all others do, or none.
      let pairs: [(Condition, Condition)] = [
        (Self.age >= 70, Self.age >= 700), (.name >= "user 6", .name >= "x"), (.name == "user 77", .name == "nobody"),
        (Self.age == 77, Self.age == 777),
      ]
      let orders: [[SortKey]] = [[], [.ascending(Self.age)], [.descending(.name)]]
      for first in [named, own, named || own] {
        for (some, none) in pairs {
          let counts = try [some, none].map { condition in
            try pages(PostgresQuerySQL(counting: first.testedFirst && condition), other)
          }
          #expect(counts[0] == counts[1], "\(first) \(some)")
          for order in orders {
            let requests = [some, none].map {
              RowRequest(condition: first.testedFirst && $0, order: order, start: nil, limit: 50, columns: [])
            }
            for (left, right) in zip(requests[0].parts, requests[1].parts) {
              let read = try [left, right].map { try pages(PostgresQuerySQL($0, limit: 50), other) }
              #expect(read[0] == read[1], "\(first) \(some) \(order)")
            }
          }
        }
      }
    }
  }
}
