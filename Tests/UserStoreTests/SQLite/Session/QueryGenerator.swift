import TestSupport

@testable import UserStore

/// Random users, conditions, and orders, with values that are alike, and such as only other programs store.
struct QueryGenerator {
  private var random: SplitMix64

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
  }

  /// Names that SQLite or Swift may confuse, and one that no user has.
  static let attributes: [AttributeName] = [
    "age", "Age", "^age", "it's", "'\u{301}", "100%_?", "e\u{301}", "\u{E9}", "\"\u{301}", "nobody",
  ]
  static let columns: [AttributeName] = [.id, .name, .hairColor]

  static let texts: [StoredValue] =
    [
      "", "a", "ab", "abc", "b", "A", "\u{C9}", "1", "5", "e\u{301}", "\u{E9}", "a\u{0}", "a\u{0}b", "\u{7F}", "\u{80}",
      "\u{D7FF}", "\u{E000}", "\u{10FFFF}", "a\u{10FFFF}", "\u{10FFFF}\u{10FFFF}", "%", "_", "'",
    ].map { .text($0) }
    + [[0xFF], [0xFF, 0x41], [0x61, 0xFF], [0x61, 0xFF, 0xFF], [0x80], [0xA9], [0xC3], [0xF4, 0x8F, 0xBF, 0xC0]].map {
      .invalidText($0)
    }
  static let numbers: [StoredValue] =
    [-1, 0, 1, 2, 5, 1 << 53, 1 << 53 + 1, .max - 1, .max, .min].map { .integer($0) }
    + [-0.0, 0, 0.5, 1, 1.5, 5, 0x1p53, 0x1p63, -0x1p63, .infinity, -.infinity, .leastNonzeroMagnitude].map {
      .real($0)
    }
  static let blobs: [StoredValue] = [[], [0], [0x61], [0x61, 0x62], [0xFF], [0xFF, 0xFF]].map { .blob($0) }

  mutating func oneIn(_ count: Int) -> Bool { random.oneIn(count) }
  mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
  private mutating func one<Element>(of elements: [Element]) -> Element { elements.randomElement(using: &random)! }

  mutating func text() -> StoredValue { one(of: Self.texts) }

  mutating func value() -> StoredValue {
    one(of: random.choose(Self.texts, Self.texts, Self.numbers, Self.numbers, Self.blobs))
  }

  mutating func attribute() -> AttributeName { one(of: oneIn(3) ? Self.columns : Self.attributes) }

  /// Stores users in the transaction.
  mutating func addUsers(_ count: Int, to session: any Session) throws {
    for _ in 0..<count {
      let id = try session.insertUser(nil, name: text(), hairColor: oneIn(3) ? .null : text())
      for attribute in Self.attributes.dropLast() where !oneIn(3) {
        // Few values, so that many users have the same.
        try session.insert(attribute, of: id, oneIn(2) ? value() : one(of: [.integer(1), .real(1), .text("a")]))
      }
    }
  }

  /// A value to compare with: also null, and often an identifier.
  private mutating func operand(for attribute: AttributeName) -> StoredValue {
    if oneIn(20) { return .null }
    return attribute == .id && oneIn(2) ? .integer(Int64(number(0...30))) : value()
  }

  /// Some of the bytes of a text.
  private mutating func partOfText() -> StoredValue {
    let bytes = text().textBytes
    let ends = [number(0...bytes.count), number(0...bytes.count)].sorted()
    let part = Array(bytes[ends[0]..<ends[1]])
    return String(validating: part, as: UTF8.self).map { .text($0) } ?? .invalidText(part)
  }

  mutating func condition(depth: Int = 0) -> Condition {
    switch number(depth < 4 ? 0...9 : 0...5) {
    case 0: return .exists(attribute())
    case 1:
      let attribute = attribute()
      return .isOneOf(attribute, (0..<number(0...4)).map { _ in operand(for: attribute) })
    case 2...5:
      let attribute = attribute()
      let comparison = one(of: Condition.Comparison.allCases)
      let isOfText = [.startsWith, .contains, .containsIgnoringCase].contains(comparison)
      return Condition(attribute, comparison, isOfText && !oneIn(4) ? partOfText() : operand(for: attribute))
    case 6: return !condition(depth: depth + 1)
    case 7: return Condition(.any((0..<number(0...3)).map { _ in condition(depth: depth + 1).node }))
    default: return Condition(.all((0..<number(0...3)).map { _ in condition(depth: depth + 1).node }))
    }
  }

  mutating func order() -> [SortKey] {
    var keys: [SortKey] = []
    for _ in 0..<number(0...3) {
      let key = SortKey(attribute(), descending: oneIn(2), missingLast: oneIn(2))
      if !keys.contains(where: { $0.attribute == key.attribute }) { keys.append(key) }
    }
    return keys
  }

  mutating func position(_ order: [SortKey]) -> Query.Position {
    Query.Position(
      values: order.map { oneIn(4) ? .null : operand(for: $0.attribute) }, id: User.ID(Int64(number(0...40))))
  }

  mutating func shown() -> [AttributeName]? { oneIn(2) ? nil : (0..<number(0...3)).map { _ in attribute() } }
}

extension Query {
  /// Whether a place is before another in the order, compared in memory.
  func isBefore(_ left: Position, _ right: Position) -> Bool {
    for (key, (left, right)) in zip(sortedBy, zip(left.values, right.values)) {
      if left.isNull || right.isNull {
        if left.isNull && right.isNull { continue }
        return left.isNull != (key.missingLast || key.isDescending)
      }
      let order = left.order(to: right)
      if order != 0 { return (order < 0) != key.isDescending }
    }
    return left.id < right.id
  }

  /// The users of a query, selected and sorted in memory from all users.
  func select(from users: [User]) -> [User] {
    let found = users.filter { user in
      self.where.isTrue(of: user) && (start.map { isBefore($0, position(of: user)) } ?? true)
    }
    let sorted = found.sorted { isBefore(position(of: $0), position(of: $1)) }
    return Array(sorted.prefix(limit ?? .max))
  }
}
