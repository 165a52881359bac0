import Testing

@testable import UserStore

/// Writing all attributes of a record at once, as imports do.
@Suite(.bounded, .serialized) struct WholeRecordTests {
  let store: UserStore
  let zoe: User.ID

  init() throws {
    store = try UserStore.forTests()
    zoe = try store.write { transaction throws in
      try transaction.add([("name", .text("Zoë")), ("hair_color", .text("#A52A2A")), ("age", .integer(7))])
    }
  }

  private var values: [AttributeName: StoredValue]? {
    get throws { try store.read { try $0.user(zoe)?.storedValues } }
  }

  @Test func `a record is stored with every attribute except those that are null`() throws {
    #expect(try values == ["name": .text("Zoë"), "hair_color": .text("#a52a2a"), "age": .integer(7)])
    let other = try store.write { transaction throws in
      try transaction.add([("age", .null), ("name", .text("x")), ("note", .blob([0]))])
    }
    #expect(try store.read { try $0.user(other)?.storedValues } == ["name": .text("x"), "note": .blob([0])])
  }

  @Test func `an id can be chosen, also that of a removed user, and new ids follow it`() throws {
    let chosen = try store.write { try $0.add([("name", .text("x"))], as: User.ID(40)) }
    #expect(chosen == User.ID(40))
    #expect(try store.write { try $0.add(name: "y") } == User.ID(41))
    try store.write { transaction throws in
      try transaction.remove(zoe)
      try transaction.add([("name", .text("Zoë"))], as: zoe)
    }
    #expect(try values == ["name": .text("Zoë")])
  }

  @Test func `an id that is in use is a conflict, and one out of range is refused`() throws {
    #expect(code { try store.write { try $0.add([("name", .text("x"))], as: zoe) } } == .conflict)
    for id in [.max, (1 << 62) + 1] as [Int64] {
      #expect(code { try store.write { try $0.add([("name", .text("x"))], as: User.ID(id)) } } == .badValue)
    }
    #expect(try store.read { try $0.count() } == 1)
  }

  @Test func `an id that only other programs assign can be chosen, and new ids do not follow it`() throws {
    let ids = [0, -1, -7, .min] as [Int64]
    try store.write { transaction throws in
      for id in ids { try transaction.add([("name", .text("x")), ("age", .integer(id))], as: User.ID(id)) }
    }
    for id in ids { #expect(try store.read { try $0.storedValue("age", of: User.ID(id)) } == .integer(id)) }
    #expect(try store.write { try $0.add(name: "next") } == User.ID(zoe.rawValue + 1))
  }

  @Test func `setting several attributes returns whether anything changed, and does not change the others`() throws {
    try store.write { transaction throws in
      #expect(try transaction.update([("age", .null), ("note", .text("n"))], of: zoe))
      #expect(try !transaction.update([("age", .null), ("note", .text("n"))], of: zoe))
    }
    #expect(try values == ["name": .text("Zoë"), "hair_color": .text("#a52a2a"), "note": .text("n")])
    #expect(code { try store.write { try $0.set([("age", .integer(1))], of: User.ID(99)) } } == .userNotFound)
  }

  /// The bad value is the last of each record, so that those before it would have been written.
  private static let bad: [[(attribute: AttributeName, value: StoredValue)]] = [
    [("name", .text("x")), ("age", .integer(1)), ("name", .text("y"))],
    [("name", .text("x")), ("note", .text("")), ("age", .real(.nan))],
    [("name", .text("x")), ("age", .integer(1)), ("hair_color", .text("mauve-ish"))],
    [("name", .text("x")), ("note", .invalidText([0xFF]))],
    [("name", .text("x")), ("age", .integer(1)), ("id", .integer(1))],
    [("age", .integer(1)), ("name", .text(""))],
  ]

  @Test func `a record that is refused leaves nothing behind, and the write continues`() throws {
    let before = try values
    try store.write { transaction throws in
      for values in Self.bad {
        #expect(code { try transaction.add(values) } == .badValue, "\(values)")
        #expect(code { try transaction.set(values, of: zoe) } == .badValue, "\(values)")
      }
      #expect(code { try transaction.add([("age", .integer(1))]) } == .badValue)
      #expect(try transaction.pendingChanges.isEmpty)
      try transaction.add([("name", .text("next"))])
    }
    #expect(try values == before)
    #expect(try store.read { try $0.count() } == 2)
  }

  @Test func `the composed and the decomposed form of an attribute's name are two attributes`() throws {
    try store.write { try $0.set([("e\u{301}", .integer(1)), ("\u{E9}", .integer(2))], of: zoe) }
    #expect(try store.read { try $0.attributeNames }.map { $0.text.utf8.count } == [3, 3, 2])
  }
}
