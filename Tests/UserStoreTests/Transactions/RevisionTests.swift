import TestSupport
import Testing

@testable import UserStore

/// The revision that a write has before it is committed.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct RevisionTests {
  /// What a write has seen of its place in the log.
  private struct Place: Sendable {
    let origin: String
    let start: Revision
    let end: Revision

    init(_ origin: String, in transaction: inout WriteTransaction) throws {
      self.origin = origin
      (start, end) = (try transaction.cursor.revision, try transaction.revision)
    }
  }

  private let folder: Folder
  private let store: UserStore
  private let zoe: User.ID
  private let places = Recorder<Place>()

  init() throws {
    folder = try Folder()
    store = try folder.open { $0.retention = .unlimited }
    zoe = try store.write { try $0.add(name: "Zoë") }
  }

  /// Compares the places with the sets in the log: each write that changed something has one, which starts after `start` and ends
  /// at `end`.
  private func checkPlaces(sourceLocation: SourceLocation = #_sourceLocation) throws {
    let sets = Dictionary(try store.allChanges().map { ($0.origin, $0) }) { first, _ in first }
    for place in places.all {
      guard let set = sets[place.origin] else {
        #expect(place.end == place.start, "\(place)", sourceLocation: sourceLocation)
        continue
      }
      #expect(set.revision == place.end, "\(place)", sourceLocation: sourceLocation)
      let first = try set.changes.first?.sequence
      #expect(first == place.start.rawValue + 1, "\(place)", sourceLocation: sourceLocation)
      let cursor = try store.read { try $0.cursor(at: place.end) }
      #expect(cursor == set.cursor, "\(place)", sourceLocation: sourceLocation)
    }
  }

  private func record(_ origin: String, _ transaction: inout WriteTransaction) throws {
    places.record(try Place(origin, in: &transaction))
  }

  // MARK: One write

  @Test func `a write that changes nothing has the revision of its cursor`() throws {
    let before = try store.read { try $0.cursor.revision }
    let revisions = try store.write { transaction in
      let first = try transaction.revision
      try transaction.rename(zoe, to: "Zoë")
      try transaction.unset(Attribute<Int>("age"), of: zoe)
      return [first, try transaction.revision, try transaction.cursor.revision]
    }
    #expect(revisions == [before, before, before])
    #expect(try store.read { try $0.cursor.revision } == before)
  }

  @Test func `each change moves the revision, also one that a later change takes back`() throws {
    let received = Recorder<Revision>()
    store.listeners.bind("test", to: .everything) { received.record($0.revision) }
    let start = try store.read { try $0.cursor.revision.rawValue }
    let revisions = try store.write { transaction in
      var revisions: [Int64] = []
      for name in ["a", "a", "Zoë"] {
        try transaction.rename(zoe, to: name)
        revisions.append(try transaction.revision.rawValue)
      }
      try transaction.add(name: "NIX")
      return revisions + [try transaction.revision.rawValue]
    }
    #expect(revisions == [start + 2, start + 2, start + 3, start + 5])
    #expect(received.all.map(\.rawValue) == [start + 5])
  }

  @Test func `changes that an inner savepoint takes back do not count`() throws {
    try store.write(origin: "first") { transaction in
      try transaction.rename(zoe, to: "a")
      try transaction.set("age", of: zoe, to: .integer(1))
    }
    let first = try store.read { try $0.cursor.revision }
    try store.write(origin: "second") { try $0.rename(zoe, to: "b") }
    try store.write(origin: "refused") { transaction in
      // The age is changed back before the conflict is found.
      #expect(code { try transaction.undo(first) } == .conflict)
      try record("refused", &transaction)
    }
    try store.write(origin: "both") { transaction in
      try transaction.set("size", of: zoe, to: .integer(1))
      #expect(code { try transaction.undo(first) } == .conflict)
      try record("both", &transaction)
    }
    try store.write(origin: "undo") { transaction in
      try transaction.undo(Revision(rawValue: first.rawValue + 2))
      try record("undo", &transaction)
    }
    #expect(places.all.map { $0.end.rawValue - $0.start.rawValue } == [0, 2, 2])
    try checkPlaces()
  }

  /// A savepoint that has changes when it is rolled back.
  @Test func `the rows of a savepoint that is rolled back are not in the log`() throws {
    try store.write(origin: "none") { transaction in
      try transaction.session.savepoint()
      try transaction.rename(zoe, to: "a")
      let (end, start) = (try transaction.revision, try transaction.cursor.revision)
      #expect(end > start)
      try transaction.session.rollBackToSavepoint()
      try record("none", &transaction)
    }
    #expect(places.all.map { $0.end.rawValue - $0.start.rawValue } == [0])
    try store.write(origin: "some") { transaction in
      try transaction.rename(zoe, to: "b")
      try transaction.session.savepoint()
      for number in 0..<9 { try transaction.rename(zoe, to: "\(number)") }
      try transaction.session.rollBackToSavepoint()
      try transaction.rename(zoe, to: "c")
      try record("some", &transaction)
    }
    #expect(places.all.last.map { $0.end.rawValue - $0.start.rawValue } == 3)
    try checkPlaces()
  }

  @Test func `changes by another program, and a compacted log, are before the write`() throws {
    try folder.shell("UPDATE users SET name = 'foreign'; INSERT INTO users (name) VALUES ('x'), ('y')")
    try store.write(origin: "after the program") { transaction in
      try transaction.rename(zoe, to: "a")
      try record("after the program", &transaction)
    }
    try store.compact(keeping: .rows(0))
    try store.write(origin: "after the compaction") { transaction in
      try transaction.rename(zoe, to: "b")
      try record("after the compaction", &transaction)
    }
    #expect(places.all.map { $0.end.rawValue - $0.start.rawValue } == [2, 2])
    #expect(places.all[1].start == places.all[0].end)
    let sets = try store.allChanges()
    #expect(sets.map(\.revision) == [places.all[1].end])
  }

  @Test func `a write whose transaction has ended has no revision`() {
    #expect(
      code {
        try store.write { transaction in
          try transaction.execute("ROLLBACK")
          _ = try transaction.revision
        }
      } == .transactionEnded)
  }

  // MARK: Shared commits

  @Test(arguments: Lineup.Kind.allCases)
  func `each write of a shared commit has the revision of its own set`(kind: Lineup.Kind) async throws {
    let (zoe, places) = (zoe, places)
    try await store.write { try $0.rename(zoe, to: "a") }
    let old = try await store.read { try $0.cursor.revision }
    try await store.write { try $0.rename(zoe, to: "b") }
    let lineup = await Lineup(store, first: kind) { transaction in
      try transaction.add(name: "first")
      places.record(try Place("first", in: &transaction))
    }
    for number in 0..<40 {
      await lineup.add(number.isMultiple(of: 3) ? .thread : .task) { transaction in
        switch number % 6 {
        case 0: for _ in 0...number { try transaction.add(name: "\(number)") }
        case 1: try transaction.rename(zoe, to: "\(number)")
        case 2: try transaction.set("age", of: User.ID(12_345), to: .null)
        case 3: #expect(code { try transaction.undo(old) } == .conflict)
        case 4:
          try transaction.add(name: "\(number)")
          #expect(code { try transaction.undo(old) } == .conflict)
        default: break
        }
        places.record(try Place("\(number)", in: &transaction))
        // Its changes and its row at the end are taken back.
        if number % 6 == 1, number % 4 == 1 { throw Refusal() }
      }
    }
    let results = await lineup.go()
    let failed = Set(results.indices.filter { results[$0] != nil }.map(String.init))
    #expect(failed.count == 7 + 4, "\(results)")
    let all = places.all
    #expect(all.count == 41 - 7)
    let sets = try store.allChanges()
    #expect(sets.contains { $0.origin == "39" } == false && sets.contains { $0.origin == "36" })
    for place in all where !failed.contains(place.origin) {
      let set = sets.first { $0.origin == place.origin }
      #expect((set?.revision ?? place.start) == place.end, "\(place)")
      #expect((set == nil) == [3, 5].contains(Int(place.origin).map { $0 % 6 } ?? 0), "\(place)")
    }
  }

  @Test func `with concurrent writes of threads, tasks and another program, each has the revision of its own set`()
    async throws
  {
    let (store, folder, zoe, places) = (store, folder, zoe, places)
    let base = Seed.base
    @Sendable func write(_ origin: String, _ random: inout SplitMix64, in transaction: inout WriteTransaction) throws {
      for _ in 0..<random.next() % 4 {
        switch random.next() % 4 {
        case 0: try transaction.add(name: origin)
        case 1: try transaction.rename(zoe, to: origin)
        case 2: try transaction.rename(zoe, to: transaction.value(.name, of: zoe) ?? "")
        default:
          try transaction.session.savepoint()
          try transaction.add(name: "taken back")
          try transaction.session.rollBackToSavepoint()
        }
      }
      places.record(try Place(origin, in: &transaction))
      if random.next() % 8 == 0 { throw Refusal() }
    }
    let refused = Recorder<String>()
    let program = try Threads.start {
      for number in 0..<20 { try folder.shell("UPDATE users SET hair_color = '#00000\(number % 10)' WHERE id = 1") }
    }
    let threads = try Threads.start {
      try Threads.run(8) { thread in
        var random = SplitMix64(seed: base &+ UInt64(thread))
        for step in 0..<40 {
          let origin = "thread \(thread) \(step)"
          do {
            try store.write(origin: origin) { transaction in try write(origin, &random, in: &transaction) }
          } catch is Refusal { refused.record(origin) }
        }
      }
    }
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<200 {
        group.addTask {
          let origin = "task \(task)"
          do {
            try await store.write(origin: origin) { transaction in
              var random = SplitMix64(seed: base &+ UInt64(1_000 + task))
              try write(origin, &random, in: &transaction)
            }
          } catch is Refusal { refused.record(origin) } catch { Issue.record(error) }
        }
      }
    }
    try await threads.joined()
    try await program.joined()
    #expect(places.count == 8 * 40 + 200)
    let sets = Dictionary(
      uniqueKeysWithValues: try store.allChanges().filter { $0.origin != nil }.map { ($0.origin!, $0) })
    let taken = Set(refused.all)
    for place in places.all where !taken.contains(place.origin) {
      let set = sets[place.origin]
      #expect((set?.revision ?? place.start) == place.end, "\(place)")
      if let set { #expect(try set.changes.first?.sequence == place.start.rawValue + 1, "\(place)") }
    }
    #expect(taken.isDisjoint(with: sets.keys) && sets.count > 100)
  }
}
