import TestSupport

/// Generates statements of foreign writers on the two tables, with all the clauses that SQLite has for them.
struct StepGenerator {
  var random: SplitMix64
  /// The rest of a sequence, to be run between other statements.
  private var planned: [Step] = []

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
  }

  mutating func next() -> Step {
    if !planned.isEmpty, !random.oneIn(4) { return planned.removeFirst() }
    if random.oneIn(20) { planned += sequence() }
    return single()
  }

  private mutating func single() -> Step {
    switch Int.random(in: 0..<43, using: &random) {
    case 42: note()
    case 40: computeUserKey()
    case 41: computeAttributeKey()
    case 0..<5: insertUsers()
    case 5, 6: upsertUsers()
    case 7: copyUsers()
    case 8, 9: updateUsers()
    case 10: changeUserKey()
    case 11: deleteUsers()
    case 12..<19: insertAttributes()
    case 19..<22: upsertAttributes()
    case 22, 23: copyAttributes()
    case 24..<27: updateAttributes()
    case 27, 28: changeAttributeKey()
    case 29, 30: deleteAttributes()
    case 31..<34: begin()
    case 34..<38: end()
    case 38: refused()
    default: maintenance()
    }
  }
}

// The parts of statements.
extension StepGenerator {
  mutating func orClause() -> String {
    random.choose("", "", "OR REPLACE", "OR REPLACE", "OR IGNORE", "OR FAIL", "OR ABORT", "OR ROLLBACK")
  }

  mutating func returning() -> String {
    random.oneIn(8) ? " RETURNING *" : ""
  }

  /// A key out of a few, so that conflicts are frequent, sometimes of another storage class, which SQLite converts or refuses.
  mutating func key() -> PlainValue {
    let key: Int64 = random.choose(1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 0, -1)
    return switch Int.random(in: 0..<40, using: &random) {
    case 0: .real(Double(key))
    case 1: .text(Array(String(key).utf8))
    case 2: random.choose("x", .real(0.5), .blob([0x31]), .integer(.min))
    default: .integer(key)
    }
  }

  mutating func keyOrNone() -> PlainValue {
    random.oneIn(4) ? .null : key()
  }

  mutating func userName() -> PlainValue {
    if random.oneIn(12) { return random.choose(.null, "", 1, .real(1.5), .blob([0x62])) }
    return random.choose("bob", "Bob", "al", "al\0", "al\0x", .text([0x61, 0xFF]), "\u{E9}", "e\u{301}")
  }

  mutating func hairColor() -> PlainValue {
    random.choose(.null, .null, "#ffffff", "#FFFFFF", "#000000", "", .text([0x23, 0xC0, 0x80]))
  }

  mutating func attributeName() -> PlainValue {
    if random.oneIn(25) { return random.choose(.null, "name", "id", "hair_color", .blob([0x61])) }
    return random.choose("a", "a", "a", "A", "b", "a\0", "Name", .text([0xFF]), 1)
  }

  /// Values that a careless comparison takes for equal.
  ///
  /// −0.0 is not among them: SQL cannot distinguish it from 0.0.
  mutating func attributeValue() -> PlainValue {
    if random.oneIn(20) { return .null }
    if random.oneIn(2) { return random.choose(1, .real(1), "1", "a", "A") }
    return random.choose(
      1, .real(1), "1", "1.0", .blob([0x31]), 0, .real(0), "0", "", .blob([]), .real(0.5), "a", "A", "a ", "a\0",
      "a\0b", .blob([0x61]), .text([0xFF]), .text([0xC3]), .blob([0xFF]), .integer(.max), .real(0x1p63), .integer(.min),
      .real(.infinity), "007", 7)
  }

  mutating func rows(_ row: (inout StepGenerator) -> [PlainValue]) -> (sql: String, values: [PlainValue]) {
    let rows = (0..<Int.random(in: 1...3, using: &random)).map { _ in row(&self) }
    let sql = rows.map { "(\($0.map { _ in "?" }.joined(separator: ", ")))" }
    return (sql.joined(separator: ", "), rows.flatMap(\.self))
  }
}
