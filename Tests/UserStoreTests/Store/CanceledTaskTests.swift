import Foundation
import Testing

@testable import UserStore

/// In a canceled task, what writes commits once it is called, and what reads throws `CancellationError`.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct CanceledTaskTests {
  let folder: Folder
  let store: UserStore
  let sets: [ChangeSet]

  init() throws {
    folder = try Folder()
    store = try folder.open()
    sets = try store.addUsers(3)
  }

  /// Runs `body` in a task that was canceled before.
  private func canceled<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    try await Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      #expect(Task.isCancelled)
      return try await body()
    }.value
  }

  @Test func `a write is committed, also an undo and an acknowledgment in it`() async throws {
    let (store, sets) = (store, sets)
    let mailer = try await canceled { try await store.consumer("mailer", from: .oldest) }
    let id = try await canceled {
      try await store.write { transaction in
        try mailer.acknowledge(sets[0], in: &transaction)
        return try transaction.add(name: "Zoë")
      }
    }
    #expect(try await mailer.cursor() == sets[0].cursor)
    #expect(try await store.read { try $0.user(id)?.name } == "Zoë")
    _ = try await canceled { try await store.write { try $0.undo() } }
    #expect(try await store.read { try $0.user(id) } == nil)
    #expect(try await canceled { try await store.removeConsumer("mailer") })
  }

  @Test func `every kind of acknowledgment is written`() async throws {
    let (store, sets) = (store, sets)
    let mailer = try await store.consumer("mailer", from: .oldest)
    func position() async throws -> Cursor? { try await store.read { try $0.consumers().first?.cursor } }
    try await canceled { try await mailer.acknowledge(sets[0]) }
    #expect(try await position() == sets[0].cursor)
    let change = try #require(try sets[1].changes.first)
    try await canceled {
      try await mailer.acknowledge(sets[1], through: change)
      try await mailer.flush()
    }
    #expect(try await position()?.revision.rawValue == change.sequence)
    try await canceled { try await mailer.reset(to: sets[2].cursor) }
    #expect(try await position() == sets[2].cursor)
  }

  @Test func `what a loop's body does when its task is canceled is complete, and the loop ends before the next set`()
    async throws
  {
    let store = store
    let id = try await store.write { try $0.add(name: "mark") }
    let mailer = try await store.consumer("mailer", from: .oldest)
    let (sent, received) = (Recorder<Void>(), Recorder<Cursor>())
    let mayContinue = Recorder<Void>()
    let loop = Task {
      for try await set in mailer {
        // The effect outside of the store.
        received.record(set.cursor)
        sent.record(())
        while mayContinue.count == 0 { await Task.yield() }
        _ = try await store.write { try $0.set(.age, of: id, to: 1) }
        try await mailer.acknowledge(set)
      }
    }
    await sent.reached(1)
    loop.cancel()
    mayContinue.record(())
    try await loop.value
    await store.close()
    #expect(received.all == [sets[0].cursor])
    let reopened = try folder.open()
    #expect(try await reopened.read { try $0.value(.age, of: id) } == 1)
    #expect(try await reopened.consumer("mailer").cursor() == sets[0].cursor)
  }

  /// The awaited methods that only read.
  private static let reads: [(name: String, read: @Sendable (UserStore) async throws -> Void)] = [
    ("read", { _ = try await $0.read { try $0.count() } }),
    ("listenable", { _ = try await $0.listenable(.name, of: User.ID(1)) }),
    ("list", { _ = try await $0.list(Query()) }),
    ("count", { _ = try await $0.count() }),
    ("page", { _ = try await $0.page(after: nil) }),
    ("verify", { store in try await store.verify(store.publication.position) }),
    ("check", { _ = try await $0.check() }),
    ("compactionPreview", { _ = try await $0.compactionPreview() }),
    ("cursor", { _ = try await Consumer.named("there", in: $0).cursor() }),
  ]

  @Test(arguments: reads.indices) func `a read throws CancellationError`(number: Int) async throws {
    let (store, read) = (store, Self.reads[number].read)
    _ = try await store.consumer("there")
    try await read(store)
    await #expect(throws: CancellationError.self, "\(Self.reads[number].name)") {
      try await canceled { try await read(store) }
    }
  }

  @Test func `a read that runs ends when its task is canceled, and its connection can be used again`() async throws {
    let (store, begun) = (store, Recorder<Void>())
    // As many as there are connections, so that the last ones would wait for the first.
    let count = store.engine.readers.limit
    for round in 1...2 {
      let reads = (0..<count).map { _ in
        Task {
          try await store.read { users in
            begun.record(())
            while true { _ = try users.count() }
          }
        }
      }
      await begun.reached(round * count)
      for read in reads { read.cancel() }
      for read in reads { await #expect(throws: CancellationError.self) { try await read.value } }
      #expect(try await store.count() == 3)
    }
  }

  @Test func `what a listener reads is not interrupted, although a canceled read has called it`() async throws {
    let (store, begun, read) = (store, Recorder<Void>(), Recorder<Int>())
    let otherFolder = try Folder()
    // Otherwise, its watcher can be the first to deliver.
    let other = try otherFolder.open { $0.watchesOtherProcesses = false }
    let token = other.listeners.bind("counting", to: .everything) { (_: ChangeSet) in
      guard let count = try? store.count() else { return }
      read.record(count)
    }
    let task = Task {
      try await store.read { users in
        // Its listeners are called when this read has ended.
        try other.write { _ = try $0.add(name: "Zoë") }
        begun.record(())
        while true { _ = try users.count() }
      }
    }
    await begun.reached(1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    await read.reached(1)
    #expect(read.all == [3])
    token.dispose()
  }

  @Test func `a huge set is not read on, and what is in memory is`() async throws {
    let store = store
    try await store.write { users in for number in 0..<600 { try users.add(name: "\(number)") } }
    let huge = try #require(try store.allChanges().last)
    await #expect(throws: CancellationError.self) { try await canceled { try await huge.forEach { _ in } } }
    let first = sets[0]
    try await canceled { try await first.forEach { _ in } }
  }

  @Test func `a long operation does not begin`() async throws {
    let (store, id) = (store, try #require(try sets[0].changes.first?.user))
    try await store.write { try $0.remove(id) }
    let before = try store.allChanges().map(\.lines)
    for operation: @Sendable () async throws -> Void in [
      { _ = try await store.compact(keeping: .rows(0)) }, { _ = try await store.purge(id) },
      { _ = try await store.addIndex(on: "age") },
    ] {
      await #expect(throws: CancellationError.self) { try await canceled(operation) }
    }
    #expect(try store.allChanges().map(\.lines) == before)
    #expect(try await store.read { try $0.indexes } == [])
  }
}

extension Consumer {
  fileprivate static func named(_ name: String, in store: UserStore) async throws -> Consumer {
    try await store.consumer(name)
  }
}
