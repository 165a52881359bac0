import Testing

@testable import UserStore

/// A consumer name has one holder, and claiming the name again takes it over from the current holder.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ConsumerHolderTests {
  let folder: Folder
  let store: UserStore
  let sets: [ChangeSet]

  init() throws {
    folder = try Folder()
    store = try folder.open()
    sets = try store.addUsers(3)
  }

  enum Successor: CaseIterable {
    case sameStore, otherStore, remover
  }

  private func takeOver(_ successor: Successor) throws -> Any {
    switch successor {
    case .sameStore: try store.consumer("mailer")
    case .otherStore: try folder.open().consumer("mailer")
    case .remover: try folder.open().removeConsumer("mailer")
    }
  }

  @Test(arguments: Successor.allCases)
  func `a superseded holder gets an error from every call, and cannot move the position`(_ successor: Successor)
    async throws
  {
    let first = try await store.consumer("mailer", from: .oldest)
    try await first.acknowledge(sets[0])
    let second = try takeOver(successor)
    #expect(await awaitedCode { try await first.acknowledge(sets[1]) } == .superseded)
    #expect(await awaitedCode { try await store.write { try first.acknowledge(sets[1], in: &$0) } } == .superseded)
    #expect(await awaitedCode { try await first.reset(to: sets[2].cursor) } == .superseded)
    #expect(await awaitedCode { try await first.next(1) } == .superseded)
    #expect(await awaitedCode { try await first.cursor() } == .superseded)
    let expected = successor == .remover ? nil : sets[0].revision.rawValue
    #expect(try folder.durableRevision() == expected)
    withExtendedLifetime(second) {}
  }

  @Test(arguments: Successor.allCases)
  func `a superseded holder that waits for changes gets the error without a change`(_ successor: Successor) async throws
  {
    let first = try await store.consumer("mailer", from: .oldest)
    let received = Recorder<Revision>()
    let waiting = Task {
      await awaitedCode { for try await set in first { received.record(set.revision) } }
    }
    await received.reached(3)
    let second = try takeOver(successor)
    #expect(await waiting.value == .superseded)
    #expect(received.all == sets.map(\.revision))
    withExtendedLifetime(second) {}
  }

  @Test func `in memory, without file events, a waiting holder gets the error as well`() async throws {
    let store = try UserStore.forTests()
    let added = try store.addUsers(1)
    let first = try await store.consumer("mailer", from: .oldest)
    let received = Recorder<Revision>()
    let waiting = Task {
      await awaitedCode { for try await set in first { received.record(set.revision) } }
    }
    await received.reached(added.count)
    let second = try await store.consumer("mailer")
    #expect(await waiting.value == .superseded)
    withExtendedLifetime(second) {}
  }

  @Test func `a superseded holder's pending acknowledgment does not overwrite the next holder's`() async throws {
    let clock = ManualClock()
    let store = try folder.open { $0.clock = clock }
    var first: Consumer? = try await store.consumer("mailer", from: .oldest)
    try await first?.acknowledge(sets[0])
    try await first?.acknowledge(sets[2])
    let second = try await self.store.consumer("mailer")
    try await second.acknowledge(sets[1])
    first = nil
    await store.close()
    #expect(try folder.durableRevision() == sets[1].revision.rawValue)
    #expect(try await second.next(1).map(\.cursor) == [sets[2].cursor])
  }

  @Test func `a claim continues after what a released holder has acknowledged`() async throws {
    let clock = ManualClock()
    for number in 1...100 {
      let store = try folder.open { $0.clock = clock }
      var first: Consumer? = try await store.consumer("mailer \(number)", from: .oldest)
      try await first?.acknowledge(sets[0])
      try await first?.acknowledge(sets[1])
      first = nil
      // The release has queued the second acknowledgment, and a thread may be served before the write thread.
      let second = try claim("mailer \(number)", in: store)
      #expect(try await second.cursor() == sets[1].cursor)
    }
  }

  private func claim(_ name: String, in store: UserStore) throws -> Consumer { try store.consumer(name) }

  @Test func `if several threads claim a name at once, one keeps it`() async throws {
    let consumers = Recorder<Consumer>()
    let folder = folder
    try Threads.run(4) { _ in
      let store = try folder.open()
      for _ in 0..<10 { consumers.record(try store.consumer("mailer")) }
      // Keeps the stores open while other threads still claim the name.
      consumers.wait(for: 40)
      withExtendedLifetime(store) {}
    }
    let late = try await store.consumer("mailer")
    for consumer in consumers.all { #expect(await awaitedCode { try await consumer.cursor() } != nil) }
    #expect(try await late.cursor() == sets[2].cursor)
  }

  @Test func `a removed name can be claimed as a new one`() async throws {
    _ = try await store.consumer("mailer", from: .oldest)
    #expect(try await store.removeConsumer("mailer"))
    #expect(try await !store.removeConsumer("mailer"))
    #expect(try await store.consumer("mailer").cursor() == sets[2].cursor)
  }
}
