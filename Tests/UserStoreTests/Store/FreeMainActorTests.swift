import Foundation
import Testing

@testable import UserStore

/// The main actor never waits for SQLite: all readers are busy, and everything that is awaited on it leaves it free.
@MainActor @Suite(.boundedOnMainActor, .serialized, .timeLimit(.minutes(5))) struct FreeMainActorTests {
  private let folder: Folder
  private let store: UserStore
  private let id: User.ID
  private let mayRead = Gate()

  init() throws {
    folder = try Folder()
    store = try folder.open()
    id = try store.write { try $0.add(name: "NIX") }
  }

  /// Lends all sessions that read to threads that wait.
  private func holdReaders() async throws -> [Threads.Running] {
    let reading = Recorder<Void>()
    let (store, mayRead) = (store, mayRead)
    let threads = try (0..<4).map { _ in
      try Threads.start {
        try store.read { transaction in
          _ = try transaction.count()
          reading.record(())
          mayRead.wait()
        }
      }
    }
    await reading.reached(4)
    return threads
  }

  private func release(_ threads: [Threads.Running]) async throws {
    mayRead.open()
    for thread in threads { try await thread.joined() }
  }

  @Test func `while all readers are busy, nothing that is awaited on the main actor holds it`() async throws {
    let start = try await store.read { try $0.cursor }
    let consumer = try await store.consumer("mailer", from: .oldest)
    let label = ObservedThing()
    let chain = BindingChain().bind(store, .name, of: id).bind(label, \.text, .out)
    let name = try await store.listenable(.name, of: id)
    let (every, latest) = (Recorder<String?>(), Recorder<String?>())
    name.bind("every", on: .main) { every.record($0) }
    name.bind("latest", on: .latestOnMain) { latest.record($0) }

    let threads = try await holdReaders()
    let (store, id) = (store, id)
    let fed = Task {
      var count = 0
      for try await _ in store.changeSets(after: start) {
        count += 1
        if count == 2_000 { break }
      }
      return count
    }
    let consumed = Task {
      var count = 0
      for try await set in consumer {
        try await consumer.acknowledge(set)
        count += 1
        if count == 100 { break }
      }
      return count
    }
    let others: [Task<Void, any Error>] = [
      Task { _ = try await store.read { try $0.count() } }, Task { _ = try await store.page(after: start) },
      Task { try await store.verify(start) }, Task { _ = try await consumer.cursor() },
      Task { _ = try await store.listenable(.hairColor, of: id) }, Task { _ = try await store.observable(id) },
      Task { _ = try await store.compactionPreview() }, Task { _ = try await store.list(UserStore.Query()) },
      Task { _ = try await store.liveCount() }, Task { _ = try await store.observableList(UserStore.Query(limit: 1)) },
      Task { try await store.write { try $0.set(.age, of: id, to: 1) } },
    ]
    let writer = try Threads.start {
      for number in 1..<2_000 { try store.write { try $0.rename(id, to: "\(number)") } }
    }
    // The main actor is free: it makes all calls while no read can begin, and other tasks get turns.
    await every.reached(1_999)
    await turns()
    #expect(label.text == "NIX")
    try await release(threads)

    #expect(try await fed.value == 2_000)
    #expect(try await consumed.value == 100)
    for task in others { try await task.value }
    await turns { label.text == "1999" }
    await latest.reached { $0.last == "1999" }
    #expect(every.all == (1..<2_000).map { "\($0)" })
    try await writer.joined()
    withExtendedLifetime(chain) {}
  }

  @Test func `while a feed is far behind, the main actor's other work gets turns`() async throws {
    let start = try await store.read { try $0.cursor }
    for number in 0..<100 { try await store.write { [id] in try $0.rename(id, to: "\(number)") } }
    var (setsInARow, longest, count) = (0, 0, 0)
    // Not a task that yields: `Task.yield` leaves the main actor, and then waits for one of Swift's threads.
    @MainActor func work() {
      guard count < 100 else { return }
      setsInARow = 0
      DispatchQueue.main.async { work() }
    }
    work()
    // A task of its own, because this one runs on the suites' threads: each `await` would leave the main actor.
    try await Task {
      for try await _ in store.changeSets(after: start) {
        count += 1
        setsInARow += 1
        longest = max(longest, setsInARow)
        let begin = ContinuousClock.now
        while ContinuousClock.now - begin < .milliseconds(1) {}
        if count == 100 { break }
      }
    }.value
    // The body of the loop takes a millisecond, and a turn four.
    #expect(longest <= 6)
  }

  @Test func `a listener on an actor that is behind does not read for a discontinuity that later rounds replaced`()
    async throws
  {
    let name = try await store.listenable(.name, of: id)
    let (place, mayContinue, received) = (Place(), Gate(), Recorder<String?>())
    name.bind("screen", on: .actor(place)) { received.record($0) }
    place.hold(until: mayContinue)
    let folder = folder
    try await store.backup(to: folder.path + "/backup.db")
    try await store.restore(from: folder.path + "/backup.db")
    try await store.write { [id] in try $0.rename(id, to: "Zoë") }
    let threads = try await holdReaders()
    mayContinue.open()
    // Without a free reader, it could not read.
    await received.reached(1)
    #expect(received.all == ["Zoë"] && name.value == "Zoë")
    try await release(threads)
  }

  @Test func `a backup, a check and a compaction leave the main actor free`() async throws {
    let (store, folder, id) = (store, folder, id)
    let (copying, mayCopy) = (Recorder<Void>(), Gate())
    try await Threads.start { for number in 0..<2_000 { try store.write { try $0.rename(id, to: "\(number)") } } }
      .joined()
    // The copy takes several steps.
    try await store.write { try $0.set(Attribute<[UInt8]>("photo"), of: id, to: Array(repeating: 1, count: 12 << 20)) }
    let backup = Task {
      try await store.backup(to: folder.path + "/backup.db") { _ in
        copying.record(())
        mayCopy.wait()
      }
    }
    await copying.reached(1)
    // Other long operations do not wait for the backup.
    #expect(try await store.check().allSatisfy { $0.kind == .reader })
    #expect(try await UserStore.check(path: folder.database).allSatisfy { $0.kind == .reader })
    mayCopy.open()
    let end = try await backup.value
    #expect(try await store.compact(keeping: .rows(0)).sets > 1_000)
    try await store.restore(from: folder.path + "/backup.db")
    #expect(try await store.read { try $0.cursor }.revision >= end.revision)
    #expect(try await store.removeConsumer("none") == false)
  }

  @Test func `a canceled backup ends, and leaves no file`() async throws {
    let (store, folder, id) = (store, folder, id)
    try await store.write { try $0.set(Attribute<[UInt8]>("photo"), of: id, to: Array(repeating: 1, count: 12 << 20)) }
    let (copying, mayCopy) = (Recorder<Double>(), Gate())
    let backup = Task {
      try await store.backup(to: folder.path + "/backup.db") { fraction in
        copying.record(fraction)
        mayCopy.wait()
      }
    }
    await copying.reached(1)
    backup.cancel()
    mayCopy.open()
    await #expect(throws: CancellationError.self) { try await backup.value }
    #expect(copying.count == 1)
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!files.contains { $0.hasPrefix("backup") })
  }

  @Test func `a short read does not wait behind a long one`() async throws {
    let (store, mayEnd, reading) = (store, Gate(), Recorder<Void>())
    let long = (1...3).map { _ in
      Task {
        try await store.read { transaction in
          _ = try transaction.count()
          reading.record(())
          mayEnd.wait()
        }
      }
    }
    await reading.reached(3)
    #expect(try await store.read { try $0.count() } == 1)
    mayEnd.open()
    for task in long { try await task.value }
  }

  @Test func `reads that wait for a session hold no thread of the concurrency pool`() async throws {
    let threads = try await holdReaders()
    let store = store
    // More than the pool has threads.
    let waiting = (1...100).map { _ in Task.detached { try await store.read { try $0.count() } } }
    for _ in 1...100 { await Task.detached { await Task.yield() }.value }
    try await release(threads)
    for task in waiting { #expect(try await task.value == 1) }
  }

  @Test func `a long operation that has not begun when the store is closed does not begin`() async throws {
    let (store, begun, mayEnd) = (store, Recorder<Void>(), Gate())
    for _ in 1...4 {
      #expect(
        try store.workers.run {
          begun.record(())
          mayEnd.wait()
        })
    }
    await begun.reached(4)
    let check = Task { await awaitedCode { try await store.check() } }
    let backup = Task { [folder] in await awaitedCode { try await store.backup(to: folder.path + "/backup.db") } }
    await turns(100)
    let closing = Task { await store.close() }
    while !store.workers.isStopped { await Task.yield() }
    mayEnd.open()
    await closing.value
    #expect(await check.value == .closed)
    #expect(await backup.value == .closed)
  }

  @Test func `what a closure holds is released when the awaited call returns`() async throws {
    final class Token: Sendable {}
    for _ in 1...200 {
      var token: Token? = Token()
      weak let kept = token
      try await store.read { [token] _ in withExtendedLifetime(token) {} }
      try await store.write { [token] _ in withExtendedLifetime(token) {} }
      token = nil
      #expect(kept == nil)
    }
  }

  @Test func `a store is opened and closed on another thread`() async throws {
    let store = try await UserStore.open(path: folder.database)
    #expect(try await store.read { try $0.value(.name, of: id) } == "NIX")
    await store.close()
    #expect(await awaitedCode { try await store.read { try $0.count() } } == .closed)
    #expect(await awaitedCode { try await UserStore.open(path: folder.path) } == .cannotOpen)
  }

  @Test func `the last reference to a store may be released by an awaited operation`() async throws {
    var store: UserStore? = try UserStore(path: folder.path + "/other.db")
    weak let kept = store
    let mayEnd = Gate()
    let reading = Recorder<Void>()
    let task = Task { [store] in
      try await store?.read { transaction in
        reading.record(())
        mayEnd.wait()
        return try transaction.count()
      }
    }
    await reading.reached(1)
    store = nil
    mayEnd.open()
    #expect(try await task.value == 0)
    await turns { kept == nil }
  }
}
