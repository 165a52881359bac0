import Foundation
import Testing

@testable import UserStore

/// Named consumers, which keep their position in the database.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ConsumerTests {
  let folder: Folder
  let store: UserStore

  init() throws {
    folder = try Folder()
    store = try folder.open()
  }

  @Test func `a new consumer starts now, at the oldest change, or after a cursor`() async throws {
    let sets = try store.addUsers(3)
    let oldest = try await store.consumer("oldest", from: .oldest)
    #expect(try await oldest.next(3).map(\.cursor) == sets.map(\.cursor))
    let after = try await store.consumer("after", from: .after(sets[1].cursor))
    #expect(try await after.next(1).map(\.cursor) == [sets[2].cursor])
    let now = try await store.consumer("now")
    let next = try store.addUsers(1)
    #expect(try await now.next(1).map(\.cursor) == next.map(\.cursor))
  }

  @Test func `an existing consumer continues at its position, whatever start is passed`() async throws {
    let sets = try store.addUsers(3)
    _ = try await store.consumer("mailer", from: .after(sets[0].cursor))
    for start in [Consumer.Start.now, .oldest, .after(sets[2].cursor)] {
      #expect(try await store.consumer("mailer", from: start).cursor() == sets[0].cursor)
    }
  }

  @Test func `acknowledged sets are not delivered again, and pending sets keep their cursor`() async throws {
    let sets = try store.addUsers(4)
    let mailer = try await store.consumer("mailer", from: .oldest)
    #expect(try await mailer.next(3).map(\.cursor) == sets.prefix(3).map(\.cursor))
    try await mailer.acknowledge(sets[1])
    #expect(try await mailer.cursor() == sets[1].cursor)
    #expect(try await mailer.next(2).map(\.lines) == sets.suffix(2).map(\.lines))
    await store.close()
    let reopened = try folder.open()
    #expect(try await reopened.consumer("mailer").next(2).map(\.cursor) == sets.suffix(2).map(\.cursor))
  }

  @Test func `an iteration delivers past sets, then new ones, each once`() async throws {
    let there = try store.addUsers(2)
    let mailer = try await store.consumer("mailer", from: .oldest)
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

  @Test(.sqlite) func `an acknowledgment never moves the position back`() async throws {
    let sets = try store.addUsers(3)
    let mailer = try await store.consumer("mailer", from: .oldest)
    try await mailer.acknowledge(sets[2])
    try await mailer.acknowledge(sets[0])
    try await mailer.flush()
    #expect(try folder.durableRevision() == sets[2].revision.rawValue)
    try await store.write { try mailer.acknowledge(sets[1], in: &$0) }
    #expect(try folder.durableRevision() == sets[2].revision.rawValue)
    #expect(try await mailer.cursor() == sets[2].cursor)
  }

  @Test func `a name is 1 to 200 scalars without control characters`() async throws {
    for name in ["", "a\nb", "\u{7F}", String(repeating: "é", count: 201)] {
      #expect(code { try store.consumer(name) } == .badValue)
    }
    for name in ["a", "📮 müller’s", String(repeating: "é", count: 200)] { _ = try await store.consumer(name) }
    // Two encodings of the same letter are two names, as everywhere in SQLite.
    let first = try await store.consumer("\u{E9}")
    _ = try await store.consumer("e\u{301}")
    await #expect(throws: Never.self) { try await first.cursor() }
  }

  @Test func `the list has each consumer's name, position, lag in changes, and last activity`() async throws {
    let sets = try store.addUsers(3)
    _ = try await store.consumer("behind", from: .after(sets[0].cursor))
    _ = try await store.consumer("ahead")
    let before = Int64(Date().timeIntervalSince1970 * 1_000)
    let late = try await store.consumer("late", from: .oldest)
    try await late.acknowledge(sets[1])
    let all = try await store.read { try $0.consumers() }
    #expect(all.map(\.name) == ["ahead", "behind", "late"])
    // An added user is two changes: name and hair color.
    #expect(all.map(\.lag) == [0, 4, 2])
    #expect(all.map(\.cursor) == [sets[2].cursor, sets[0].cursor, sets[1].cursor])
    let after = Int64(Date().timeIntervalSince1970 * 1_000)
    #expect((before...after).contains(all[2].timestamp))
    let count = try await store.write { try $0.consumers().count }
    #expect(count == 3)
  }

  @Test func `a read-only store lists consumers, and refuses to claim or remove them`() throws {
    _ = try store.consumer("mailer")
    let reader = try folder.open { $0.access = .readOnly }
    #expect(code { try reader.consumer("mailer") } == .readOnly)
    #expect(code { try reader.removeConsumer("mailer") } == .readOnly)
    let names = try reader.read { try $0.consumers().map(\.name) }
    #expect(names == ["mailer"])
  }

  @Test func `a consumer works the same in memory`() async throws {
    let store = try UserStore.forTests()
    let sets = try store.addUsers(3)
    let mailer = try await store.consumer("mailer", from: .oldest)
    for try await set in mailer {
      try await mailer.acknowledge(set)
      if set.cursor == sets[1].cursor { break }
    }
    #expect(try await store.consumer("mailer").next(1).map(\.cursor) == [sets[2].cursor])
    #expect(await awaitedCode { try await mailer.acknowledge(sets[2]) } == .superseded)
  }

  @Test(.sqlite) func `an acknowledgment in a moved file is refused`() async throws {
    let sets = try store.addUsers(2)
    let mailer = try await store.consumer("mailer", from: .oldest)
    try await mailer.acknowledge(sets[0])
    try FileManager.default.moveItem(atPath: folder.database, toPath: folder.path + "/elsewhere.db")
    #expect(await awaitedCode { try await mailer.acknowledge(sets[1]) } == .moved)
    #expect(await awaitedCode { try await store.write { try mailer.acknowledge(sets[1], in: &$0) } } == .moved)
    #expect(await awaitedCode { try await mailer.next(1) } == .replaced)
  }

  @Test func `a closed store refuses acknowledgments and claims, and ends iterations`() async throws {
    let sets = try store.addUsers(1)
    let mailer = try await store.consumer("mailer", from: .oldest)
    await store.close()
    #expect(await awaitedCode { try await mailer.acknowledge(sets[0]) } == .closed)
    #expect(code { try store.consumer("mailer") } == .closed)
    #expect(try await mailer.next(1).isEmpty)
  }
}
