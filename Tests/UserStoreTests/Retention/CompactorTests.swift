import TestSupport
import Testing

@testable import UserStore

/// Automatic compaction: writes delete what is beyond the retention limits.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct CompactorTests {
  let folder: Folder

  init() throws {
    folder = try Folder()
  }

  private func open(_ policy: RetentionPolicy) throws -> (UserStore, User.ID) {
    let store = try folder.open { $0.retention = policy }
    return (store, try store.write { try $0.add(name: "NIX") })
  }

  @Test func `writes compact a log that is over the limit`() throws {
    let (store, nix) = try open(.rows(2_000))
    try store.rename(nix, times: 5_000)
    let extent = try PlainConnection(folder.database).extent()
    #expect((2_000...5_000).contains(extent.count), "\(extent)")
    #expect(try store.allChanges().count >= 1_000)
    #expect(try folder.shell("PRAGMA integrity_check") == "ok\n")
  }

  @Test func `awaited writes compact the log too, large ones in proportion`() async throws {
    let (store, _) = try open(.rows(2_000))
    for number in 0..<6 {
      try await store.write { transaction in
        for part in 0..<2_500 { try transaction.add(name: "\(number) \(part)") }
      }
    }
    // An awaited write returns before its compaction is done.
    let plain = try PlainConnection(folder.database)
    while try plain.extent().count > 10_000 { await Task.yield() }
  }

  @Test func `the standard policy deletes by age, with the time of the clock`() throws {
    let clock = SetClock(WallClock.milliseconds)
    let store = try folder.open { $0.wallClock = { clock.milliseconds } }
    let nix = try store.write { try $0.add(name: "NIX") }
    try store.write { transaction throws in for number in 0..<10_000 { try transaction.add(name: "\(number)") } }
    try store.rename(nix, times: 6_000)
    clock.milliseconds += 29 * 86_400_000
    try store.rename(nix, times: 1)
    let plain = try PlainConnection(folder.database)
    #expect(try plain.extent().horizon == 0)
    clock.milliseconds += 2 * 86_400_000
    try store.rename(nix, times: 30)
    let extent = try plain.extent()
    #expect(extent.first == extent.horizon + 1)
    #expect((10_000...10_060).contains(extent.count), "the minimum that is kept: \(extent)")
  }

  @Test func `nothing is deleted without a limit, nor by a read-only store`() throws {
    let (store, nix) = try open(.unlimited)
    let reading = try folder.open {
      $0.access = .readOnly
      $0.retention = .rows(0)
    }
    let received = Recorder<Void>()
    reading.listeners.bind("all", to: .everything) { _ in received.record(()) }
    try store.rename(nix, times: 1_500)
    received.wait(for: 1)
    #expect(try PlainConnection(folder.database).extent().first == 1)
  }

  @Test func `listeners are called before the compaction, which does not wait for the write lock`() throws {
    let folder = folder
    // If it waited for the lock, the suite's time limit would end the test.
    let store = try folder.open {
      $0.retention = .rows(0)
      $0.busyTimeout = .seconds(600)
    }
    let nix = try store.write { try $0.add(name: "NIX") }
    try store.rename(nix, times: 3)
    let horizon = try PlainConnection(folder.database).extent().horizon
    let other = Lock(try folder.plain())
    let received = Recorder<Int>()
    store.listeners.bind("all", to: .everything) { set in
      received.record(try set.changes.count)
      try other.withLock { try $0.execute("BEGIN IMMEDIATE") }
    }
    try store.write { transaction throws in for number in 0..<1_000 { try transaction.add(name: "\(number)") } }
    #expect(received.all == [2_000], "a huge set can still be read whole")
    #expect(try PlainConnection(folder.database).extent().horizon == horizon)
    try other.withLock { try $0.execute("COMMIT") }
  }

  @Test func `a listener's writes start a compaction, but never on the listener's thread`() throws {
    let (outer, _) = try open(.unlimited)
    let inner = try UserStore.temporary(configuration: Self.keeping(.rows(0)))
    let nix = try inner.write { try $0.add(name: "NIX") }
    let counts = Recorder<Int>()
    let mayContinue = Gate()
    // Everything that is left to the other thread waits.
    #expect(try inner.compactor.thread.run { mayContinue.wait() })
    outer.listeners.bind("writes", to: .everything) { _ in
      try inner.rename(nix, times: 1_000)
      counts.record(try inner.allChanges().count)
    }
    try outer.write { try $0.add(name: "Zoë") }
    #expect(counts.all == [1_000])
    mayContinue.open()
    while try !inner.page(after: nil).isEmpty {}
  }

  private static func keeping(_ policy: RetentionPolicy) -> Configuration {
    var configuration = Configuration()
    configuration.retention = policy
    configuration.durability = .normal
    return configuration
  }

  @Test func `several processes and threads write, compact and read at the same time`() throws {
    let (store, _) = try open(.rows(500))
    let other = try folder.open { $0.retention = .rows(300) }
    let folder = folder
    let python = try Threads.start {
      try folder.python("for i in range(400): db.execute('INSERT INTO users (name) VALUES (?)', ('python %d' % i,))")
    }
    let added = Recorder<Int64>()
    store.listeners.bind("all", to: .everything) { set in
      // A listener that falls behind receives a discontinuity, or an error for a set beyond the first page; then it reads the present
      // state.
      func readAll() throws { for user in try store.read({ try $0.users() }) { added.record(user.id.rawValue) } }
      if set.discontinuity != nil { try readAll() }
      do { try set.forEach { if $0.attribute == "name" { added.record($0.user.rawValue) } } } catch StoreError.Code
        .compacted
      { try readAll() }
    }
    try Threads.run(4) { thread in
      let store = thread % 2 == 0 ? store : other
      for number in 0..<400 {
        try store.write { try $0.add(name: "\(thread) \(number)") }
        if number % 50 == 0 { try store.compact(keeping: .rows(100)) }
      }
    }
    try python.join()
    added.wait { Set($0).isSuperset(of: 2...2_001) }
    #expect(try folder.shell("PRAGMA integrity_check") == "ok\n")
  }
}
