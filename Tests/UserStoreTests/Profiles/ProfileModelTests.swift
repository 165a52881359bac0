import TestSupport
import Testing

@testable import UserStore

/// Random structs and changes, with a profile that follows them and a model of what is stored.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ProfileModelTests {
  /// Values of every form.
  struct Record: UserStore.Profile, Equatable {
    var name = "Zoë"
    var count = 0
    var ratio = 1.5
    var flag: Bool?
    var role = Role.member
    var bytes: [UInt8]?
    var tags: [String] = []
    var limits: [String: Double]?
    var address: Address?
    var tree: [[Int?]]?

    static let defaults: Record? = Record()

    static func random(_ random: inout SplitMix64) -> Record {
      var record = Record()
      for _ in 0..<10 { record.change(&random) }
      return record
    }

    mutating func change(_ random: inout SplitMix64) {
      let number = Int.random(in: -2...2, using: &random)
      let text = random.choose("", "a", "é", "e\u{301}", "\"\\\n\u{0}\u{202E}", "👨‍👩‍👧", "{}", "null", "1")
      switch Int.random(in: 0..<10, using: &random) {
      case 0: name = "Zoë \(number)"
      case 1: count = random.choose(0, number, .max, .min)
      case 2: ratio = random.choose(1.5, Double(number), 1e300, 0.1, .infinity)
      case 3: flag = random.choose(nil, true, false)
      case 4: role = random.choose(.member, .admin)
      case 5: bytes = random.choose(nil, [], [0, 255])
      case 6: tags = random.choose([], [text], [text, "b"])
      case 7: limits = random.choose(nil, [:], [text: Double(number), "b": 0.1])
      case 8: address = random.choose(nil, Address(street: text, zip: "1", floor: random.choose(nil, number)))
      default: tree = random.choose(nil, [], [[nil, number], []])
      }
    }
  }

  @Test(arguments: 0..<UInt64(Repetitions.count)) func `what is stored is what the model has`(index: UInt64) throws {
    let seed = Seed.base &+ index
    var random = SplitMix64(seed: seed)
    let store = try UserStore.forTests()
    var model = Record.random(&random)
    let id = try store.write { try $0.add(model) }
    let live = try store.listenable(Record.self, of: id)
    let received = Recorder<Record?>()
    live.bind("model") { received.record($0) }
    var rounds = 0
    for step in 0..<200 {
      let old = model
      for _ in 0..<random.choose(0, 1, 1, 3) { model.change(&random) }
      let before = try #require(try store.user(id)).storedValues
      switch random.choose(0, 0, 1, 2, 3) {
      case 0: try store.write { try $0.update(Record.self, of: id) { $0 = model } }
      case 1: try store.write { try $0.save(model, over: old, of: id) }
      case 2: try store.write { _ = try $0.update(Record.self, where: .always) { $0 = model } }
      default:
        model = old
        try store.write { try $0.set("foreign", of: id, to: .integer(Int64(step))) }
      }
      // Only what differs is written: the same bytes are there otherwise.
      let (oldForm, newForm) = (try old.encodedAttributes(), try model.encodedAttributes())
      var expected = before
      for key in Set(oldForm.keys).union(newForm.keys) where oldForm[key] ?? .null != newForm[key] ?? .null {
        expected[key] = newForm[key] ?? .null
      }
      let after = try #require(try store.user(id)).storedValues
      expected["foreign"] = after["foreign"]
      #expect(after == expected.filter { !$0.value.isNull }, "seed \(seed), step \(step)")
      if oldForm.differences(from: newForm).count > 0 { rounds += 1 }
      #expect(try store.profile(Record.self, of: id) == model, "seed \(seed), step \(step)")
      #expect(live.value == model && received.count == rounds, "seed \(seed), step \(step)")
      if before != after, random.oneIn(10) {
        try store.write { try $0.undo() }
        model = old
        if oldForm.differences(from: newForm).count > 0 { rounds += 1 }
        #expect(live.value == model && received.count == rounds, "seed \(seed), step \(step)")
      }
    }
    let copy = try store.write { try $0.add(model) }
    #expect(try store.profile(Record.self, of: copy) == model, "seed \(seed)")
  }
}
