import Testing

@testable import UserStore

/// Which live queries a change is given to.
@Suite(.bounded, .serialized) struct LiveIndexTests {
  private let store: UserStore

  init() throws { store = try UserStore.forTests() }

  private func query(_ ordinal: Int, _ condition: Condition, showing shown: [AttributeName]?) -> LiveQuery {
    LiveQuery(
      ListContent(Query(where: condition, showing: shown), reserve: 16), ordinal: ordinal,
      StateAccess(reader: store.reader, publication: store.publication), { _, _ in }, forget: { _ in false })
  }

  private let city = Attribute<String>("city")

  private func delta(_ attribute: AttributeName, _ old: StoredValue, _ new: StoredValue) -> UserDelta {
    var delta = UserDelta(User.ID(1))
    delta.add(
      Change(
        kind: .updated, user: User.ID(1), attribute: attribute, old: old, new: new, timestamp: 0, sequence: 1))
    return delta
  }

  private func found(_ index: LiveIndex, _ delta: UserDelta, city: StoredValue? = nil) -> [Int] {
    index.queries(for: [delta]) { places in
      city.map { city in Dictionary(uniqueKeysWithValues: places.map { ($0, city) }) } ?? [:]
    }.map(\.query.ordinal)
  }

  @Test func `attributes that the log does not mention are null for an added or removed user, else unknown`() {
    func delta(_ kind: Change.Kind) -> UserDelta {
      var delta = UserDelta(User.ID(1))
      let values: (StoredValue, StoredValue) =
        switch kind {
        case .added: (.null, .text("Zoë"))
        case .removed: (.text("Zoë"), .null)
        default: (.text("Zoe"), .text("Zoë"))
        }
      delta.add(
        Change(
          kind: kind, user: User.ID(1), attribute: .name, old: values.0, new: values.1, timestamp: 0, sequence: 1))
      return delta
    }
    #expect(delta(.added).newValue("age") == .null && delta(.added).oldValue("age") == .null)
    #expect(delta(.removed).newValue("age") == .null && delta(.removed).oldValue("age") == .null)
    #expect(delta(.updated).newValue("age") == nil && delta(.updated).oldValue("age") == nil)
    #expect(delta(.updated).newValue("id") == .integer(1))
  }

  @Test func `a change of an attribute that a query does not mention costs it nothing`() {
    let (adults, all) = (query(1, .age >= 18, showing: ["note"]), query(2, .age >= 18, showing: nil))
    var index = LiveIndex()
    index.add(all)
    index.add(adults)
    #expect(found(index, delta("other", .null, .integer(1))) == [2])
    #expect(found(index, delta("age", .null, .integer(1))) == [1, 2])
    #expect(found(index, delta("note", .null, .integer(1))) == [1, 2])
    #expect(found(index, delta(.name, .null, .text("Zoë"))) == [1, 2], "somebody was added")
    index.remove(adults)
    index.remove(all)
    #expect(found(index, delta("age", .null, .integer(1))).isEmpty && index.all.isEmpty)
  }

  @Test func `of many queries for one value each, a change is given to those of the old and the new value`() {
    // In each place where the value can stand.
    let queries = (0..<100).map { number in
      let city = city == "city \(number)"
      return query(number, (number % 2 == 0 ? city : city.testedFirst) && .age >= 18, showing: ["note"])
    }
    var index = LiveIndex()
    for query in queries { index.add(query) }
    #expect(index.all.map(\.ordinal) == Array(0..<100))
    #expect(found(index, delta("city", .text("city 7"), .text("city 3"))) == [3, 7])
    #expect(found(index, delta("age", .null, .integer(20)), city: .text("city 5")) == [5])
    #expect(found(index, delta("age", .null, .integer(20)), city: .text("nowhere")).isEmpty)
    #expect(found(index, delta("other", .null, .integer(20)), city: .text("city 5")).isEmpty)
    #expect(found(index, delta("age", .null, .integer(20))) == Array(0..<100), "the city is unknown")
    for query in queries { index.remove(query) }
    #expect(index.all.isEmpty)
    #expect(found(index, delta("city", .text("city 7"), .text("city 3"))).isEmpty)
  }

  @Test func `a query for several values, equal ones among them, is found once`() {
    let age = Attribute<Int>("age")
    let (few, others) = (query(2, age.isOneOf([1, 2, 2]), showing: ["note"]), query(1, .age == 3, showing: ["note"]))
    var index = LiveIndex()
    index.add(few)
    index.add(others)
    #expect(index.all.map(\.ordinal) == [1, 2])
    #expect(found(index, delta("age", .integer(9), .real(2))) == [2])
    #expect(found(index, delta("age", .integer(2), .integer(3))) == [1, 2])
    index.remove(others)
    #expect(found(index, delta("age", .integer(3), .integer(4))).isEmpty)
    #expect(found(index, delta("age", .integer(3), .integer(2))) == [2])
    let text = query(3, Condition("city", .equal, .invalidText(Array("Ulm".utf8))), showing: [])
    index.add(text)
    #expect(found(index, delta("city", .text("Ulm"), .text("Bonn"))) == [3])
    index.remove(text)
    index.remove(few)
    #expect(found(index, delta("age", .integer(3), .integer(2))).isEmpty && index.all.isEmpty)
  }
}
