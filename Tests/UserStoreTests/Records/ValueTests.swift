import Testing

@testable import UserStore

/// The types and limits of values, and which of them differ.
@Suite(.bounded, .serialized) struct ValueTests {
  let store: UserStore
  let zoe: User.ID
  let sets = Recorder<[String]>()

  init() throws {
    store = try UserStore.forTests()
    zoe = try store.write { try $0.add(name: "Zoë") }
    store.listeners.bind("test", to: .everything) { [sets] in sets.record($0.lines) }
  }

  private func roundTrip<Value: AttributeValue & Equatable>(_ value: Value, _ type: Value.Type = Value.self) throws {
    let attribute = Attribute<Value>("x")
    try store.write { try $0.set(attribute, of: zoe, to: value) }
    #expect(try store.read { try $0.value(attribute, of: zoe) } == value)
    #expect(try store.read { try $0.user(zoe)?[attribute] } == value)
  }

  @Test func `values of each type are read back unchanged`() throws {
    for integer in [Int64.min, -1, 0, 1, Int64.max] { try roundTrip(integer) }
    for real in [-Double.infinity, -1.5, .leastNonzeroMagnitude, 0, .greatestFiniteMagnitude, .infinity] {
      try roundTrip(real)
    }
    for text in ["", "a\u{0}b", "007", "\u{10FFFF}", "e\u{308}"] { try roundTrip(text) }
    for bytes in [[], [0], Array(0...255)] as [[UInt8]] { try roundTrip(bytes) }
    try roundTrip(true)
    try roundTrip(false)
    try roundTrip(Int.max)
    try roundTrip(Color(red: 0, green: 1, blue: 255))
  }

  @Test func `minus zero is stored as zero, and NaN is refused`() throws {
    let real = Attribute<Double>("real")
    try store.write { try $0.set(real, of: zoe, to: -0.0) }
    #expect(try store.read { try $0.value(real, of: zoe) }?.sign == .plus)
    #expect(try !store.write { try $0.update(real.name, of: zoe, to: .real(0.0)) })
    #expect(code { try store.write { try $0.set(real, of: zoe, to: .nan) } } == .badValue)
  }

  @Test func `from decomposed to composed text is a change`() throws {
    try store.write { try $0.rename(zoe, to: "e\u{308}") }
    try store.write { try $0.rename(zoe, to: "\u{EB}") }
    try store.write { try $0.rename(zoe, to: "\u{EB}") }
    #expect(sets.count == 2)
  }

  @Test func `from the integer 1 to the real 1 is a change`() throws {
    try store.write { try $0.set("x", of: zoe, to: .integer(1)) }
    #expect(try store.write { try $0.update("x", of: zoe, to: .real(1)) })
    #expect(try !store.write { try $0.update("x", of: zoe, to: .real(1)) })
    #expect(sets.all == [["updated 1 x - 1"], ["updated 1 x 1 1.0"]])
  }

  @Test func `a value of a megabyte is stored and delivered`() throws {
    let bytes = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let blob = Attribute<[UInt8]>("blob")
    let received = Recorder<Int>()
    store.listeners.bind("blob", to: .attribute(blob)) { received.record(try $0.changes[0].new(blob)?.count ?? 0) }
    try store.write { try $0.set(blob, of: zoe, to: bytes) }
    #expect(try store.read { try $0.value(blob, of: zoe) } == bytes)
    #expect(received.all == [1 << 20])
  }

  @Test func `a value of 16 MiB is accepted, one more byte is refused`() throws {
    let blob = Attribute<[UInt8]>("blob")
    try store.write { try $0.set(blob, of: zoe, to: Array(repeating: 1, count: 1 << 24)) }
    #expect(
      code { try store.write { try $0.set(blob, of: zoe, to: Array(repeating: 1, count: 1 << 24 + 1)) } } == .badValue)
  }

  @Test func `the error for a value of another type names user and attribute, and other values are readable`() throws {
    try store.write { transaction throws in
      try transaction.set("age", of: zoe, to: .text("old"))
      try transaction.set("ok", of: zoe, to: .integer(1))
    }
    let user = try #require(try store.read { try $0.user(zoe) })
    let error = #expect(throws: StoreError.self) { try user[.age] }
    #expect(error?.code == .undecodable)
    #expect(error?.message == "the age of user \(zoe) is not of type Int")
    #expect(try user[Attribute<Bool>("ok")] == true)
    #expect(code { _ = try store.listenable(.age, of: zoe) } == .undecodable)
  }

  @Test func `attributes whose names differ only in their bytes are two attributes`() throws {
    let (composed, decomposed) = (Attribute<Int>("caf\u{E9}"), Attribute<Int>("cafe\u{301}"))
    try store.write { users in
      try users.set(composed, of: zoe, to: 1)
      try users.set(decomposed, of: zoe, to: 2)
    }
    let user = try #require(try store.read { try $0.user(zoe) })
    #expect(try user[composed] == 1)
    #expect(try user[decomposed] == 2)
    #expect(user.storedValues.sorted { $0.key < $1.key }.map(\.value) == [.integer(2), .integer(1), .text("Zoë")])
    #expect(user.storedValues.keys.sorted().map { $0.text.utf8.count } == [6, 5, 4])
  }

  @Test func `a Double can be an integer that it represents exactly, a Bool only 0 or 1, and an Int never a real`() {
    #expect(Double(storedValue: .integer(3)) == 3)
    #expect(Double(storedValue: .integer(Int64.max)) == nil)
    #expect(Bool(storedValue: .integer(2)) == nil)
    #expect(Int(storedValue: .real(1)) == nil)
    #expect(String(storedValue: .blob([65])) == nil)
    #expect(Color(storedValue: .text("red")) == nil)
  }

  @Test(arguments: [("#A52A2A", "#a52a2a"), ("Auburn", "#a52a2a"), ("white", "#ffffff")])
  func `a color is read from a name or hexadecimal digits in any case`(_ text: String, _ stored: String) {
    #expect(Color(text)?.description == stored)
  }

  @Test func `the sixteen colors of HTML have only the parts 00, 80, C0 and FF, and no two are the same`() throws {
    let names = [
      "aqua", "black", "blue", "fuchsia", "gray", "green", "lime", "maroon", "navy", "olive", "purple", "red", "silver",
      "teal", "white", "yellow",
    ]
    let colors = try names.map { try #require(Color($0)) }
    #expect(Set(colors).count == 16 && Set(names).isSubset(of: Color.names))
    for color in colors {
      #expect(Set([color.red, color.green, color.blue]).isSubset(of: [0, 0x80, 0xC0, 0xFF]), "\(color)")
    }
  }

  @Test(arguments: [
    "", "#", "#12345", "#1234567", "#12 456", "#+12345", "a52a2a", "mauve-ish", "#１２３４５６", "blac\u{212A}",
  ])
  func `other text is not a color`(_ text: String) {
    #expect(Color(text) == nil)
  }
}
