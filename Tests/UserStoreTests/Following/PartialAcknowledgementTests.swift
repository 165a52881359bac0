import Foundation
import Testing

@testable import UserStore

/// Acknowledging a part of a set: a restart continues in the set.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct PartialAcknowledgementTests {
  let folder: Folder
  let store: UserStore

  init() throws {
    folder = try Folder()
    store = try folder.open()
  }

  /// Adds users in one write with an origin, and returns its set.
  private func importUsers(_ count: Int) throws -> ChangeSet {
    let before = try store.read { try $0.cursor }
    try store.write(origin: "import") { users in for number in 0..<count { try users.add(name: "\(number)") } }
    return try #require(try store.page(after: before).first)
  }

  private func lines(_ sets: [ChangeSet]) -> [String] { sets.flatMap(\.lines) }

  @Test func `after each change of a set, a restart receives the rest, which says that it is continued`() async throws {
    let before = try store.addUsers(1)[0]
    let set = try importUsers(4)
    let next = try store.addUsers(1)[0]
    let changes = try set.changes
    for (index, change) in changes.enumerated() {
      for isInWrite in [false, true] {
        let name = "mailer \(index) \(isInWrite)"
        let mailer = try await store.consumer(name, from: .after(before.cursor))
        let whole = try await mailer.next(1)[0]
        #expect(!whole.isContinued && whole.cursor == set.cursor)
        if isInWrite {
          try await store.write { try mailer.acknowledge(whole, through: change, in: &$0) }
        } else {
          try await mailer.acknowledge(whole, through: change)
        }
        let rest = try await store.consumer(name).next(1)[0]
        if index == changes.count - 1 {
          #expect(rest.cursor == next.cursor && !rest.isContinued, "the whole set is acknowledged")
        } else {
          #expect(rest.lines == Array(set.lines[(index + 1)...]))
          #expect(rest.isContinued && rest.cursor == set.cursor && rest.origin == "import" && !rest.isForeign)
        }
      }
    }
    // The next sets are whole.
    let continued = try await store.consumer("mailer 0 true").next(2).map(\.isContinued)
    #expect(continued == [true, false])
  }

  @Test func `a set of many pages is continued at any of its changes, in each restart`() async throws {
    let set = try importUsers(1_300)
    let changes = try set.changes
    #expect(set.heldChanges == nil)
    var received: [Int64] = []
    for stop in [1, 999, 1_000, 1_001, 1_002, 2_000, 2_001, 2_599, 2_600] {
      let mailer = try await store.consumer("mailer", from: .oldest)
      let rest = try await mailer.next(1)[0]
      #expect(rest.isContinued == !received.isEmpty && rest.cursor == set.cursor)
      var last: Change?
      try await rest.iterate { change in
        received.append(change.sequence)
        last = change
        return received.count < stop
      }
      let end: Change = try #require(last)
      try await mailer.acknowledge(rest, through: end)
    }
    #expect(received == changes.map(\.sequence))
    #expect(try await store.consumer("mailer").cursor() == set.cursor)
  }

  @Test func `acknowledgments move forward only, and inside a set too`() async throws {
    let set = try importUsers(3)
    let changes = try set.changes
    let mailer = try await store.consumer("mailer", from: .oldest)
    try await mailer.acknowledge(set, through: changes[3])
    try await mailer.acknowledge(set, through: changes[1])
    #expect(try await mailer.cursor().revision.rawValue == changes[3].sequence)
    try await mailer.acknowledge(set)
    try await mailer.acknowledge(set, through: changes[4])
    try await store.write { try mailer.acknowledge(set, through: changes[4], in: &$0) }
    #expect(try await mailer.cursor() == set.cursor)
  }

  @Test func `a write that throws after its acknowledgment does not move the position`() async throws {
    struct Stop: Error {}
    let set = try importUsers(2)
    let change = try set.changes[1]
    let mailer = try await store.consumer("mailer", from: .oldest)
    await #expect(throws: Stop.self) {
      try await store.write { users in
        try mailer.acknowledge(set, through: change, in: &users)
        throw Stop()
      }
    }
    #expect(try await mailer.next(1)[0].lines == set.lines)
  }

  @Test func `a change of a later set is refused`() async throws {
    let set = try importUsers(2)
    let later = try store.addUsers(1)[0]
    let change = try #require(try later.changes.first)
    let mailer = try await store.consumer("mailer", from: .oldest)
    #expect(await awaitedCode { try await mailer.acknowledge(set, through: change) } == .badValue)
    let inWrite = await awaitedCode {
      try await store.write { try mailer.acknowledge(set, through: change, in: &$0) }
    }
    #expect(inWrite == .badValue)
    #expect(try await mailer.next(1)[0].cursor == set.cursor)
  }

  @Test func `a set of which a part is acknowledged stays in the log, and can be compacted when it is acknowledged`()
    async throws
  {
    let set = try importUsers(1_200)
    _ = try store.addUsers(3)
    let middle = try set.changes[1_500]
    let mailer = try await store.consumer("mailer", from: .oldest)
    try await mailer.acknowledge(set, through: middle)
    try await mailer.flush()
    #expect(try await store.compact(keeping: .rows(0)).sets == 0)
    let rest = try await store.consumer("mailer").next(1)[0]
    #expect(rest.isContinued)
    #expect(try rest.changes.map(\.sequence) == set.changes.map(\.sequence).filter { $0 > middle.sequence })
    // Without regard to consumers, the changes are deleted.
    let policy = RetentionPolicy(.init(changes: 0), consumerLimits: .init(changes: 0))
    #expect(try await store.compact(keeping: policy).sets > 0)
    #expect(await awaitedCode { try await store.consumer("mailer").next(1) } == .compacted)
    #expect(await awaitedCode { try await mailer.acknowledge(set, through: middle) } != nil)
  }

  @Test func `a feed that starts within a set receives the rest, which says that it is continued`() async throws {
    let set = try importUsers(2)
    let second = try set.changes[1]
    let found = try await store.read { try $0.cursor(at: UserStore.Revision(rawValue: second.sequence)) }
    let cursor = try #require(found)
    for try await rest in store.changeSets(after: cursor) {
      #expect(rest.isContinued && rest.lines == Array(set.lines[2...]))
      break
    }
    #expect(try store.allChanges().allSatisfy { !$0.isContinued })
  }

  @Test(.sqlite) func `a foreign transaction is continued too`() async throws {
    let before = try await store.read { try $0.cursor }
    try folder.shell("INSERT INTO users (name) VALUES ('a'), ('b'), ('c')")
    let set = try #require(try await store.page(after: before).first)
    let changes = try set.changes
    for (index, change) in changes.enumerated().dropLast() {
      let mailer = try await store.consumer("mailer \(index)", from: .after(before))
      #expect(try await !mailer.next(1)[0].isContinued)
      try await mailer.acknowledge(set, through: change)
      let rest = try await store.consumer("mailer \(index)").next(1)[0]
      #expect(rest.isContinued && rest.isForeign && rest.lines == Array(set.lines[(index + 1)...]))
    }
    // A write of the library after the foreign set is whole, and the position is the end of a set.
    let own = try store.addUsers(1)[0]
    let mailer = try await store.consumer("last", from: .after(before))
    let last: Change = try #require(changes.last)
    try await mailer.acknowledge(set, through: last)
    let next = try await store.consumer("last").next(1)[0]
    #expect(next.cursor == own.cursor && !next.isContinued)
  }

  @Test(.sqlite) func `a position within a set of another log is diverged`() async throws {
    let set = try importUsers(3)
    let mailer = try await store.consumer("mailer", from: .oldest)
    try await mailer.acknowledge(set, through: try set.changes[2])
    try folder.shell("UPDATE changes SET nonce = nonce + 1 WHERE seq = \(set.changes[2].sequence)")
    #expect(await awaitedCode { try await store.consumer("mailer").next(1) } == .diverged)
  }

  // MARK: Kills

  enum Moment: String, CaseIterable, Codable, Sendable {
    case betweenEffectAndAcknowledgement, beforeCommit, afterCommit
  }

  /// Counts the added users, each in a write of its own together with its acknowledgment; is killed at its 40th.
  private static func count(in database: String, killedAt moment: Moment?) async throws {
    let store = try UserStore(path: database)
    let counter = try await store.consumer("counter", from: .oldest, of: [.attribute(.name)])
    let number = Lock(0)
    for try await set in counter {
      if set.origin == "import" {
        try await set.forEach { change in
          try await store.write { transaction in
            let dies =
              number.withLock {
                $0 += 1; return $0
              } == 40 ? moment : nil
            let id = User.ID(1)
            try transaction.set(.age, of: id, to: (try transaction.value(.age, of: id) ?? 0) + 1)
            if dies == .betweenEffectAndAcknowledgement { kill(getpid(), SIGKILL) }
            try counter.acknowledge(set, through: change, in: &transaction)
            if dies == .beforeCommit { kill(getpid(), SIGKILL) }
          }
          if moment == .afterCommit, number.withLock({ $0 }) == 40 { kill(getpid(), SIGKILL) }
        }
      }
      // What follows are the counts themselves, which the topic hides.
      if set.origin == "import" { break }
    }
  }

  @Test(.sqlite) func `a process that is killed at any point of an import has counted each user exactly once`()
    async throws
  {
    try await store.write { try $0.add(name: "count") }
    _ = try importUsers(150)
    await store.close()
    let database = folder.database
    for (moment, count) in zip(Moment.allCases, [39, 78, 118]) {
      await #expect(processExitsWith: .signal(SIGKILL)) { [database = database as String, moment = moment as Moment] in
        try await Self.count(in: database, killedAt: moment)
      }
      #expect(try folder.shell("SELECT value FROM attributes WHERE name = 'age'") == "\(count)\n")
    }
    try await Self.count(in: database, killedAt: nil)
    #expect(try folder.shell("SELECT value FROM attributes WHERE name = 'age'") == "150\n")
  }
}
