import Testing

@testable import UserStore

/// Conditions and queries as values: what they mean, and which are refused.
@Suite(.bounded, .serialized) struct QueryTests {
  let store: UserStore

  init() throws {
    store = try UserStore.forTests()
    try store.write { users in
      let nix = try users.add(name: "NIX", hairColor: UserStore.Color("auburn"))
      try users.set(.age, of: nix, to: 36)
      try users.set("note", of: nix, to: .text("100%"))
      let zoe = try users.add(name: "Zoë")
      try users.set(.age, of: zoe, to: 18)
      _ = try users.add(name: "Ann")
      // As other programs can.
      try users.session.insert("age", of: users.add(name: "five"), .text("5"))
    }
  }

  private func names(_ condition: Condition) throws -> [String] {
    try store.read { try $0.users(matching: Query(where: condition)).map { try $0.name } }
  }

  @Test func `a condition knows its attributes`() {
    #expect(Condition.always.attributes.isEmpty)
    let some = Condition.isOneOf(.id, [.integer(1)]) && !(.exists("note") || Condition("age", .greater, .integer(1)))
    #expect((some || Condition(.name, .equal, .null)).attributes == [.id, "note", "age", .name])
  }

  private func code(_ query: Query) -> StoreError.Code? { UserStoreTests.code { try ids(query) } }

  private func ids(_ query: Query) throws -> [Int64] {
    try store.read { try $0.ids(matching: query).map(\.rawValue) }
  }

  @Test func `typed conditions are two-valued, and hold only within a class`() throws {
    let note = Attribute<String>("note")
    let cases: [(Condition, [String])] = [
      (.age >= 18, ["NIX", "Zoë"]), (!(.age >= 18), ["Ann", "five"]), (.age != 18, ["NIX", "Ann", "five"]),
      (.age == nil, ["Ann"]), (.age != nil, ["NIX", "Zoë", "five"]), (Attribute<Double>("age") == 18.0, ["Zoë"]),
      (Attribute<String>("age") == "5", ["five"]), (Attribute<Int>.age.isIn(18..<36), ["Zoë"]),
      (Attribute<Int>.age.isIn(18...36), ["NIX", "Zoë"]), (Attribute<Int>.age.isOneOf([36, 5]), ["NIX"]),
      (Attribute<Int>.age.isOneOf([]), []), (Attribute.name.hasPrefix("Zo"), ["Zoë"]), (.name < "Z", ["NIX", "Ann"]),
      (Attribute.name.contains("I"), ["NIX"]), (note.contains("%"), ["NIX"]), (note.hasPrefix("_"), []),
      (note.hasPrefix(""), ["NIX"]), (note.contains(""), ["NIX"]), (.hairColor == UserStore.Color("auburn"), ["NIX"]),
      (.age == 36 && .name == "NIX" || .name == "Ann", ["NIX", "Ann"]), (!(.age == 36 || .age == 18), ["Ann", "five"]),
      (.always, ["NIX", "Zoë", "Ann", "five"]), (!.always, []), (Attribute<Int>("nobody") >= 0, []),
      (Condition("id", .greater, .integer(2)), ["Ann", "five"]), (Condition("id", .equal, .text("2")), []),
      (Condition("id", .less, .real(2.5)), ["NIX", "Zoë"]), (.exists("id"), ["NIX", "Zoë", "Ann", "five"]),
    ]
    for (condition, expected) in cases { #expect(try names(condition) == expected, "\(condition)") }
  }

  @Test func `numbers are compared exactly, also beyond the integers`() throws {
    let ages: [StoredValue] = [
      .integer(.min), .integer(0), .integer(1 << 53 + 1), .integer(.max), .real(-.infinity), .real(-1e300), .real(0.5),
      .real(0x1p53), .real(0x1p63), .real(.infinity),
    ]
    try store.write { users in
      for age in ages { try users.session.insert("number", of: users.add(name: "n"), age) }
    }
    let users = try store.read { try $0.users() }
    for value in ages + [.real(-0x1p63), .real(1e300)] {
      for comparison in [.equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual] as [Condition.Comparison] {
        let condition = Condition("number", comparison, value)
        let expected = users.filter { condition.isTrue(of: $0) }.map(\.id.rawValue)
        #expect(try ids(Query(where: condition)) == expected, "\(condition)")
      }
    }
  }

  @Test func `parts of text are found by their bytes, also within characters`() throws {
    let texts: [StoredValue] = [
      .text("\u{E9}"), .text("e\u{301}"), .text("a\u{0}b"), .text("a\u{10FFFF}x"), .invalidText([0x61, 0xFF, 0x62]),
      .invalidText([0xFF, 0xFF]),
    ]
    try store.write { users in
      for text in texts { try users.session.insert("text", of: users.add(name: "t"), text) }
    }
    let parts: [StoredValue] =
      [.text("a"), .text("e"), .text("\u{10FFFF}"), .text("a\u{10FFFF}"), .text("\u{0}b"), .text("a\u{0}")]
      + [[0xC3], [0xA9], [0xCC, 0x81], [0xFF], [0x61, 0xFF], [0xFF, 0xFF], [0xFF, 0xFF, 0xFF], [0xBF, 0x78]].map {
        .invalidText($0)
      }
    let users = try store.read { try $0.users() }
    for part in parts {
      for comparison in [.startsWith, .contains] as [Condition.Comparison] {
        let condition = Condition("text", comparison, part)
        #expect(try ids(Query(where: condition)) == users.filter { condition.isTrue(of: $0) }.map(\.id.rawValue))
      }
    }
    #expect(try ids(Query(where: Condition("text", .contains, .invalidText([0xA9])))) == [5])
    #expect(try ids(Query(where: Condition("text", .startsWith, .invalidText([0x61, 0xFF])))) == [9])
    #expect(try ids(Query(where: Condition("text", .startsWith, .invalidText([0xFF])))) == [10])
  }

  @Test func `letters are found in both cases, by one rule in memory and in the database`() throws {
    let texts: [StoredValue] = [
      .text("Zoë Ö"), .text("ZOË ö"), .text("zoe"), .text("Zoe\u{308}"), .text("Straße"), .text("STRASSE"), .text("İı"),
      .text("iI"), .text("ΝΊΚΟΣ"), .text("Νίκος"), .text("Ⱥⱥ"), .text("Ǆǅǆ"), .text("k\u{212A}ſs"),
      .text("Ж\u{0}ж%_\\"),
      .invalidText([0xFF] + Array("ZOË".utf8) + [0xC3]), .invalidText([0x4B, 0x8B, 0xC3, 0xAB]), .integer(5),
      .blob(Array("zoë".utf8)),
    ]
    try store.write { users in
      for text in texts { try users.session.insert("text", of: users.add(name: "t"), text) }
    }
    let cases: [(String, [Int64])] = [
      ("zoË", [1, 2, 15]), ("ZOE", [3, 4]), ("ß", [5]), ("ss", [6]), ("i", [8]), ("ı", [7]), ("ί", [9, 10]), ("Σ", [9]),
      ("ςς", []), ("ⱥȺ", [11]), ("ǆǅ", [12]), ("K", [13, 16]), ("\u{212A}ſS", [13]), ("\u{212A}\u{212A}", []),
      ("ж\u{0}Ж", [14]), ("ж%_\\", [14]), ("Öö", []), ("ë ö", [1, 2]), ("5", []), ("", Array(1...16)),
    ]
    let users = try store.read { try $0.users() }
    for (part, expected) in cases {
      let condition = Attribute<String>("text").contains(part, ignoringCase: true)
      #expect(try ids(Query(where: condition)) == expected.map { $0 + 4 }, "\(part)")
      #expect(users.filter { condition.isTrue(of: $0) }.map(\.id.rawValue) == expected.map { $0 + 4 }, "\(part)")
    }
    // A value that is not valid UTF-8 is compared byte by byte.
    for part in [[0xC3], [0x8B, 0xC3, 0xAB], [0x8B, 0xC3, 0x8B]] as [[UInt8]] {
      let condition = Condition("text", .containsIgnoringCase, .invalidText(part))
      let bytes = Condition("text", .contains, .invalidText(part))
      #expect(try ids(Query(where: condition)) == ids(Query(where: bytes)))
    }
    #expect(try names(Attribute.name.contains("nI", ignoringCase: true)) == ["NIX"])
    let letters = String(String.UnicodeScalarView((0x10A0...0x10C5).compactMap(Unicode.Scalar.init)))
    #expect(try names(Attribute.name.contains(String(repeating: letters, count: 5), ignoringCase: true)) == [])
    let long = Attribute.name.contains(String(repeating: "ä", count: 201), ignoringCase: true)
    #expect(code(Query(where: long)) == .badValue)
  }

  @Test func `a query sorts, pages, and shows what it says`() throws {
    let query = Query(sortedBy: [.descending(Attribute<Int>.age)], limit: 2, showing: ["note", "id", "note"])
    let first = try store.read { try $0.users(matching: query) }
    #expect(first.map(\.id) == [User.ID(4), User.ID(1)])
    #expect(first[1].storedValues == ["age": .integer(36), "note": .text("100%")])
    let last = try #require(first.last)
    #expect(try ids(query.after(last)) == [2, 3])
    #expect(try ids(Query(sortedBy: [SortKey("id", descending: true)])) == [4, 3, 2, 1])
    #expect(try ids(Query(sortedBy: [.ascending(Attribute<Int>.age)])) == [3, 2, 1, 4])
    #expect(try ids(Query(sortedBy: [.ascending(Attribute<Int>.age, missingLast: true)])) == [2, 1, 4, 3])
  }

  @Test func `what is tested first changes no result`() throws {
    let first: [Condition] = [
      .isOneOf("id", [.integer(1), .integer(4)]), .age == 18, .isOneOf("id", [.integer(1)]) || .age == 18, .always,
      !.always, Attribute<Int>.age.exists || Attribute.hairColor.exists,
    ]
    let others: [Condition] = [
      .always, .name > "A", .age >= 18, !Attribute<Int>.age.exists,
      .hairColor == UserStore.Color("auburn") || .age == 18,
      Condition("note", .contains, .text("%")), Condition("id", .less, .integer(4)),
    ]
    let orders: [[SortKey]] = [
      [], [.ascending(.name)], [.descending(Attribute<Int>.age), .ascending(.hairColor)],
      [SortKey("note", missingLast: true)],
    ]
    try store.read { users in
      for first in first {
        for other in others {
          let place: Comment = "\(first) \(other)"
          #expect(try users.count(where: other && first.testedFirst) == users.count(where: first && other), place)
          for order in orders {
            var (query, plain) = (Query(sortedBy: order, limit: 2), Query(sortedBy: order, limit: 2))
            (query.where, plain.where) = (first.testedFirst && other, first && other)
            var found = try users.users(matching: plain)
            #expect(try users.users(matching: query) == found, place)
            while let last = found.last {
              found = try users.users(matching: plain.after(last))
              #expect(try users.users(matching: query.after(last)) == found, place)
            }
          }
        }
      }
    }
  }

  @Test func `an iteration ends when its closure returns false or throws, and can read in a write`() throws {
    struct Enough: Error {}
    var seen: [User.ID] = []
    try store.write { users in
      try users.iterateUsers(matching: Query(limit: 3)) { user in
        seen.append(user.id)
        return seen.count < 2
      }
      #expect(seen == [User.ID(1), User.ID(2)])
      #expect(throws: Enough.self) { try users.forEachUser(matching: Query()) { _ in throw Enough() } }
      try users.set(.age, of: User.ID(3), to: 36)
      #expect(try users.count(where: .age == 36) == 2)
      #expect(try users.indexes == [])
    }
  }

  @Test func `queries that cannot be run are refused`() throws {
    for limit in [0, -1, .min] { #expect(code(Query(limit: limit)) == .badValue) }
    let nan = Condition("age", .less, .real(.nan))
    #expect(code(Query(where: nan)) == .badValue)
    #expect(code(Query(where: !(.always && nan))) == .badValue)
    #expect(code(Query(where: .isOneOf("age", [.integer(1), .real(.nan)]))) == .badValue)
    #expect(UserStoreTests.code { try store.read { try $0.count(where: nan) } } == .badValue)
    for name in ["", "a\u{0}b", AttributeName(String(repeating: "x", count: 201))] {
      #expect(code(Query(where: .exists(name))) == .badValue)
      #expect(code(Query(where: Condition(name, .equal, .integer(1)))) == .badValue)
      #expect(code(Query(sortedBy: [SortKey(name)])) == .badValue)
      #expect(code(Query(showing: [name])) == .badValue)
    }
    let sorted = Query(sortedBy: [SortKey("age")])
    for values in [[], [.null, .null], [.real(.nan)]] as [[StoredValue]] {
      #expect(code(sorted.after(Query.Position(values: values, id: User.ID(1)))) == .badValue)
    }
  }

  /// A condition of `count` parts that are nested `depth` times.
  private func nested(_ depth: Int, _ make: (Condition.Node) -> Condition.Node) -> Condition {
    Condition((0..<depth).reduce(Condition.Node.exists("age")) { node, _ in make(node) })
  }

  @Test func `the largest conditions can be run, and larger ones are refused`() throws {
    let one = Condition.Node.comparison("age", .greater, .integer(17))
    let values = (0..<Limits.queryValues).map { StoredValue.integer(Int64($0)) }
    #expect(try ids(Query(where: .isOneOf("age", values))) == [1, 2])
    #expect(code(Query(where: .isOneOf("age", values + [.integer(0)]))) == .badValue)

    let parts = Limits.conditionParts
    let prefixes = (0..<parts).map { Condition.Node.comparison("n\($0)", .startsWith, .text("x")) }
    for node in [.all(Array(repeating: one, count: parts)), .any([one] + prefixes.dropLast())] as [Condition.Node] {
      #expect(try ids(Query(where: Condition(node))) == [1, 2])
    }
    #expect(try ids(Query(where: Condition(.all(prefixes)))) == [])
    #expect(code(Query(where: Condition(.all(Array(repeating: one, count: parts + 1))))) == .badValue)
    let long = (0..<parts).map { number in
      let name = AttributeName("\(number)" + String(repeating: "'", count: 195))
      return Condition.Node.not(.comparison(name, .less, .text("x")))
    }
    #expect(try ids(Query(where: Condition(.all(long)))) == [1, 2, 3, 4])

    // The texts of all parts count, but only what is outside of ASCII.
    func caseless(_ texts: String...) -> Query {
      Query(where: Condition(.any(texts.map { .comparison("text", .containsIgnoringCase, .text($0)) })))
    }
    let half = String(repeating: "é", count: Limits.caselessLength / 2)
    #expect(try ids(caseless(half, "x" + half, String(repeating: "x", count: Limits.caselessLength))) == [])
    #expect(code(caseless(half, half, "é")) == .badValue)
    #expect(code(caseless(String(repeating: "x", count: Limits.caselessLength + 1))) == .badValue)

    let depth = Limits.conditionDepth
    let makes: [(Condition.Node) -> Condition.Node] = [
      { .not($0) }, { .all([one, $0]) }, { .any([.exists("nobody"), $0]) }, { .any([one, .not($0)]) },
      { .all([.exists("age"), .any([one, $0])]) },
    ]
    for (index, make) in makes.enumerated() {
      let step = index < 3 ? 1 : 2
      let condition = nested(depth / step, make)
      let users = try store.read { try $0.users() }
      #expect(
        try ids(Query(where: condition)) == users.filter { condition.isTrue(of: $0) }.map(\.id.rawValue), "\(index)")
      #expect(code(Query(where: nested(depth / step + 1, make))) == .badValue)
    }
  }

  @Test func `the longest orders and the most attributes to show can be run, and longer ones are refused`() throws {
    let keys = (0..<Limits.sortKeys).map { SortKey("k\($0)", descending: $0 % 2 == 0) }
    var query = Query(sortedBy: keys, showing: [])
    #expect(try ids(query) == [1, 2, 3, 4])
    query = query.after(Query.Position(values: keys.map { _ in .null }, id: User.ID(2)))
    #expect(try ids(query) == [3, 4])
    query = query.after(Query.Position(values: keys.map { _ in .integer(1) }, id: User.ID(2)))
    #expect(try ids(query).isEmpty == false)
    #expect(code(Query(sortedBy: keys + [SortKey("age")])) == .badValue)
    let shown = (0..<Limits.shownAttributes).map { AttributeName("s\($0)") }
    #expect(try ids(Query(showing: shown)) == [1, 2, 3, 4])
    #expect(try store.read { try $0.users(matching: Query(showing: shown)) }.first?.storedValues == [:])
    #expect(code(Query(showing: shown + ["age"])) == .badValue)
  }

  @Test func `a condition is unknown only if it depends on an unknown value`() {
    let known: [AttributeName: StoredValue] = ["t": .integer(1), "f": .integer(0)]
    func truth(_ node: Condition.Node) -> Bool? { node.truth { $0 == "u" ? nil : known[$0] ?? .null } }
    let (yes, no, unknown) = ("t", "f", "u") as (AttributeName, AttributeName, AttributeName)
    func test(_ name: AttributeName) -> Condition.Node { .comparison(name, .equal, .integer(1)) }
    #expect(truth(test(yes)) == true && truth(test(no)) == false && truth(test(unknown)) == nil)
    #expect(truth(.exists(unknown)) == nil && truth(.isOneOf(unknown, [])) == nil && truth(.exists("missing")) == false)
    #expect(truth(.not(test(unknown))) == nil && truth(.not(test(yes))) == false)
    #expect(truth(.all([test(unknown), test(no)])) == false && truth(.all([test(unknown), test(yes)])) == nil)
    #expect(truth(.any([test(unknown), test(yes)])) == true && truth(.any([test(unknown), test(no)])) == nil)
    #expect(truth(.all([])) == true && truth(.any([])) == false)
  }
}
