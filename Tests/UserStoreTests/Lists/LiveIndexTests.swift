import Testing

@testable import UserStore

/// Which live queries a change is given to.
@Suite struct LiveIndexTests {
  private let store: UserStore

  init() throws { store = try UserStore.inMemory() }

  private func target(_ condition: Condition, showing shown: [AttributeName]?) -> LiveQuery {
    LiveQuery(
      ListContent(Query(where: condition, showing: shown), reserve: 16),
      StateAccess(reader: store.reader, publication: store.publication), { _, _ in }, forget: { _ in })
  }

  private let city = Attribute<String>("city")

  private func delta(_ attribute: AttributeName, _ old: StoredValue, _ new: StoredValue) -> UserDelta {
    var delta = UserDelta(User.ID(1))
    delta.add(
      Change(
        kind: .updated, user: User.ID(1), attribute: attribute, old: old, new: new, timestamp: 0, sequence: 1))
    return delta
  }

  private func found(_ index: LiveIndex, _ delta: UserDelta, city: StoredValue? = nil) -> [ObjectIdentifier] {
    index.targets(of: [delta]) { places in
      city.map { city in Dictionary(uniqueKeysWithValues: places.map { ($0, city) }) } ?? [:]
    }.map { ObjectIdentifier($0.target) }
  }

  @Test func `a change of an attribute that a query does not mention costs it nothing`() {
    let (adults, all) = (target(.age >= 18, showing: ["note"]), target(.age >= 18, showing: nil))
    var index = LiveIndex()
    index.add(adults)
    index.add(all)
    #expect(found(index, delta("other", .null, .integer(1))) == [ObjectIdentifier(all)])
    #expect(found(index, delta("age", .null, .integer(1))).count == 2)
    #expect(found(index, delta("note", .null, .integer(1))).count == 2)
    #expect(found(index, delta(.name, .null, .text("Zoë"))).count == 2, "somebody was added")
    index.remove(adults)
    index.remove(all)
    #expect(found(index, delta("age", .null, .integer(1))).isEmpty && index.all.isEmpty)
  }

  @Test func `of many queries for one value each, a change is given to those of the old and the new value`() {
    let targets = (0..<100).map { target(city == "city \($0)" && .age >= 18, showing: ["note"]) }
    var index = LiveIndex()
    for target in targets { index.add(target) }
    let moved = found(index, delta("city", .text("city 3"), .text("city 7")))
    #expect(Set(moved) == Set([3, 7].map { ObjectIdentifier(targets[$0]) }))
    #expect(found(index, delta("age", .null, .integer(20)), city: .text("city 5")) == [ObjectIdentifier(targets[5])])
    #expect(found(index, delta("age", .null, .integer(20)), city: .text("nowhere")).isEmpty)
    #expect(found(index, delta("other", .null, .integer(20)), city: .text("city 5")).isEmpty)
    #expect(found(index, delta("age", .null, .integer(20))).count == 100, "the city is unknown")
    for target in targets { index.remove(target) }
    #expect(index.all.isEmpty)
  }
}
