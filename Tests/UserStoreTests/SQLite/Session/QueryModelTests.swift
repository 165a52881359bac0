import TestSupport
import Testing

@testable import UserStore

/// Random queries give what the same conditions and orders give in memory, with indexes and without.
@Suite(.bounded, .serialized) struct QueryModelTests {
  private static let rounds = 40

  /// As many runs of 40 queries as `Repetitions` says.
  @Test(arguments: 0..<UInt64(Repetitions.count))
  func `queries select, sort, and page as the same does in memory`(run: UInt64) throws {
    let seed = Seed.base &+ run
    var random = QueryGenerator(seed: seed)
    let store = try UserStore.inMemory()
    try store.write { try random.addUsers(25, to: $0.session) }
    let users = try store.read { try $0.users() }
    for round in 0..<Self.rounds {
      if random.oneIn(4) { try changeIndex(of: random.attribute(), in: store) }
      var query = Query(
        where: random.condition(), sortedBy: random.order(), limit: random.oneIn(2) ? random.number(1...5) : nil,
        showing: random.shown())
      if random.oneIn(3) { query.start = random.position(query.sortedBy) }
      // As many are read in another way.
      if random.oneIn(4) { query.showing = (query.showing ?? []) + (0..<30).map { "none \($0)" } }
      if random.oneIn(3) { query.where = random.condition().testedFirst && query.where }
      let place: Comment = "seed \(seed), round \(round): \(query)"
      let expected = query.select(from: users)
      try store.read { transaction in
        #expect(try transaction.ids(matching: query) == expected.map(\.id), place)
        #expect(try transaction.users(matching: query) == expected.map { $0.showing(query) }, place)
        let count = try transaction.count(where: query.where)
        #expect(count == users.count { query.where.isTrue(of: $0) }, place)
        (query.start, query.limit) = (nil, nil)
        let pages = try pages(of: query, by: random.number(1...7), &transaction)
        #expect(pages == query.select(from: users).map(\.id), place)
      }
    }
  }

  private func changeIndex(of attribute: AttributeName, in store: UserStore) throws {
    guard attribute != .id else { return }
    try store.write { transaction in
      let session = try transaction.session
      if try !session.addIndex(AttributeIndex(on: attribute), while: { true }) {
        #expect(try session.removeIndex(AttributeIndex(on: attribute)))
      }
    }
  }

  private func pages(of query: Query, by size: Int, _ transaction: inout ReadTransaction) throws -> [User.ID] {
    var (query, ids): (Query, [User.ID]) = (query, [])
    query.limit = size
    while true {
      let page = try transaction.users(matching: query)
      ids += page.map(\.id)
      guard let last = page.last, page.count == size else { return ids }
      query = query.after(last)
    }
  }
}

extension User {
  /// The user with the values that a query shows.
  fileprivate func showing(_ query: Query) -> User {
    guard let shown = query.showing else { return self }
    let names = Set(shown + query.sortedBy.map(\.attribute))
    return User(id: id, storedValues: storedValues.filter { names.contains($0.key) })
  }
}
