import Foundation
import TestSupport
import Testing

@testable import UserStore

/// What is opened beside another program that never stops to write.
@MainActor @Suite(.boundedOnMainActor, .serialized, .timeLimit(.minutes(10))) struct BusyWriterTests {
  private let folder: Folder
  private let store: UserStore
  private let writer: Child
  private let note = Attribute<Int>("note")

  /// The writer sets, in a transaction each, an age of one user and a note that it never sets again.
  init() throws {
    folder = try Folder()
    store = try folder.open()
    try store.writeNow { [note] transaction in
      for index in 0..<20 {
        let user = try transaction.add(name: "user \(index)")
        try transaction.set(.age, of: user, to: 17)
        try transaction.set(note, of: user, to: 0)
      }
    }
    let program = """
      import itertools, random, select, sqlite3, sys
      db = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)
      db.execute("PRAGMA synchronous = OFF")
      for number in itertools.count(1):
        if number == 2: print("writing", flush=True)
        # A pause, for the tests beside it; with one of a millisecond, broken code passed in 11 of 12 runs, with this in none.
        if select.select([sys.stdin], [], [], 0.0002)[0]: break
        user = random.randint(1, 20)
        db.execute("BEGIN IMMEDIATE")
        db.execute("UPDATE attributes SET value = ? WHERE user_id = ? AND name = 'note'", (number, user))
        db.execute("UPDATE attributes SET value = ? WHERE user_id = ? AND name = 'age'", (random.choice([17, 18, 40]), user))
        db.execute("COMMIT")
      """
    writer = try Child(
      [Child.python, "-c", program, folder.database], environment: ProcessInfo.processInfo.environment)
    #expect(writer.output.next() == "writing")
  }

  @Test(.sqlite) func `everything is exact when the writer has stopped, and no value comes twice`() async throws {
    // A listener of each set: so that the next ones are merged meanwhile.
    store.listeners.bind("reads", to: .everything) { [weak store] _ in _ = try store?.readNow { try $0.users() } }
    let adults: Condition = .age >= 18
    var counts: [Listenable<Int>] = []
    var lists: [(query: Query, list: Listenable<Rows>)] = []
    var heard: [(user: User.ID, values: Recorder<Int?>, listenable: Listenable<Int?>)] = []
    var users: [ObservableUser] = []
    var fields: [(user: User.ID, field: Thing, chain: BindingChain)] = []
    let faults = Faults()
    for number in 0..<12 {
      let user = User.ID(Int64(number % 20 + 1))
      // A condition of its own each, so that each is read.
      counts.append(try await store.liveCount(where: .age >= 18 && .exists(AttributeName("name \(number)")) || adults))
      for condition in [adults, .age == 18] {
        let query = Query(where: condition, sortedBy: [.ascending(note)], limit: 100 + number)
        lists.append((query, try await store.list(query)))
      }
      let values = Recorder<Int?>()
      let listenable = try await store.listenable(note, of: user)
      listenable.bindAndFire("values \(number)") { values.record($0) }
      heard.append((user, values, listenable))
      // Each set of a user that is observed is a turn of the main actor.
      if number >= 3 { continue }
      users.append(try await store.observable(user))
      let field = Thing()
      fields.append((user, field, faults.chain("chain \(number)").bind(store, .age, of: user).bind(field, \.age)))
    }
    writer.endInput()
    #expect(writer.wait() == 0)
    // A write delivers what other programs committed before.
    let now = try store.writeNow { transaction in
      try transaction.set("stopped", of: User.ID(1), to: .integer(1))
      return Dictionary(uniqueKeysWithValues: try transaction.users().map { ($0.id, $0) })
    }
    for count in counts { #expect(count.value == now.values.count { adults.isTrue(of: $0) }) }
    for (query, list) in lists {
      let expected = try store.readNow { try $0.users(matching: query) }
      #expect(Array(list.value) == expected)
    }
    for (user, values, listenable) in heard {
      let values = values.all.compactMap { $0 }
      #expect(zip(values, values.dropFirst()).allSatisfy { $0 < $1 }, "\(values)")
      #expect(listenable.value == (try now[user]?[note]))
    }
    for user in users {
      await turns { user[note] == (try? now[user.id]?[note]) }
      #expect(user[.age] == (try now[user.id]?[.age]))
    }
    for (user, field, _) in fields { await turns { field.age == (try? now[user]?[.age]) } }
    #expect(faults.texts == [])
  }
}
