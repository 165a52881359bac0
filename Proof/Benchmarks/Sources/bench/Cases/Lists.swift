import CFloor
import UserStore

extension Attribute where Value == Int {
  /// The same number as the user's identifier.
  static var number: Attribute { Attribute("number") }
}

/// Queries, and the sizes of live lists; `ListOneRow` has their costs for a write of one row.
enum Lists {
  static func cases(_ effort: Effort) -> [Case] {
    manyCases + firstCases + [lookUpCase(effort), memoryCase] + hugeSetCases(effort)
  }

  /// Gives each user a number, which is the identifier.
  static let addNumbers =
    "INSERT INTO attributes (user_id, name, value) SELECT id, 'number', id FROM users"

  // MARK: Many lists

  private static let many = 10_000

  private static var manyCases: [Case] {
    [UserStore.Configuration.Durability.full, .normal].map { durability in
      let name = durability == .full ? "full" : "normal"
      return Case(
        name: "lists/many/\(name)",
        operation: "a user renamed, with \(many) lists, each for a number, by name, \(name)",
        contenders: [
          many("UserStore, no list", lists: 0, 1, durability),
          many("UserStore, a user of one of 100 lists", lists: 100, 1, durability),
          many("UserStore, a user of one of \(many) lists", lists: many, 1, durability),
          many("UserStore, a user of none of \(many) lists", lists: many, many + 1, durability),
        ])
    }
  }

  private static func many(
    _ name: String, lists: Int, _ user: Int, _ durability: UserStore.Configuration.Durability
  ) -> Contender {
    Contender(name: name) { folder in
      let (store, screens) = try manyLists(folder, lists, durability)
      var names = Names()
      return .passes { count in
        let screen = screens.dropFirst(user - 1).first
        let before = screen?.steps ?? 0
        for _ in 0..<count { try store.rename(Int64(user), to: names.next()) }
        if let screen { try expect(screen.steps - before, count, "steps") }
        withExtendedLifetime(screens) {}
      }
    }
  }

  /// A store with a list for each of the first numbers.
  static func manyLists(
    _ folder: String, _ lists: Int, _ durability: UserStore.Configuration.Durability, watches: Bool = true
  ) throws -> (UserStore, [ListScreen]) {
    let store = try Fixture.store(in: folder, users: many + 1, durability, watches: watches, adding: addNumbers)
    try store.addIndex(on: "number")
    let screens = try (0..<lists).map { index in
      let query = UserStore.Query(where: .number == index + 1, sortedBy: [.ascending(.name)], showing: [.hairColor])
      return ListScreen(try store.list(query))
    }
    return (store, screens)
  }

  // MARK: First rows

  private static var firstCases: [Case] {
    [1_000, 100_000].map { rows in
      Case(
        name: "lists/first/\(rows)", operation: "one of the first \(rows) rows of a sorted list",
        operationsPerPass: rows,
        contenders: [
          floor(rows),
          first("UserStore, list", rows) { try $0.list(ListRequest.query).value.count },
          first("UserStore, users(matching:)", rows) { store in
            try store.read { try $0.users(matching: ListRequest.query).count }
          },
          grdb(rows),
        ])
    }
  }

  private static func first(
    _ name: String, _ rows: Int, _ read: @escaping @Sendable (UserStore) throws -> Int
  ) -> Contender {
    Contender(name: name) { folder in
      let store = try Fixture.store(in: folder, users: rows, .normal)
      return .passes { count in for _ in 0..<count { try expect(read(store), rows, "rows") } }
    }
  }

  private static func floor(_ rows: Int) -> Contender {
    Contender(name: "C, same statement, without a transaction") { folder in
      let floor = try Floor(Fixture.file(in: folder, users: rows, isLogged: true), isFull: false, FLOOR_PLAIN)
      return .passes { count in for _ in 0..<count { try expect(floor.query(ListRequest.sql), rows, "rows") } }
    }
  }

  private static func grdb(_ rows: Int) -> Contender {
    Contender(name: "GRDB, Codable records") { folder in
      let grdb = try GRDBStore(Fixture.file(in: folder, users: rows, isLogged: false), isFull: false)
      return .passes { count in for _ in 0..<count { try expect(grdb.listRows().count, rows, "rows") } }
    }
  }

  // MARK: Look-up

  private static func lookUpCase(_ effort: Effort) -> Case {
    let sizes = effort.size(quick: [1_000, 100_000], full: [1_000, 10_000_000])
    return Case(
      name: "lists/look-up", operation: "a user found by an indexed attribute, measured one by one",
      contenders: sizes.map(lookUp) + sizes.map(lookUpInC))
  }

  private static func lookUp(_ users: Int) -> Contender {
    Contender(name: "UserStore, \(users) users") { folder in
      let store = try Fixture.store(in: folder, users: users, .normal, adding: addNumbers)
      try store.addIndex(on: "number")
      return latencies(users) { number in
        try store.read { try $0.users(matching: UserStore.Query(where: .number == number, showing: [.name])).count }
      }
    }
  }

  /// The statement that the library makes, prepared once.
  private static func lookUpInC(_ users: Int) -> Contender {
    Contender(name: "C, same statement, without a transaction, \(users) users") { folder in
      let path = try Fixture.file(in: folder, users: users, isLogged: true, adding: addNumbers)
      let store = try Fixture.open(path, .normal)
      try store.addIndex(on: "number")
      store.close()
      let floor = try Floor(path, isFull: false, FLOOR_PLAIN)
      return latencies(users) { floor.query(findSQL, $0) }
    }
  }

  static let findSQL =
    "SELECT a0.user_id, users.name FROM users JOIN attributes AS a0 ON a0.user_id = users.id AND a0.name = 'number' "
    + "WHERE a0.value = ? ORDER BY a0.user_id"

  private static func latencies(_ users: Int, _ find: @escaping (Int) throws -> Int) -> Measured {
    .latencies { count in
      try (0..<count * 10).map { _ in
        let number = Int.random(in: 1...users)
        return try ContinuousClock().measure { try expect(find(number), 1, "users") }
      }
    }
  }

  // MARK: Memory

  private static var memoryCase: Case {
    let rows = 100_000
    return Case(
      name: "lists/memory", operation: "heap of a list of \(rows) rows, by name",
      contenders: [memory("UserStore, nothing", rows, []), memory("UserStore, a color", rows, [.hairColor])])
  }

  private static func memory(_ name: String, _ rows: Int, _ shown: [AttributeName]) -> Contender {
    Contender(name: name) { folder in
      let store = try Fixture.store(in: folder, users: rows, .normal)
      let query = UserStore.Query(sortedBy: [.ascending(.name)], showing: shown)
      // Fills SQLite's cache of pages.
      try expect(store.list(query).value.count, rows, "rows")
      return .bytes {
        let before = floor_heap_bytes()
        let list = try store.list(query)
        let after = floor_heap_bytes()
        try expect(list.value.count, rows, "rows")
        return Double(after - before)
      }
    }
  }

  // MARK: Large sets

  /// From which size of a set reading a list again is faster than following the set.
  private static func hugeSetCases(_ effort: Effort) -> [Case] {
    [1_000, 100_000].flatMap { rows in
      [100, 1_000, 10_000, 19_000, 21_000].map { changes in
        Case(
          name: "lists/huge-set/\(rows)/\(changes)",
          operation: "one of \(changes) changes in one write, with a list of \(rows), normal",
          operationsPerPass: changes,
          contenders: [
            hugeSet("UserStore, no list", rows, changes, isFollowed: false),
            hugeSet("UserStore, list", rows, changes, isFollowed: true),
          ])
      }
    }
  }

  private static func hugeSet(_ name: String, _ rows: Int, _ changes: Int, isFollowed: Bool) -> Contender {
    Contender(name: name) { folder in
      .passes(try hugeSets(folder, rows, changes, isFollowed: isFollowed))
    }
  }

  /// Returns a closure that writes a number of sets, with a list of the first users.
  static func hugeSets(
    _ folder: String, _ rows: Int, _ changes: Int, isFollowed: Bool, watches: Bool = true
  ) throws -> (_ count: Int) throws -> Void {
    let users = max(rows, changes)
    let store = try Fixture.store(in: folder, users: users, .normal, watches: watches)
    let tally = Tally()
    let query = UserStore.Query(
      where: UserStore.Condition("id", .lessOrEqual, .integer(Int64(rows))), sortedBy: [.ascending(.name)],
      showing: [.hairColor])
    let list = isFollowed ? try store.list(query) : nil
    list?.bind("screen") { _ in tally.add() }
    var turn = 0
    return { count in
      try tally.expect(isFollowed ? count : 0) {
        for _ in 0..<count {
          try store.write { transaction in
            for _ in 0..<changes {
              let user = UserStore.User.ID(RowChange.user(turn, of: users))
              try transaction.rename(user, to: "user \(turn &* 104_729 % rows) \(turn)")
              turn += 1
            }
          }
        }
      }
      withExtendedLifetime(list) {}
    }
  }
}
