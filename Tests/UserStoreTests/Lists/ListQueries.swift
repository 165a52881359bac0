import TestSupport

@testable import UserStore

/// Random queries on a few attributes with few values, so that users often meet a condition, and are often equal.
struct ListQueries {
  static let attributes: [AttributeName] = ["name", "hair_color", "age", "city", "note"]

  var random: SplitMix64

  mutating func query() -> Query {
    var query = Query(
      where: condition(depth: 2), sortedBy: order(),
      limit: random.oneIn(2) ? nil : random.choose(1, 2, 3, 5, 8, 20),
      showing: random.oneIn(2) ? nil : Self.attributes.filter { _ in random.oneIn(2) })
    if random.oneIn(4) {
      let values = query.sortedBy.map { value(of: $0.attribute) }
      query = query.after(Query.Position(values: values, id: User.ID(Int64.random(in: 0..<30, using: &random))))
    }
    return query
  }

  mutating func condition(depth: Int) -> Condition {
    let attribute = self.attribute()
    let value = self.value(of: attribute)
    switch random.choose(0, 0, 0, 1, 2, 3, 4, 4, 5, 6) {
    case 1: return .isOneOf(attribute, [value, self.value(of: attribute)])
    case 2: return .exists(attribute)
    case 3: return .always
    case 4 where depth > 0: return condition(depth: depth - 1) && condition(depth: depth - 1)
    case 5 where depth > 0: return condition(depth: depth - 1) || condition(depth: depth - 1)
    case 6 where depth > 0: return !condition(depth: depth - 1)
    default:
      let comparisons = Condition.Comparison.allCases
      let comparison = random.oneIn(3) ? .equal : comparisons[Int.random(in: 0..<comparisons.count, using: &random)]
      return Condition(attribute, comparison, value)
    }
  }

  private mutating func order() -> [SortKey] {
    var keys: [SortKey] = []
    for _ in 0..<random.choose(0, 1, 1, 2) {
      let key = key()
      if !keys.contains(where: { $0.attribute == key.attribute }) { keys.append(key) }
    }
    return keys
  }

  private mutating func key() -> SortKey {
    SortKey(attribute(), descending: random.oneIn(3), missingLast: random.oneIn(3))
  }

  /// Adds, changes or removes one of the first users.
  mutating func change(_ transaction: inout WriteTransaction) throws {
    let ids = try transaction.ids(matching: Query(limit: 25))
    let attribute = Self.attributes[Int.random(in: 0..<5, using: &random)]
    guard ids.count > 5, let id = ids.randomElement(using: &random), !random.oneIn(4) else {
      let user = try transaction.add(name: random.choose("Ann", "Zoë"))
      return try transaction.set(attribute, of: user, to: attribute == .name ? .text("Zo") : value(of: attribute))
    }
    if random.oneIn(4) {
      _ = try transaction.remove(id)
    } else {
      try transaction.set(attribute, of: id, to: value(of: attribute))
    }
  }

  mutating func attribute() -> AttributeName {
    random.oneIn(20) ? "id" : Self.attributes[Int.random(in: 0..<Self.attributes.count, using: &random)]
  }

  /// A value that the library can store in the attribute, or null for one that can be unset.
  mutating func value(of attribute: AttributeName) -> StoredValue {
    switch attribute {
    case "id": .integer(Int64.random(in: 0..<30, using: &random))
    case .name: .text(random.choose("Ann", "Zoë", "Zoe", "佐江", "Zo"))
    case .hairColor: random.choose(.null, .text("#000000"), .text("#a52a2a"))
    case "city": random.choose(.null, .text("Ulm"), .text("Oslo"), .text(""), .integer(1), .blob([0x55]))
    case "note": random.choose(.null, .text("a"), .text("1"), .integer(1), .real(1.5), .blob([]), .blob([0, 255]))
    default: random.choose(.null, .integer(17), .integer(18), .real(18), .real(18.5), .integer(40), .text("18"))
    }
  }
}

extension Query {
  /// The users of a query, by a plain search through all users, with the attributes that it shows.
  func evaluated(on users: [User]) -> [User] {
    let names = showing.map { Set($0 + sortedBy.map(\.attribute)) }
    return select(from: users).map { user in
      User(id: user.id, storedValues: user.storedValues.filter { names?.contains($0.key) ?? true })
    }
  }
}
