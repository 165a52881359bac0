import Foundation
import Testing

@testable import UserStore

/// Effects and their acknowledgment in one write: both are committed, or neither.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ExactlyOnceTests {
  let folder: Folder
  let store: UserStore

  init() throws {
    folder = try Folder()
    store = try folder.open()
  }

  @Test func `position and effects are committed or rolled back together`() async throws {
    let id = try await store.write { try $0.add(name: "count") }
    let mailer = try await store.consumer("mailer", from: .oldest)
    let set = try await mailer.next(1)[0]
    struct Stop: Error {}
    await #expect(throws: Stop.self) {
      try await store.write { transaction in
        try transaction.set(.count, of: id, to: 1)
        try mailer.acknowledge(set, in: &transaction)
        throw Stop()
      }
    }
    #expect(try await store.read { try $0.value(.count, of: id) } == nil)
    #expect(try await mailer.next(1)[0].cursor == set.cursor)
    try await store.write { transaction in
      try transaction.set(.count, of: id, to: 1)
      try mailer.acknowledge(set, in: &transaction)
    }
    #expect(try await store.read { try $0.value(.count, of: id) } == 1)
    #expect(try await mailer.next(1)[0].lines == ["updated 1 count - 1"])
  }

  @Test func `a write that only acknowledges creates no change set and no round`() async throws {
    let sets = try store.addUsers(2)
    let mailer = try await store.consumer("mailer", from: .oldest)
    let received = Recorder<ChangeSet>()
    store.listeners.bind("test", to: .everything) { received.record($0) }
    let rows = try folder.shell("SELECT count(*) FROM changes")
    try await store.write { try mailer.acknowledge(sets[0], in: &$0) }
    try await mailer.acknowledge(sets[1])
    #expect(try folder.durableRevision() == sets[1].revision.rawValue)
    #expect(try folder.shell("SELECT count(*) FROM changes") == rows)
    #expect(received.count == 0)
    #expect(try store.allChanges(after: sets[1].cursor).isEmpty)
  }

  @Test func `acknowledgments that share a commit are committed or rolled back independently`() async throws {
    let sets = try store.addUsers(64)
    let mailer = try await store.consumer("mailer", from: .oldest)
    struct Stop: Error {}
    let store = store
    await withTaskGroup(of: Void.self) { group in
      for set in sets {
        group.addTask {
          try? await store.write { transaction in
            try mailer.acknowledge(set, in: &transaction)
            if set.revision > sets[40].revision { throw Stop() }
          }
        }
      }
    }
    #expect(try folder.durableRevision() == sets[40].revision.rawValue)
  }

  enum Moment: String, CaseIterable, Codable, Sendable {
    case betweenEffectAndAcknowledgement, beforeCommit, afterCommit
  }

  /// Adds one to the count for each set with the origin “work”, and acknowledges the set in the same write.
  private static func count(in database: String, killedAt moment: Moment?) async throws {
    let store = try UserStore(path: database)
    let end = try await store.read { try $0.cursor }
    let counter = try await store.consumer("counter", from: .oldest)
    var written = 0
    for try await set in counter {
      if set.origin == "work" {
        written += 1
        let dies = written == 2 ? moment : nil
        try await store.write { transaction in
          let id = User.ID(1)
          try transaction.set(.count, of: id, to: (try transaction.value(.count, of: id) ?? 0) + 1)
          if dies == .betweenEffectAndAcknowledgement { kill(getpid(), SIGKILL) }
          try counter.acknowledge(set, in: &transaction)
          if dies == .beforeCommit { kill(getpid(), SIGKILL) }
        }
        if dies == .afterCommit { kill(getpid(), SIGKILL) }
      }
      if set.revision >= end.revision { break }
    }
  }

  @Test func `a process that is killed at any point has counted each set exactly once`() async throws {
    try await store.write { try $0.add(name: "count") }
    for number in 0..<7 { try await store.write(origin: "work") { try $0.add(name: "\(number)") } }
    await store.close()
    let database = folder.database
    for (moment, count) in zip(Moment.allCases, [1, 2, 4]) {
      await #expect(processExitsWith: .signal(SIGKILL)) { [database = database as String, moment = moment as Moment] in
        try await Self.count(in: database, killedAt: moment)
      }
      // Each process counts one set before the kill. The set of the kill counts only after its commit.
      #expect(try folder.shell("SELECT value FROM attributes WHERE name = 'count'") == "\(count)\n")
    }
    try await Self.count(in: database, killedAt: nil)
    #expect(try folder.shell("SELECT value FROM attributes WHERE name = 'count'") == "7\n")
  }
}

extension Attribute where Value == Int {
  fileprivate static var count: Attribute { Attribute("count") }
}
