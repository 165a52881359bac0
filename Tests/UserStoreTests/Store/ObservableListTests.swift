import Observation
import Testing

@testable import UserStore

/// A list as an observable collection on the main actor.
@MainActor @Suite(.boundedOnMainActor, .serialized, .timeLimit(.minutes(5))) struct ObservableListTests {
  private let store: UserStore
  private let ids: [User.ID]
  private let received = Recorder<String>()
  private let query = Query(where: .age >= 18, sortedBy: [.ascending(.name)])

  init() throws {
    store = try UserStore.forTests()
    ids = try store.write { transaction in
      try ["Ann", "Tim", "Zoë"].map { name in
        let id = try transaction.add(name: name)
        try transaction.set(.age, of: id, to: 20)
        return id
      }
    }
  }

  private func watch(_ what: String, _ body: () -> Void) {
    withObservationTracking(body) { [received] in received.record(what) }
  }

  private func names(_ list: some RandomAccessCollection<ObservableUser>) -> [String] { list.map { $0.name ?? "" } }

  @Test func `it has the rows of the list, and follows their changes`() async throws {
    let list = try await store.observableList(query)
    #expect(names(list) == ["Ann", "Tim", "Zoë"])
    try await store.write { try $0.rename(ids[0], to: "Zacharias") }
    await turns { names(list).contains("Zacharias") }
    #expect(names(list) == ["Tim", "Zacharias", "Zoë"] && list.count == 3)
    try await store.write { try $0.set(.age, of: ids[1], to: 3) }
    await turns { list.count == 2 }
    #expect(names(list) == ["Zacharias", "Zoë"])
  }

  @Test func `only the observers of the row that changed are notified`() async throws {
    let list = try await store.observableList(query)
    let rows = Array(list)
    for (index, row) in rows.enumerated() {
      watch("name \(index)") { _ = row.name }
      watch("age \(index)") { _ = row[.age] }
    }
    watch("count") { _ = list.count }
    watch("order") { _ = list.map(\.id) }
    try await store.write { try $0.set(.age, of: ids[1], to: 50) }
    await turns { rows[1][.age] == 50 }
    #expect(received.all == ["age 1"])
    try await store.write { try $0.rename(ids[2], to: "Zoe") }
    await turns { list.last?.name == "Zoe" }
    #expect(received.all == ["age 1", "name 2"])
    try await store.write { try $0.set(.age, of: ids[0], to: 3) }
    await turns { list.count == 2 }
    #expect(Set(received.all[2...]) == ["count", "order"])
  }

  @Test func `a row is the same object as long as the user is in the list`() async throws {
    let list = try await store.observableList(query)
    let (ann, zoe) = (list[0], list[2])
    try await store.write { try $0.rename(ids[0], to: "Zz") }
    await turns { list.last?.name == "Zz" }
    #expect(list[2] === ann && list[1] === zoe && ann.name == "Zz")
    try await store.write { try $0.set(.age, of: ids[0], to: 3) }
    await turns { list.count == 2 }
    try await store.write { try $0.set(.age, of: ids[0], to: 33) }
    await turns { list.count == 3 }
    #expect(list[2] !== ann && list[2].name == "Zz" && ann[.age] == 20)
  }

  /// The names that a loop finds that waits after its first row until the list has changed.
  private func walk(
    _ rows: some Sequence<ObservableUser>, _ change: (inout WriteTransaction) throws -> Void,
    until isChanged: () -> Bool
  ) async throws -> [String] {
    var names: [String] = []
    for row in rows {
      names.append(row.name ?? "")
      if names.count == 1 {
        try store.writeNow(change)
        await turns(until: isChanged)
      }
    }
    return names
  }

  /// Walks while all rows but the first leave the list, and lets them enter again.
  private func walk(_ rows: some Sequence<ObservableUser>, of list: ObservableList) async throws -> [String] {
    let names = try await walk(
      rows, { transaction in for id in ids.dropFirst() { try transaction.set(.age, of: id, to: 3) } },
      until: { list.count == 1 })
    try store.writeNow { transaction in for id in ids.dropFirst() { try transaction.set(.age, of: id, to: 20) } }
    await turns { list.count == 3 }
    return names
  }

  @Test func `a loop that waits has the rows that the list had at its start`() async throws {
    let list = try await store.observableList(query)
    #expect(try await walk(list, of: list) == ["Ann", "Tim", "Zoë"])
    #expect(try await walk(list.prefix(3), of: list) == ["Ann", "Tim", "Zoë"])
    #expect(try await walk(list.dropFirst(1), of: list) == ["Tim", "Zoë"])
    #expect(try await walk(list[0...][1...], of: list) == ["Tim", "Zoë"])
    #expect(try await walk(list.lazy.filter { _ in true }, of: list) == ["Ann", "Tim", "Zoë"])
    #expect(try await walk(list.reversed(), of: list) == ["Zoë", "Tim", "Ann"])
    let moved = try await walk(list, { try $0.rename(ids[0], to: "Zz") }, until: { list.last?.name == "Zz" })
    #expect(moved == ["Ann", "Tim", "Zoë"])
    #expect(names(list) == ["Tim", "Zoë", "Zz"])
  }

  @Test func `a slice has the positions of the list, and its rows are updated`() async throws {
    let list = try await store.observableList(query)
    let slice = list[1...]
    #expect(slice.startIndex == 1 && slice.endIndex == 3 && slice[1] === list[1] && slice[2...].first === list[2])
    try store.writeNow { try $0.rename(ids[1], to: "Tom") }
    await turns { slice[1].name == "Tom" }
    #expect(slice.map { $0.name } == ["Tom", "Zoë"])
  }

  @Test func `it keeps its rows when the store is released, and does not keep the store`() async throws {
    var store: UserStore? = try UserStore.forTests()
    weak let released = store
    _ = try await store?.write { try $0.add(name: "Zoë") }
    let list = try await store?.observableList(Query())
    store = nil
    #expect(released == nil && list?.count == 1 && list?[0].name == "Zoë")
  }
}
