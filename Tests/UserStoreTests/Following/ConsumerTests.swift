import Foundation
import Testing

@testable import UserStore

/// Consumers that keep their position in the database.
@Suite(.timeLimit(.minutes(5))) struct ConsumerTests {
  let folder: Folder
  let store: UserStore

  init() throws {
    folder = try Folder()
    store = try folder.open()
  }

  @Test func `a new name begins now, with the oldest change, or after a cursor`() async throws {
    let sets = try store.addUsers(3)
    let oldest = try store.consumer("oldest", from: .oldest)
    #expect(try await oldest.next(3).map(\.cursor) == sets.map(\.cursor))
    let after = try store.consumer("after", from: .after(sets[1].cursor))
    #expect(try await after.next(1).map(\.cursor) == [sets[2].cursor])
    let now = try store.consumer("now")
    let next = try store.addUsers(1)
    #expect(try await now.next(1).map(\.cursor) == next.map(\.cursor))
  }

  @Test func `a name that is known goes on where it was, wherever it is told to begin`() async throws {
    let sets = try store.addUsers(3)
    _ = try store.consumer("mailer", from: .after(sets[0].cursor))
    for start in [Consumer.Start.now, .oldest, .after(sets[2].cursor)] {
      #expect(try store.consumer("mailer", from: start).cursor == sets[0].cursor)
    }
  }

  @Test func `what was acknowledged does not come again, what was not comes with the same cursor`() async throws {
    let sets = try store.addUsers(4)
    let mailer = try store.consumer("mailer", from: .oldest)
    #expect(try await mailer.next(3).map(\.cursor) == sets.prefix(3).map(\.cursor))
    try await mailer.acknowledge(sets[1])
    #expect(try mailer.cursor == sets[1].cursor)
    #expect(try await mailer.next(2).map(\.lines) == sets.suffix(2).map(\.lines))
    store.close()
    let reopened = try folder.open()
    #expect(try await reopened.consumer("mailer").next(2).map(\.cursor) == sets.suffix(2).map(\.cursor))
  }

  @Test func `an iteration gives what is there, then what comes, each once`() async throws {
    let there = try store.addUsers(2)
    let mailer = try store.consumer("mailer", from: .oldest)
    var cursors: [Cursor] = []
    for try await set in mailer {
      cursors.append(set.cursor)
      try await mailer.acknowledge(set)
      if cursors.count == 5 { break }
      if cursors.count >= 2 { try await store.write { try $0.add(name: "more") } }
    }
    #expect(try cursors == store.allChanges().prefix(5).map(\.cursor))
    #expect(cursors.prefix(2) == there.map(\.cursor)[...])
  }

  @Test func `an acknowledgement never goes back`() async throws {
    let sets = try store.addUsers(3)
    let mailer = try store.consumer("mailer", from: .oldest)
    try await mailer.acknowledge(sets[2])
    try await mailer.acknowledge(sets[0])
    try await mailer.flush()
    #expect(try folder.durableRevision() == sets[2].revision.rawValue)
    try await store.write { try mailer.acknowledge(sets[1], in: &$0) }
    #expect(try folder.durableRevision() == sets[2].revision.rawValue)
    #expect(try mailer.cursor == sets[2].cursor)
  }

  @Test func `a name is 1 to 200 scalars without control characters`() throws {
    for name in ["", "a\nb", "\u{7F}", String(repeating: "é", count: 201)] {
      #expect(code { try store.consumer(name) } == .badValue)
    }
    for name in ["a", "📮 müller’s", String(repeating: "é", count: 200)] { _ = try store.consumer(name) }
    // Two spellings of the same letter are two names, as everywhere in SQLite.
    let first = try store.consumer("\u{E9}")
    _ = try store.consumer("e\u{301}")
    #expect(throws: Never.self) { try first.cursor }
  }

  @Test func `the list tells name, position, lag in changes, and when`() async throws {
    let sets = try store.addUsers(3)
    _ = try store.consumer("behind", from: .after(sets[0].cursor))
    _ = try store.consumer("ahead")
    let before = Int64(Date().timeIntervalSince1970 * 1_000)
    let late = try store.consumer("late", from: .oldest)
    try await late.acknowledge(sets[1])
    let all = try await store.read { try $0.consumers() }
    #expect(all.map(\.name) == ["ahead", "behind", "late"])
    // A user is two changes: name and hair colour.
    #expect(all.map(\.lag) == [0, 4, 2])
    #expect(all.map(\.cursor) == [sets[2].cursor, sets[0].cursor, sets[1].cursor])
    let after = Int64(Date().timeIntervalSince1970 * 1_000)
    #expect((before...after).contains(all[2].milliseconds))
    let count = try await store.write { try $0.consumers().count }
    #expect(count == 3)
  }

  @Test func `a store that only reads lists consumers, and refuses the rest`() throws {
    _ = try store.consumer("mailer")
    let reader = try folder.open { $0.access = .readOnly }
    #expect(code { try reader.consumer("mailer") } == .readOnly)
    #expect(code { try reader.removeConsumer("mailer") } == .readOnly)
    let names = try reader.read { try $0.consumers().map(\.name) }
    #expect(names == ["mailer"])
  }

  @Test func `in memory a consumer works the same`() async throws {
    let store = try UserStore.inMemory()
    let sets = try store.addUsers(3)
    let mailer = try store.consumer("mailer", from: .oldest)
    for try await set in mailer {
      try await mailer.acknowledge(set)
      if set.cursor == sets[1].cursor { break }
    }
    #expect(try await store.consumer("mailer").next(1).map(\.cursor) == [sets[2].cursor])
    #expect(await awaitedCode { try await mailer.acknowledge(sets[2]) } == .superseded)
  }

  @Test func `an acknowledgement in a file that was moved is refused`() async throws {
    let sets = try store.addUsers(2)
    let mailer = try store.consumer("mailer", from: .oldest)
    try await mailer.acknowledge(sets[0])
    try FileManager.default.moveItem(atPath: folder.database, toPath: folder.path + "/elsewhere.db")
    #expect(await awaitedCode { try await mailer.acknowledge(sets[1]) } == .moved)
    #expect(await awaitedCode { try await store.write { try mailer.acknowledge(sets[1], in: &$0) } } == .moved)
    #expect(await awaitedCode { try await mailer.next(1) } == .replaced)
  }

  @Test func `a closed store says so`() async throws {
    let sets = try store.addUsers(1)
    let mailer = try store.consumer("mailer", from: .oldest)
    store.close()
    #expect(await awaitedCode { try await mailer.acknowledge(sets[0]) } == .closed)
    #expect(code { try store.consumer("mailer") } == .closed)
    #expect(try await mailer.next(1).isEmpty)
  }
}
