import Foundation
import TestSupport
import Testing

@testable import UserStore

/// Live lists as an application uses them.
@Suite(.bounded, .timeLimit(.minutes(5))) struct ListTests {
  private let folder: Folder
  private let store: UserStore
  private let errors = Recorder<String>()
  private let adults = Query(where: .age >= 18, sortedBy: [.ascending(.name)])

  init() throws {
    folder = try Folder()
    store = try folder.open { [errors] in
      $0.onListenerError = { _, error in errors.record("\(error)") }
      $0.roundLimit = 20
      // It could deliver what a listener writes after the outer write has returned.
      $0.watchesOtherProcesses = false
    }
  }

  @discardableResult
  private func add(_ name: String, age: Int?) throws -> User.ID {
    try store.write { transaction in
      let id = try transaction.add(name: name)
      try transaction.set(.age, of: id, to: age)
      return id
    }
  }

  private func names(_ rows: Rows) -> [String] { rows.map { (try? $0.name) ?? "?" } }

  // MARK: Following

  @Test func `when a write returns, the list is current and its listeners were called`() throws {
    let list = try store.list(adults)
    let received = Recorder<[String]>()
    list.bindAndFire("screen") { [self] in received.record(names($0)) }
    let zoe = try add("Zoë", age: 17)
    try add("Ann", age: 18)
    try store.write { try $0.set(.age, of: zoe, to: 18) }
    try store.write { try $0.rename(zoe, to: "Aaron") }
    try store.write { _ = try $0.remove(zoe) }
    #expect(received.all == [[], ["Ann"], ["Ann", "Zoë"], ["Aaron", "Ann"], ["Ann"]])
    #expect(names(list.value) == ["Ann"])
  }

  @Test func `a change that the list does not show calls nobody`() throws {
    let zoe = try add("Zoë", age: 20)
    let list = try store.list(Query(where: .age >= 18, showing: [.name]))
    let received = Recorder<Rows>()
    list.bind("screen") { received.record($0) }
    try store.write { try $0.set(.hairColor, of: zoe, to: Color("red")) }
    try store.write { try $0.set(.age, of: zoe, to: 21) }
    try add("Tim", age: 3)
    #expect(received.count == 0)
    try store.write { try $0.rename(zoe, to: "Zoe") }
    #expect(received.all.map(names) == [["Zoe"]])
  }

  @Test func `many changes that the list does not show call nobody`() throws {
    for number in 0..<40 { try add("\(number)", age: 20) }
    let count = try store.count(where: .age >= 18)
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
    try add("Zoë", age: 20)
    #expect(received.all == Array(0..<20))
  }

  @Test func `a listener of the records sees the list of its round`() throws {
    let list = try store.list(adults)
    let seen = Recorder<[String]>()
    store.listeners.bind("records", to: .everything) { [self] _ in seen.record(names(list.value)) }
    try add("Zoë", age: 20)
    #expect(seen.all == [["Zoë"]])
  }

  @Test func `other programs' changes arrive too`() throws {
    let other = try folder.open()
    let list = try other.list(adults)
    let received = Recorder<[String]>()
    list.bind("screen") { [self] in received.record(names($0)) }
    try folder.shell(
      "INSERT INTO users (name) VALUES ('Zoë'); INSERT INTO attributes (user_id, name, value) VALUES (1, 'age', 20)")
    received.wait(until: { $0.last == ["Zoë"] })
  }

  @Test func `rows beyond the limit replace those that leave`() throws {
    for number in 0..<200 { try add(String(1_000 + number), age: 20) }
    let list = try store.list(Query(sortedBy: [.ascending(.name)], limit: 3, showing: [.name]))
    for number in 0..<190 {
      let first = list.value[0].id
      try store.write { _ = try $0.remove(first) }
      #expect(names(list.value) == (1...3).map { String(1_000 + number + $0) })
    }
  }

  @Test func `a row that leaves is missing even if the rows after it have to be read again`() throws {
    for number in 0..<26 { try add("\(number)", age: 20) }
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
    try add("not in the list", age: 3)
    #expect(list.value.count == 9 && list.value.first?.id == User.ID(18))
    #expect(received.all == [9])
  }

  @Test(arguments: [Int.max, Int.max - 1_000, 1 << 31]) func `a limit that no list reaches is none`(limit: Int) throws {
    let list = try store.list(Query(where: .age >= 18, limit: limit))
    try add("Zoë", age: 20)
    #expect(names(list.value) == ["Zoë"])
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
      let (six, five) = (try store.count(where: a == 2 && b == 6), try store.count(where: a == 2 && b == 5))
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

  @Test func `an attribute of another program with the name of a column does not change lists`() throws {
    let zoe = try add("Zoë", age: 20)
    let (list, count) = (try store.list(adults), try store.count(where: Attribute<Int>("id") == Int(zoe.rawValue)))
    let plain = try folder.plain()
    try plain.execute("PRAGMA ignore_check_constraints = ON")
    for statement in [
      "INSERT INTO attributes VALUES (\(zoe), 'name', 5), (\(zoe), 'id', 7)",
      "DELETE FROM attributes WHERE name IN ('name', 'id')",
    ] {
      try plain.execute(statement)
      try store.write { try $0.set("note", of: zoe, to: .text(statement)) }
      #expect(names(list.value) == ["Zoë"] && count.value == 1)
    }
  }

  @Test func `a damaged index is an error, and not a list in another order`() throws {
    try store.addIndex(on: .age)
    for age in 20..<60 { try add("\(age)", age: age) }
    store.close()
    // The same text, and a content in the opposite order.
    let name = try #require(AttributeIndex(on: "age").sql.split(separator: "\"").dropFirst().first)
    let sql = try folder.shell("SELECT sql FROM sqlite_schema WHERE name = '\(name)'")
      .trimmingCharacters(in: .newlines)
    try folder.shell(
      """
      DROP INDEX "\(name)";
      \(sql.replacing("value,", with: "value DESC,"));
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, 'value DESC,', 'value,') WHERE name = '\(name)'
      """)
    let damaged = try folder.open { $0.watchesOtherProcesses = false }
    #expect(code { try damaged.list(Query(sortedBy: [.descending(.age)], limit: 5)) } == .corrupt)
    #expect(!damaged.publication.hasListeners, "a list that could not be read is not followed")
  }

  @Test func `a count follows without the users`() throws {
    let count = try store.count(where: .age >= 18 && .hairColor == Color("red"))
    let received = Recorder<Int>()
    count.bindAndFire("badge") { received.record($0) }
    let zoe = try add("Zoë", age: 20)
    try store.write { try $0.set(.hairColor, of: zoe, to: Color("red")) }
    try store.write { try $0.rename(zoe, to: "Zoe") }
    try store.write { try $0.set(.age, of: zoe, to: 3) }
    try store.write { try $0.set(.age, of: zoe, to: 30) }
    try store.write { _ = try $0.remove(zoe) }
    #expect(received.all == [0, 1, 0, 1, 0])
    #expect(count.value == 0)
  }

  @Test func `a restored backup is a discontinuity, and its steps are exact`() throws {
    let zoe = try add("Zoë", age: 20)
    try store.backup(to: folder.path + "/backup.db")
    let list = try store.list(adults)
    try add("Ann", age: 20)
    let before = list.value
    try store.write { try $0.rename(zoe, to: "Aaron") }
    try store.restore(from: folder.path + "/backup.db")
    #expect(list.value.discontinuity == .diverged)
    #expect(Array(before).applying(list.value.changes(from: before).steps) == Array(list.value))
    #expect(names(list.value) == ["Zoë"] && names(before) == ["Ann", "Zoë"])
    try add("Tim", age: 20)
    #expect(list.value.discontinuity == nil && names(list.value) == ["Tim", "Zoë"])
  }

  @Test func `a list on an actor that is behind is called once, with all steps`() async throws {
    let (place, mayContinue) = (Place(), Gate())
    let list = try await store.list(adults)
    let received = Recorder<Rows>()
    list.bind("screen", on: .latest(on: place)) { received.record($0) }
    place.hold(until: mayContinue)
    for number in 1...50 { try add("\(number)", age: 20) }
    mayContinue.open()
    await received.reached(1)
    #expect(received.count == 1 && received.all[0].count == 50)
    #expect(received.all[0].changes(from: Rows()).insertions.count == 50)
  }

  @Test func `the versions of a list arrive as an async sequence, which ends with the store`() async throws {
    let list = try await store.list(adults)
    let received = Recorder<Int>()
    let task = Task {
      for await rows in list.values { received.record(rows.count) }
    }
    await received.reached(1)
    try add("Zoë", age: 20)
    await received.reached { $0.last == 1 }
    await store.close()
    await task.value
    #expect(list.value.count == 1)
  }

  // MARK: Names and lifetime

  @Test func `entering a screen twice does not grow the list`() throws {
    let received = Recorder<String>()
    for entry in 1...2 {
      try store.list(adults).bind("FirstScreen") { _ in received.record("entry \(entry)") }
    }
    let list = try store.list(adults)
    #expect(list.names == ["FirstScreen"])
    try add("Zoë", age: 20)
    #expect(received.all == ["entry 2"])
    #expect(try store.list(Query(where: .age >= 18)).names == [])
  }

  @Test func `a list that nobody needs is forgotten`() throws {
    #expect(!store.publication.hasListeners)
    do {
      let list = try store.list(adults)
      let count = try store.count(where: .age >= 18)
      #expect(store.publication.hasListeners)
      withExtendedLifetime((list, count)) {}
    }
    #expect(!store.publication.hasListeners)
  }

  @Test func `a named listener keeps its list, and a subscription does while it is held`() throws {
    let received = Recorder<Int>()
    try store.list(adults).bind("screen") { received.record($0.count) }
    var token: SubscriptionToken? = try store.count().signal.subscribe { received.record(100 + $0) }
    try add("Zoë", age: 20)
    #expect(Set(received.all) == [1, 100, 101])
    token = nil
    try store.list(adults).unbind("screen")
    #expect(!store.publication.hasListeners)
    withExtendedLifetime(token) {}
  }

  @Test func `a list whose last listener ends is forgotten, with its owner by the next change`() throws {
    let token = try store.list(adults).bind("screen") { _ in }
    #expect(store.publication.hasListeners)
    token.dispose()
    #expect(!store.publication.hasListeners)
    var owner: Recorder<Int>? = Recorder()
    _ = try store.list(adults).bind("screen", owner: try #require(owner)) { _, _ in }
    owner = nil
    #expect(store.publication.hasListeners)
    try add("Zoë", age: 20)
    #expect(!store.publication.hasListeners)
  }

  @Test func `a list that only a listener of another list holds is forgotten with that listener`() throws {
    var owner: Recorder<Int>? = Recorder()
    do {
      let (held, list) = (try store.count(), try store.list(adults))
      list.bind("screen", owner: try #require(owner)) { _, _ in withExtendedLifetime(held) {} }
      owner = nil
      withExtendedLifetime(list) {}
    }
    #expect(!store.publication.hasListeners)
  }

  @Test func `lists whose owners are gone are forgotten although nothing concerns them`() throws {
    let tokens = LiveTokens()
    for number in 0..<400 {
      let (owner, token) = (Recorder<Int>(), tokens.make())
      try store.list(Query(where: .age == number)).bind("screen", owner: owner) { _, _ in
        withExtendedLifetime(token) {}
      }
    }
    #expect(tokens.count < 150)
  }

  @Test func `ending all listeners of the records leaves lists current`() throws {
    let list = try store.list(adults)
    store.listeners.unbindAll()
    try add("Zoë", age: 20)
    #expect(list.value.count == 1)
  }

  @Test func `a listener of a list writes, and is called again after the round`() throws {
    let list = try store.list(adults)
    let received = Recorder<[String]>()
    list.bind("renames") { [self] rows in
      received.record(names(rows))
      if let first = rows.first, try first.name == "Zoë" { try store.write { try $0.rename(first.id, to: "Zoe") } }
    }
    try add("Zoë", age: 20)
    #expect(received.all == [["Zoë"], ["Zoe"]])
  }

  @Test func `listeners of lists that keep writing are stopped`() throws {
    let zoe = try add("Zoë", age: 20)
    let list = try store.list(adults)
    list.bind("endless") { [store] rows in
      try store.write { try $0.set(.age, of: zoe, to: (rows[0][.age] ?? 0) + 1) }
    }
    try store.write { try $0.set(.age, of: zoe, to: 30) }
    #expect(errors.count == 1 && errors.all[0].contains("endless"))
    #expect(try list.value[0][.age] == 50)
  }

  @Test func `many threads make, read and release lists while others write`() throws {
    for number in 0..<20 { try add("\(number)", age: number) }
    try Threads.run(64) { [store] thread in
      for round in 0..<6 {
        if thread % 4 == 0 {
          try store.write { try $0.set(.age, of: User.ID(Int64(1 + round)), to: thread * 10 + round) }
        } else {
          let list = try store.list(Query(where: .age >= (round + thread) % 3, sortedBy: [.descending(.age)], limit: 5))
          list.bind("thread \(thread)") { _ in }
          _ = list.value.map(\.id)
          list.unbind("thread \(thread)")
        }
      }
    }
    try store.write { try $0.set(.age, of: User.ID(1), to: 1_000) }
    #expect(!store.publication.hasListeners && errors.count == 0)
  }

  // MARK: Errors

  /// Content that cannot be read while a flag is set.
  private struct Failing: LiveContent {
    var content: any LiveContent
    let fails: @Sendable () -> Bool

    var mentions: Mentions { content.mentions }
    var value: ErasedValue { content.value }

    mutating func load(
      _ state: PastState, at cursor: Cursor, discontinuity: StoreError.Code?
    ) throws(StoreError) -> Bool {
      if fails() { throw StoreError(.ioError, "cannot read") }
      return try content.load(state, at: cursor, discontinuity: discontinuity)
    }

    mutating func apply(
      _ deltas: [UserDelta], at cursor: Cursor, _ read: PastReader
    ) throws(StoreError) -> Bool? {
      if fails() { throw StoreError(.ioError, "cannot read") }
      return try content.apply(deltas, at: cursor, read)
    }
  }

  @Test func `after an error the next change set is the occasion to read again, whatever it changes`() throws {
    let fails = Lock(false)
    store.liveQueries.configure(.init(adapt: { Failing(content: $0, fails: { fails.withLock { $0 } }) }))
    let (zoe, tim) = (try add("Zoë", age: 20), try add("Tim", age: 20))
    let list = try store.list(Query(where: Attribute<Int>("id") == Int(zoe.rawValue)))
    fails.withLock { $0 = true }
    try store.write { try $0.rename(zoe, to: "Zoe") }
    #expect(names(list.value) == ["Zoë"] && errors.count == 1)
    try store.write { try $0.rename(tim, to: "Tom") }
    #expect(names(list.value) == ["Zoë"] && errors.count == 2)
    fails.withLock { $0 = false }
    try store.write { try $0.rename(tim, to: "Tim") }
    #expect(names(list.value) == ["Zoe"] && errors.count == 2)
  }

  // MARK: Refusals

  @Test func `inside a transaction, a list is refused`() throws {
    #expect(code { try store.write { _ in _ = try store.list(adults) } } == .nested)
    #expect(code { try store.read { _ in _ = try store.count() } } == .nested)
    let existing = try store.list(adults)
    #expect(code { try store.write { _ in _ = try store.list(adults) } } == .nested)
    withExtendedLifetime(existing) {}
  }

  @Test func `on a closed store, a list is refused`() async throws {
    let existing = try await store.list(Query())
    await store.close()
    #expect(code { try store.list(Query()) } == .closed)
    withExtendedLifetime(existing) {}
    #expect(code { try store.list(adults) } == .closed)
    #expect(await awaitedCode { try await store.list(adults) } == .closed)
    #expect(!store.publication.hasListeners)
  }

  @Test(arguments: [0, -1]) func `a limit below 1 is refused`(limit: Int) throws {
    let query = Query(limit: limit)
    #expect(code { try store.list(query) } == .badValue)
    #expect(code { try store.read { try $0.users(matching: query) } } == .badValue)
  }

  @Test func `an attribute that nobody has, and a comparison that never holds, give an empty list`() throws {
    try add("Zoë", age: 20)
    let nobody = try store.list(Query(where: Condition("shoe", .greater, .integer(1))))
    let never = try store.list(Query(where: Condition(.name, .greater, .integer(1))))
    #expect(nobody.value.isEmpty && never.value.isEmpty)
    try store.write { try $0.set("shoe", of: User.ID(1), to: .integer(40)) }
    #expect(nobody.value.count == 1)
  }

  // MARK: Reading

  @Test(arguments: [0, PagedChanges.rowLimit])
  func `while all readers wait for a delivery, a list and a large set are read all the same`(_ others: Int) throws {
    let list = try store.list(Query(where: .age >= 18, sortedBy: [.ascending(.name)]))
    let zoe = try add("Zoë", age: 3)
    let (reading, written) = (Recorder<Int>(), Gate())
    let readers = try (0..<4).map { number in
      try Threads.start { [store] in
        try store.read { transaction in
          _ = try transaction.userCount
          reading.record(number)
          written.wait()
        }
      }
    }
    reading.wait(for: 4)
    // Who enters needs values that are not in the change.
    try store.write { transaction in
      for number in 0..<others { try transaction.set("note", of: zoe, to: .integer(Int64(number))) }
      try transaction.set(.age, of: zoe, to: 20)
    }
    #expect(names(list.value) == ["Zoë"])
    written.open()
    for reader in readers { try reader.join() }
  }
}
