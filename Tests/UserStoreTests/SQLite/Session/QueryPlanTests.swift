import Testing

@testable import UserStore

/// SQLite uses an index where one can help, whatever the size of the database and its statistics are.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct QueryPlanTests {
  static let conditions: [Condition] = [
    .age == 36, .age >= 18, .age < 18, Attribute<Int>.age.isIn(18..<36), Attribute<Int>.age.isOneOf([18, 36]),
    Condition("age", .startsWith, .text("a")), Condition("age", .less, .text("a")), .age == 36 && .hairColor == nil,
    .age >= 18 && !Attribute<Int>("badge").exists, .age >= 18 && Attribute<Int>("badge") > 7,
    .age == 1 || .age == 2, .name == "Zoë", Attribute.name.hasPrefix("Z"), .name > "a" && .name < "b",
    .hairColor == UserStore.Color("auburn"), Attribute.hairColor.exists,
  ]
  static let orders: [[SortKey]] = [
    [.ascending(Attribute<Int>.age)], [.descending(Attribute<Int>.age)],
    [.ascending(Attribute<Int>.age, missingLast: true)], [.ascending(.name)], [.descending(.name)],
    [.ascending(.hairColor)], [.descending(.hairColor)],
  ]
  /// No statistics; those of SQLite; and such as mislead it, or are no statistics at all.
  static let statistics: [String] = [
    "", "ANALYZE",
    """
    ANALYZE; UPDATE sqlite_stat1 SET stat = '1000000 1000000 1000000'; INSERT INTO sqlite_stat1 VALUES
    ('attributes', 'sqlite_autoindex_attributes_1', '1 1 1'), ('users', NULL, '1')
    """,
    """
    ANALYZE; UPDATE sqlite_stat1 SET stat = 'x -1 9999999999999999999 unordered sz=0 noskipscan'
    """,
  ]

  private func withStore(
    users: Int, _ statistics: String, _ body: (SQLiteSession) throws -> Void
  ) throws {
    let folder = try Folder()
    do {
      let store = try folder.open()
      for attribute in ["age", "name", "hair_color"] as [AttributeName] { _ = try store.addIndex(on: attribute) }
    }
    try folder.shell(
      """
      BEGIN; INSERT INTO users (name, hair_color) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
        SELECT 'user ' || i, CASE WHEN i % 3 THEN '#a52a2a' END FROM n LIMIT \(users);
      INSERT INTO attributes (user_id, name, value) SELECT id, 'age', id % 100 FROM users WHERE id % 5;
      INSERT INTO attributes (user_id, name, value) SELECT id, 'badge', id FROM users; COMMIT
      """)
    try folder.shell(statistics)
    try body(folder.session())
  }

  private func plan(_ query: QuerySQL, _ session: SQLiteSession) throws -> [String] {
    var lines: [String] = []
    try session.connection.rows("EXPLAIN QUERY PLAN " + query.text) { lines.append($0.text(3)) }
    return lines
  }

  private func plans(_ query: Query, _ session: SQLiteSession) throws -> [[String]] {
    let indexes = Set(try session.indexes())
    let request = RowRequest(
      condition: query.where, order: query.sortedBy, start: query.start, limit: 50, columns: [.name])
    var plans: [[String]] = []
    for part in request.parts {
      plans.append(try plan(QuerySQL(part, columns: [.name], limit: 50, indexes: indexes), session))
    }
    return plans
  }

  private static func usesIndex(_ plan: [String]) -> Bool { plan.first?.contains("userstore_index_") == true }
  private static func sorts(_ plan: [String]) -> Bool { plan.contains { $0.contains("TEMP B-TREE FOR ORDER BY") } }

  @Test(arguments: [0, 5_000])
  func `comparisons, ranges, and prefixes start with an index`(users: Int) throws {
    for statistics in Self.statistics.prefix(2) {
      try withStore(users: users, statistics) { session in
        for condition in Self.conditions {
          let query = QuerySQL(counting: condition, indexes: Set(try session.indexes()))
          let counting = try plan(query, session)
          #expect(Self.usesIndex(counting), "\(users) users, \(statistics): \(condition) \(counting)")
        }
      }
    }
  }

  @Test(arguments: [0, 5_000])
  func `the first users in the order of an attribute with an index are not sorted`(users: Int) throws {
    for statistics in Self.statistics.prefix(2) {
      try withStore(users: users, statistics) { session in
        for order in Self.orders {
          let plans = try plans(Query(sortedBy: order), session)
          let place: Comment = "\(users) users, \(statistics): \(order) \(plans)"
          #expect(plans.contains { Self.usesIndex($0) } && !plans.contains { Self.sorts($0) }, place)
        }
      }
    }
  }

  @Test(arguments: [0, 5_000])
  func `a page starts with an index where the one before ended`(users: Int) throws {
    try withStore(users: users, "") { session in
      for order in Self.orders {
        let value: StoredValue = order[0].attribute == "age" ? .integer(36) : .text("#a52a2a")
        let query = Query(sortedBy: order).after(Query.Position(values: [value], id: User.ID(7)))
        let plans = try plans(query, session)
        #expect(Self.usesIndex(plans[0]) && Self.usesIndex(plans[1]), "\(order) \(plans)")
        #expect(plans[0].count <= 2 && !plans.contains { Self.sorts($0) }, "\(order) \(plans)")
      }
    }
  }

  /// So that how long a query takes says nothing about users who are hidden.
  @Test func `users are read only if they meet what is tested first`() throws {
    let (named, own) = (Condition.isOneOf("id", [.integer(3), .integer(5)]), Attribute<Int>.age == 36)
    for statistics in Self.statistics.prefix(2) {
      try withStore(users: 5_000, statistics) { session in
        let indexes = Set(try session.indexes())
        for first in [named, own, named || own] {
          for condition in Self.conditions {
            for order in Self.orders + [[]] {
              let query = Query(where: condition && first.testedFirst, sortedBy: order)
              let counting = try plan(QuerySQL(counting: query.where, indexes: indexes), session)
              for plan in try plans(query, session) + [counting] {
                let others = plan.drop { $0 != "SCAN selected" }.dropFirst()
                let searches = others.filter { $0.hasPrefix("SEARCH ") || $0.hasPrefix("SCAN ") }
                let isOfOneUser = searches.allSatisfy { $0.contains("rowid=?") || $0.contains("user_id=?") }
                #expect(!searches.isEmpty && isOfOneUser, "\(statistics): \(query) \(plan)")
              }
            }
          }
        }
      }
    }
  }

  @Test func `foreign statistics change no result`() throws {
    for statistics in Self.statistics {
      try withStore(users: 500, statistics) { session in
        var users: [User] = []
        try session.eachUser(.all) { user in
          users.append(user)
          return true
        }
        for (condition, order) in zip(Self.conditions, Self.orders + Self.orders + Self.orders) {
          let query = Query(where: condition, sortedBy: order, limit: 50)
          var ids: [User.ID] = []
          let request = RowRequest(condition: condition, order: order, start: nil, limit: 50, columns: [])
          try session.eachRow(request) { id, _ in
            ids.append(id)
            return true
          }
          #expect(ids == query.select(from: users).map(\.id), "\(statistics): \(query)")
        }
      }
    }
  }
}
