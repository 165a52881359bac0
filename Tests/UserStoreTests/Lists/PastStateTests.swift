import TestSupport
import Testing

@testable import UserStore

/// The records at the end of an earlier set, read later and taken back.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct PastStateTests {
  @Test(arguments: 0..<UInt64(Repetitions.count))
  func `the state at an earlier set, read later, is the state that was read then`(_ index: UInt64) throws {
    let seed = Seed.base &+ index
    var queries = ListQueries(random: SplitMix64(seed: seed))
    let store = try UserStore.forTests()
    var versions: [(cursor: Cursor, users: [User])] = []
    for _ in 0..<40 {
      try store.write { transaction in
        for _ in 0..<3 { try queries.change(&transaction) }
      }
      versions.append(try store.read { (try $0.cursor, try $0.users()) })
    }
    for (cursor, users) in versions {
      for id in (1..<30).map({ User.ID($0) }) {
        let user = try store.read { try $0.user(id, at: cursor.revision) }
        #expect(user == users.first { $0.id == id }, "USERSTORE_SEED=\(seed), at \(cursor.revision): \(id)")
      }
    }
    for (cursor, users) in versions {
      for _ in 0..<10 {
        let query = queries.query()
        let comment: Comment = "USERSTORE_SEED=\(seed), at \(cursor.revision): \(query)"
        try store.read { transaction in
          let state = try #require(try PastState(at: cursor, try transaction.session))
          try check(state, users, query, comment)
        }
      }
    }
  }

  private func check(_ state: PastState, _ users: [User], _ query: Query, _ comment: Comment) throws {
    let layout = RowLayout(query)
    let start = query.start.map { layout.row(at: $0) }
    let (rows, end) = try state.rows(
      where: query.where, after: start, limit: query.limit, layout, query.sortedBy)
    var unlimited = query
    unlimited.limit = nil
    let expected = unlimited.evaluated(on: users)
    #expect(rows.map { layout.user($0) } == Array(expected.prefix(rows.count)), comment)
    #expect(rows.count >= min(query.limit ?? .max, expected.count), comment)
    if let end {
      // All rows up to the end are there, and none beyond it.
      let last = query.select(from: users).last.map { layout.row(at: query.position(of: $0)) }
      #expect(rows.allSatisfy { layout.order.compare($0, end) <= 0 }, comment)
      if let last, rows.count < expected.count {
        #expect(layout.order.compare(last, end) <= 0 || rows.isEmpty, comment)
      }
    } else {
      #expect(rows.count == expected.count, comment)
    }
    for id in 1..<30 {
      let id = User.ID(Int64(id))
      let user = users.first { $0.id == id }
      for attribute in ListQueries.attributes {
        #expect(try state.value(attribute, of: id) == user?.storedValues[attribute] ?? .null, comment)
      }
      let row = try state.row(id, layout)
      #expect((row == nil) == (user == nil), comment)
      if let row, let user {
        let names = query.showing.map { Set($0 + query.sortedBy.map(\.attribute)) }
        #expect(
          layout.user(row) == User(id: id, storedValues: user.storedValues.filter { names?.contains($0.key) ?? true }),
          comment)
      }
    }
  }

  @Test func `a user is read as it was, however much has changed since, or not at all`() throws {
    var configuration = Configuration()
    configuration.retention = .unlimited
    let store = try UserStore.forTests(configuration: configuration)
    let (zoe, bob) = try store.write { (try $0.add(name: "Zoë"), try $0.add(name: "Bob")) }
    let added = try store.read { try $0.cursor.revision }
    let before = try store.write { transaction in
      try transaction.set("age", of: zoe, to: .integer(1))
      return try transaction.revision
    }
    for _ in 1...3 {
      try store.write { for age in 1...2_000 { try $0.set("age", of: bob, to: .integer(Int64(age))) } }
    }
    try store.write { transaction in
      try transaction.set("age", of: zoe, to: .integer(2))
      try transaction.remove(zoe)
    }
    func past(_ id: User.ID, _ revision: Revision) throws -> User? { try store.read { try $0.user(id, at: revision) } }
    #expect(try past(zoe, before)?.storedValues == ["name": .text("Zoë"), "age": .integer(1)])
    #expect(try past(zoe, added)?.storedValues == ["name": .text("Zoë")])
    #expect(try past(zoe, Revision(rawValue: 0)) == nil)
    let end = try store.read { try $0.cursor.revision }
    #expect(try past(zoe, end) == nil)
    #expect(try past(bob, end)?.storedValues["age"] == .integer(2_000))
    #expect(code { try past(bob, Revision(rawValue: end.rawValue + 1)) } == .revisionNotFound)
    _ = try store.purge(zoe)
    #expect(code { try past(zoe, before) } == .compacted)
    #expect(try past(bob, before)?.storedValues == ["name": .text("Bob")])
    try store.compact(keeping: RetentionPolicy(.init(changes: 10), consumerLimits: .none))
    #expect(code { try past(bob, before) } == .compacted)
  }

  @Test func `a state that the log does not reach, or only after many changes, is not read`() throws {
    let store = try UserStore.forTests()
    let id = try store.write { try $0.add(name: "Zoë") }
    let start = try store.read { try $0.cursor }
    func canRead(_ cursor: Cursor) throws -> Bool {
      try store.read { try PastState(at: cursor, $0.session) != nil }
    }
    try store.write { transaction in for age in 0..<998 { try transaction.set(.age, of: id, to: age) } }
    #expect(try canRead(start))
    let middle = try store.read { try $0.cursor }
    try store.write { transaction in for age in 0..<3 { try transaction.set(.age, of: id, to: 1_000 + age) } }
    #expect(try !canRead(start))
    #expect(try canRead(middle))
    try store.write { try $0.set(.age, of: id, to: 1) }
    _ = try store.compact(keeping: .rows(1))
    #expect(try !canRead(middle))
  }
}
