import TestSupport
import Testing

@testable import UserStore

/// Live lists as an application uses them.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ListTests {
  private let scene: ListScene
  private var folder: Folder { scene.folder }
  private var store: UserStore { scene.store }
  private var adults: Query { scene.adults }

  init() throws { scene = try ListScene() }

  @Test func `when a write returns, the list is current and its listeners were called`() throws {
    let list = try store.list(adults)
    let received = Recorder<[String]>()
    list.bindAndFire("screen") { [scene] in received.record(scene.names($0)) }
    let zoe = try scene.add("Zoë", age: 17)
    try scene.add("Ann", age: 18)
    try store.write { try $0.set(.age, of: zoe, to: 18) }
    try store.write { try $0.rename(zoe, to: "Aaron") }
    try store.write { _ = try $0.remove(zoe) }
    #expect(received.all == [[], ["Ann"], ["Ann", "Zoë"], ["Aaron", "Ann"], ["Ann"]])
    #expect(scene.names(list.value) == ["Ann"])
  }

  @Test func `a change that the list does not show calls nobody`() throws {
    let zoe = try scene.add("Zoë", age: 20)
    let list = try store.list(Query(where: .age >= 18, showing: [.name]))
    let received = Recorder<Rows>()
    list.bind("screen") { received.record($0) }
    try store.write { try $0.set(.hairColor, of: zoe, to: Color("red")) }
    try store.write { try $0.set(.age, of: zoe, to: 21) }
    try scene.add("Tim", age: 3)
    #expect(received.count == 0)
    try store.write { try $0.rename(zoe, to: "Zoe") }
    #expect(received.all.map(scene.names) == [["Zoe"]])
  }

  @Test func `many changes that the list does not show call nobody`() throws {
    for number in 0..<40 { try scene.add("\(number)", age: 20) }
    let count = try store.liveCount(where: .age >= 18)
    let lists = try [nil, 5].map {
      try store.list(Query(where: .age >= 18, sortedBy: [.ascending(.name)], limit: $0, showing: [.name]))
    }
    let received = Recorder<Int>()
    for list in lists { list.bind("screen") { received.record($0.count) } }
    count.bind("screen") { received.record($0) }
    // As many as are merged at once, and more than are folded.
    for changes in [40, FoldedSet.limit + 1] {
      try store.write { transaction in
        for number in 0..<changes {
          try transaction.set(.age, of: User.ID(Int64(number % 40 + 1)), to: 20 + changes + number)
        }
      }
    }
    #expect(received.count == 0)
    try store.write { transaction in
      for number in 1...40 { try transaction.set(.age, of: User.ID(Int64(number)), to: number) }
    }
    #expect(received.all.sorted() == [5, 23, 23])
  }

  @Test func `lists are updated in the order in which they were made`() throws {
    let received = Recorder<Int>()
    let lists = try (0..<20).map { try store.list(Query(where: .age >= $0)) }
    for (number, list) in lists.enumerated() { list.bind("screen") { _ in received.record(number) } }
    try scene.add("Zoë", age: 20)
    #expect(received.all == Array(0..<20))
  }

  @Test func `a listener of the records sees the list of its round`() throws {
    let list = try store.list(adults)
    let seen = Recorder<[String]>()
    store.listeners.bind("records", to: .everything) { [scene] _ in seen.record(scene.names(list.value)) }
    try scene.add("Zoë", age: 20)
    #expect(seen.all == [["Zoë"]])
  }

  @Test(.sqlite) func `other programs' changes arrive too`() throws {
    let other = try folder.open()
    let list = try other.list(adults)
    let received = Recorder<[String]>()
    list.bind("screen") { [scene] in received.record(scene.names($0)) }
    try folder.shell(
      "INSERT INTO users (name) VALUES ('Zoë'); INSERT INTO attributes (user_id, name, value) VALUES (1, 'age', 20)")
    received.wait(until: { $0.last == ["Zoë"] })
  }

  @Test func `a list that starts after a user never has that user`() throws {
    let users = try (0..<5).map { try scene.add("\($0)", age: 20) }
    let query = Query(where: .age >= 18, sortedBy: [.ascending(.name)])
    let second = try #require(try store.read { try $0.users(matching: query) }.dropFirst().first)
    let list = try store.list(query.after(second))
    for user in users { try store.write { try $0.set(.age, of: user, to: 21) } }
    #expect(scene.names(list.value) == ["2", "3", "4"])
  }

  @Test func `rows beyond the limit replace those that leave`() throws {
    for number in 0..<200 { try scene.add(String(1_000 + number), age: 20) }
    let list = try store.list(Query(sortedBy: [.ascending(.name)], limit: 3, showing: [.name]))
    for number in 0..<190 {
      let first = list.value[0].id
      try store.write { _ = try $0.remove(first) }
      #expect(scene.names(list.value) == (1...3).map { String(1_000 + number + $0) })
    }
  }

  @Test func `a row that leaves is missing even if the rows after it have to be read again`() throws {
    for number in 0..<26 { try scene.add("\(number)", age: 20) }
    let list = try store.list(Query(where: .age >= 18, limit: 10))
    let received = Recorder<Int>()
    // The rows that are known beyond the limit are used up.
    for number in 1...16 { try store.write { _ = try $0.remove(User.ID(Int64(number))) } }
    list.bind("screen") { received.record($0.count) }
    let other = try folder.open { $0.watchesOtherProcesses = false }
    try other.write { _ = try $0.remove(User.ID(17)) }
    // More than can be taken back to see what else was in the list.
    try other.write { transaction in
      let id = try transaction.add(name: "other")
      for number in 0..<1_100 { try transaction.set("note", of: id, to: .integer(Int64(number))) }
    }
    // A write delivers what others committed before.
    try scene.add("not in the list", age: 3)
    #expect(list.value.count == 9 && list.value.first?.id == User.ID(18))
    #expect(received.all == [9])
  }

  @Test(arguments: [Int.max, Int.max - 1_000, 1 << 31]) func `a limit that no list reaches is none`(limit: Int) throws {
    let list = try store.list(Query(where: .age >= 18, limit: limit))
    try scene.add("Zoë", age: 20)
    #expect(scene.names(list.value) == ["Zoë"])
    #expect(try store.read { try $0.users(matching: Query(limit: limit)).count } == 1)
  }

  @Test func `a count is right although a purge has removed the values that it needs`() throws {
    let (a, b) = (Attribute<Int>("a"), Attribute<Int>("b"))
    for usesKeys in [true, false] {
      let folder = try Folder()
      let store = try folder.open { $0.watchesOtherProcesses = false }
      store.liveQueries.configure(.init(usesKeys: usesKeys))
      let user = try store.write { transaction in
        let id = try transaction.add(name: "Zoë")
        try transaction.set(a, of: id, to: 2)
        try transaction.set(b, of: id, to: 6)
        return id
      }
      let (six, five) = (try store.liveCount(where: a == 2 && b == 6), try store.liveCount(where: a == 2 && b == 5))
      #expect(six.value == 1 && five.value == 0)
      store.listeners.bind("writes", to: .attribute(.hairColor)) { _ in
        // Delivered after the purge.
        try store.write { try $0.set(b, of: user, to: 5) }
        try store.write { _ = try $0.remove(user) }
        _ = try store.purge(user)
      }
      try store.write { try $0.set(.hairColor, of: user, to: Color("red")) }
      #expect(six.value == 0 && five.value == 0)
      store.close()
    }
  }

  @Test(.sqlite) func `an attribute of another program with the name of a column does not change lists`() throws {
    let zoe = try scene.add("Zoë", age: 20)
    let (list, count) = (try store.list(adults), try store.liveCount(where: Attribute<Int>("id") == Int(zoe.rawValue)))
    let plain = try folder.plain()
    try plain.execute("PRAGMA ignore_check_constraints = ON")
    for statement in [
      "INSERT INTO attributes VALUES (\(zoe), 'name', 5), (\(zoe), 'id', 7)",
      "DELETE FROM attributes WHERE name IN ('name', 'id')",
    ] {
      try plain.execute(statement)
      try store.write { try $0.set("note", of: zoe, to: .text(statement)) }
      #expect(scene.names(list.value) == ["Zoë"] && count.value == 1)
    }
  }

  @Test func `a count follows without the users`() throws {
    let count = try store.liveCount(where: .age >= 18 && .hairColor == Color("red"))
    let received = Recorder<Int>()
    count.bindAndFire("badge") { received.record($0) }
    let zoe = try scene.add("Zoë", age: 20)
    try store.write { try $0.set(.hairColor, of: zoe, to: Color("red")) }
    try store.write { try $0.rename(zoe, to: "Zoe") }
    try store.write { try $0.set(.age, of: zoe, to: 3) }
    try store.write { try $0.set(.age, of: zoe, to: 30) }
    try store.write { _ = try $0.remove(zoe) }
    #expect(received.all == [0, 1, 0, 1, 0])
    #expect(count.value == 0)
  }

  @Test(.sqlite) func `a restored backup is a discontinuity, and its steps are exact`() throws {
    let zoe = try scene.add("Zoë", age: 20)
    try store.backup(to: folder.path + "/backup.db")
    let list = try store.list(adults)
    try scene.add("Ann", age: 20)
    let before = list.value
    try store.write { try $0.rename(zoe, to: "Aaron") }
    try store.restore(from: folder.path + "/backup.db")
    #expect(list.value.discontinuity == .diverged)
    #expect(Array(before).applying(list.value.rowChanges(from: before).steps) == Array(list.value))
    #expect(scene.names(list.value) == ["Zoë"] && scene.names(before) == ["Ann", "Zoë"])
    try scene.add("Tim", age: 20)
    #expect(list.value.discontinuity == nil && scene.names(list.value) == ["Tim", "Zoë"])
  }

  @Test func `a list on an actor that is behind is called once, with all steps`() async throws {
    let (place, mayContinue) = (Place(), Gate())
    let list = try await store.list(adults)
    let received = Recorder<Rows>()
    list.bind("screen", on: .latest(on: place)) { received.record($0) }
    place.hold(until: mayContinue)
    for number in 1...50 { try scene.add("\(number)", age: 20) }
    mayContinue.open()
    await received.reached(1)
    #expect(received.count == 1 && received.all[0].count == 50)
    #expect(received.all[0].rowChanges(from: Rows()).insertions.count == 50)
  }

  @Test func `the versions of a list arrive as an async sequence, which ends with the store`() async throws {
    let list = try await store.list(adults)
    let received = Recorder<Int>()
    let task = Task {
      for await rows in list.values { received.record(rows.count) }
    }
    await received.reached(1)
    try scene.add("Zoë", age: 20)
    await received.reached { $0.last == 1 }
    await store.close()
    await task.value
    #expect(list.value.count == 1)
  }
}
