import Testing
import UserStore

/// Runs the examples of the article “Lists”.
@Suite(.timeLimit(.minutes(5))) struct ListsArticle {
  private let printed = Printed()

  /// Returns a store with the users of the article, and the id of Tim.
  private func store() throws -> (UserStore, tim: UserStore.User.ID) {
    let store = try UserStore.inMemory()
    let ids = try store.write { users in
      try [("Ann", 30), ("Tim", 17), ("Zoë", 41)].map { name, age in
        let id = try users.add(name: name)
        try users.set(.age, of: id, to: age)
        return id
      }
    }
    return (store, ids[1])
  }

  @Test func `the examples print what the article says`() throws {
    let print = printed.print
    let (store, tim) = try store()
    let bag = TokenBag()

    let adults = UserStore.Query(where: .age >= 18, sortedBy: [.ascending(.name)], limit: 50, showing: [.name])
    let users = try store.read { try $0.users(matching: adults) }
    print("once:", try users.map { try $0.name })

    let list = try store.list(adults)
    list.bindAndFire("FirstScreen") { rows in print("adults:", try rows.map { try $0.name }) }
    try store.write { try $0.set(.age, of: tim, to: 18) }
    #expect(
      printed.taken() == [
        "once: [\"Ann\", \"Zoë\"]", "adults: [\"Ann\", \"Zoë\"]", "adults: [\"Ann\", \"Tim\", \"Zoë\"]",
      ])

    let inUlm = Attribute.city.isOneOf(["Ulm", "Neu-Ulm"])
    let bigFeet = UserStore.Condition("shoe size", .greaterOrEqual, .integer(46))
    let newest = UserStore.Condition("id", .greater, .integer(tim.rawValue))
    print("found:", try store.read { try $0.count(where: inUlm || bigFeet || newest) })
    #expect(printed.taken() == ["found: 1"])

    let order: [UserStore.SortKey] = [.ascending(.city, missingLast: true), .descending(.age)]
    try store.write { try $0.set(.city, of: tim, to: "Ulm") }
    print("sorted:", try store.read { try $0.users(matching: .init(sortedBy: order)).map { try $0.name } })
    #expect(printed.taken() == ["sorted: [\"Tim\", \"Zoë\", \"Ann\"]"])

    var page = UserStore.Query(sortedBy: [.ascending(.name)], limit: 2)
    while true {
      let users = try store.read { try $0.users(matching: page) }
      print("page:", try users.map { try $0.name })
      guard users.count == 2, let last = users.last else { break }
      page = page.after(last)
    }
    #expect(printed.taken() == ["page: [\"Ann\", \"Tim\"]", "page: [\"Zoë\"]"])

    try store.addIndex(on: "age")
    print("indexes:", try store.read { try $0.indexes })
    #expect(printed.taken() == ["indexes: [age]"])

    let before = list.value
    try store.write { users in
      try users.rename(tim, to: "Aaron")
      try users.set(.age, of: tim, to: 19)
    }
    for step in list.value.rowChanges(from: before).steps {
      switch step {
      case .remove(let position): print("removed the row at", position)
      case .insert(let user, let position): print("inserted", try user.name, "at", position)
      case .move(let user, let old, let new, let changed): print("moved", try user.name, old, new, changed)
      case .update(let user, let position, let changed): print("updated", try user.name, position, changed)
      }
    }
    #expect(printed.taken() == ["adults: [\"Aaron\", \"Ann\", \"Zoë\"]", "moved Aaron 1 0 [name]"])

    let count = try store.liveCount(where: .age >= 18)
    count.bindAndFire("badge") { print("count:", $0) }
    #expect(printed.taken() == ["count: 3"])

    let firstTwo = try store.list(UserStore.Query(where: .age >= 18, sortedBy: [.ascending(.name)], limit: 2))
    firstTwo.signal.combineLatest(count.signal) { rows, count in
      "\(rows.compactMap { try? $0.name }) of \(count)"
    }
    .subscribe { print("shown:", $0) }.disposed(by: bag)
    try store.write { users in
      let abe = try users.add(name: "Abe")
      try users.set(.age, of: abe, to: 50)
    }
    #expect(
      printed.taken().filter { $0.hasPrefix("shown") } == [
        "shown: [\"Aaron\", \"Ann\"] of 3", "shown: [\"Aaron\", \"Abe\"] of 4",
      ])
  }

  @Test func `a comparison is true or false, within a class, and exact`() throws {
    let (store, tim) = try store()
    func names(_ condition: UserStore.Condition) throws -> [String] {
      try store.read { try $0.users(matching: UserStore.Query(where: condition)).map { try $0.name } }
    }
    try store.write { users in
      try users.set("size", of: tim, to: .real(1))
      try users.set("age", of: tim, to: .text("36"))
    }
    #expect(try names(!(.age >= 18)) == ["Tim"] && names(.age >= 18) == ["Ann", "Zoë"])
    #expect(try names(.city != "Ulm") == ["Ann", "Tim", "Zoë"])
    #expect(try names(.hairColor != UserStore.Color("white")) == ["Ann", "Tim", "Zoë"])
    #expect(try names(UserStore.Condition("size", .equal, .integer(1))) == ["Tim"])
    #expect(try names(Attribute.name.hasPrefix("z")) == [])
    try store.write { try $0.set("size", of: tim, to: .integer(.max)) }
    #expect(try names(UserStore.Condition("size", .equal, .real(9.223372036854775807e18))) == [])
    #expect(try names(UserStore.Condition(.name, .less, .integer(9))) == [])
  }

  @Test @MainActor func `a model keeps a list for views`() async throws {
    let (store, tim) = try store()
    let model = try await AdultsModel(store)
    #expect(names(model.adults) == ["Ann", "Zoë"])
    try await store.write { try $0.set(.age, of: tim, to: 18) }
    while model.adults.count < 3 { await Task.yield() }
    #expect(names(model.adults) == ["Ann", "Tim", "Zoë"])
  }

  /// Has the signature of SwiftUI's `ForEach`.
  @MainActor private func names<Data>(_ data: Data) -> [String]
  where Data: RandomAccessCollection, Data.Element: Identifiable, Data.Element == ObservableUser {
    data.map { $0.name ?? "" }
  }

  @Test @MainActor func `a table receives the batch of several versions`() async throws {
    let (store, tim) = try store()
    let list = try await store.list(
      UserStore.Query(where: .age >= 18, sortedBy: [.ascending(.name)], limit: 4, showing: [.name, .hairColor]))
    let table = Table()
    let screen = AdultsScreen(table, list)
    table.cell = { [weak screen] position in (try? screen?.rows[position].name) ?? "" }
    table.reconfigureRows(at: [0, 1])
    #expect(table.cells == ["Ann", "Zoë"])

    let ids = try await store.write { try $0.users().map(\.id) }
    try await store.write { users in
      try users.rename(ids[2], to: "Aaron")
      try users.set(.age, of: tim, to: 18)
    }
    try await store.write { try $0.set(.age, of: ids[0], to: 3) }
    try await store.write { try $0.set(.hairColor, of: tim, to: UserStore.Color("white")) }
    while try screen.rows.count != 2 || screen.rows[1].hairColor == nil { await Task.yield() }
    #expect(table.cells == ["Aaron", "Tim"])
  }

  @Test func `a client receives the rows, and then the steps of the versions that it missed`() async throws {
    let (store, tim) = try store()
    let (events, changes) = AsyncStream<String>.makeStream()
    let sending = Task {
      try await sendAdults(from: store) { changes.yield($0) }
      changes.finish()
    }
    var received = events.makeAsyncIterator()
    #expect(
      await received.next() == """
        event: rows
        data: [{"insert":0,"user":{"id":1,"name":"Ann","hair_color":null,"age":30}},\
        {"insert":1,"user":{"id":3,"name":"Zoë","hair_color":null,"age":41}}]


        """)
    try await store.write { users in
      try users.set(.age, of: tim, to: 18)
      try users.rename(UserStore.User.ID(1), to: "Zz")
    }
    #expect(
      await received.next() == """
        event: steps
        data: [{"move":0,"to":1,"user":{"id":1,"name":"Zz","hair_color":null,"age":30}},\
        {"insert":0,"user":{"id":2,"name":"Tim","hair_color":null,"age":18}}]


        """)
    await store.close()
    #expect(await received.next() == nil)
    try await sending.value
  }
}

extension Attribute where Value == Int {
  static var age: Attribute { Attribute("age") }
}

extension Attribute where Value == String {
  static var city: Attribute { Attribute("city") }
}

@MainActor final class AdultsModel {
  let adults: ObservableList

  init(_ store: UserStore) async throws {
    adults = try await store.observableList(
      UserStore.Query(where: .age >= 18, sortedBy: [.ascending(.name)], limit: 50, showing: [.name]))
  }
}

/// Applies a batch as UIKit does: deletions and the origins of moves are old positions, all others are new ones.
@MainActor final class Table {
  private(set) var cells: [String] = []
  var cell: (Int) -> String = { _ in "" }
  private var deletions: [Int] = []
  private var insertions: [Int] = []
  private var moves: [(from: Int, to: Int)] = []

  func performBatchUpdates(_ updates: () -> Void) {
    updates()
    let leaving = Set(deletions + moves.map(\.from))
    var staying = cells.indices.filter { !leaving.contains($0) }.map { cells[$0] }[...]
    let count = cells.count - deletions.count + insertions.count
    let moved = Dictionary(uniqueKeysWithValues: moves.map { ($0.to, cells[$0.from]) })
    cells = (0..<count).map { position in
      if insertions.contains(position) { return cell(position) }
      return moved[position] ?? staying.removeFirst()
    }
    (deletions, insertions, moves) = ([], [], [])
  }

  func deleteRows(at positions: [Int]) { deletions += positions }
  func insertRows(at positions: [Int]) { insertions += positions }
  func moveRow(at position: Int, to other: Int) { moves.append((position, other)) }
  func reconfigureRows(at positions: [Int]) { for position in positions { cells[position] = cell(position) } }
}

@MainActor final class AdultsScreen {
  let table: Table
  private(set) var rows = UserStore.Rows()

  init(_ table: Table, _ list: Listenable<UserStore.Rows>) {
    self.table = table
    list.bindAndFire("AdultsScreen", on: .latestOnMain, owner: self) { screen, rows in screen.show(rows) }
  }

  private func show(_ new: UserStore.Rows) {
    let changes = new.rowChanges(from: rows)
    table.performBatchUpdates {
      rows = new
      table.deleteRows(at: changes.deletions)
      table.insertRows(at: changes.insertions)
      for move in changes.moves { table.moveRow(at: move.from, to: move.to) }
    }
    table.reconfigureRows(at: changes.updates)
  }
}

func sendAdults(from store: UserStore, to client: (String) async throws -> Void) async throws {
  let adults = UserStore.Query(
    where: .age >= 18, sortedBy: [.ascending(.name)], limit: 50, showing: [.name, "age"])
  var sent = UserStore.Rows()
  for await rows in try await store.list(adults).values {
    let event = sent.cursor == nil ? "rows" : "steps"
    let steps = rows.rowChanges(from: sent).steps.map { json($0) }.joined(separator: ",")
    try await client("event: \(event)\ndata: [\(steps)]\n\n")
    sent = rows
  }
}

func json(_ step: UserStore.RowChanges.Step) -> String {
  switch step {
  case .remove(let position): #"{"remove":\#(position)}"#
  case .insert(let user, let position): #"{"insert":\#(position),"user":\#(user.json)}"#
  case .move(let user, let old, let new, _): #"{"move":\#(old),"to":\#(new),"user":\#(user.json)}"#
  case .update(let user, let position, _): #"{"update":\#(position),"user":\#(user.json)}"#
  }
}
