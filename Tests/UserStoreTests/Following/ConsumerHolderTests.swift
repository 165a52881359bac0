import Testing

@testable import UserStore

/// A name has one holder: who takes it anew takes it away.
@Suite(.timeLimit(.minutes(5))) struct ConsumerHolderTests {
  let folder: Folder
  let store: UserStore
  let sets: [ChangeSet]

  init() throws {
    folder = try Folder()
    store = try folder.open()
    sets = try store.addUsers(3)
  }

  enum Taker: CaseIterable {
    case sameStore, otherStore, remover
  }

  private func take(_ taker: Taker) throws -> Any {
    switch taker {
    case .sameStore: try store.consumer("mailer")
    case .otherStore: try folder.open().consumer("mailer")
    case .remover: try folder.open().removeConsumer("mailer")
    }
  }

  @Test(arguments: Taker.allCases)
  func `the holder before hears it at the next acknowledgement, and moves nothing`(_ taker: Taker) async throws {
    let first = try store.consumer("mailer", from: .oldest)
    try await first.acknowledge(sets[0])
    let second = try take(taker)
    #expect(await awaitedCode { try await first.acknowledge(sets[1]) } == .superseded)
    #expect(await awaitedCode { try await store.write { try first.acknowledge(sets[1], in: &$0) } } == .superseded)
    #expect(await awaitedCode { try await first.reset(to: sets[2].cursor) } == .superseded)
    #expect(await awaitedCode { try await first.next(1) } == .superseded)
    #expect(code { try first.cursor } == .superseded)
    let expected = taker == .remover ? nil : sets[0].revision.rawValue
    #expect(try folder.durableRevision() == expected)
    withExtendedLifetime(second) {}
  }

  @Test(arguments: Taker.allCases)
  func `a holder that waits for changes hears it without one`(_ taker: Taker) async throws {
    let first = try store.consumer("mailer", from: .oldest)
    let heard = Recorder<Revision>()
    let waiting = Task {
      await awaitedCode { for try await set in first { heard.record(set.revision) } }
    }
    await heard.heard(3)
    let second = try take(taker)
    #expect(await waiting.value == .superseded)
    #expect(heard.all == sets.map(\.revision))
    withExtendedLifetime(second) {}
  }

  @Test func `in memory, where no file tells of it, a waiting holder hears it too`() async throws {
    let store = try UserStore.inMemory()
    let added = try store.addUsers(1)
    let first = try store.consumer("mailer", from: .oldest)
    let heard = Recorder<Revision>()
    let waiting = Task {
      await awaitedCode { for try await set in first { heard.record(set.revision) } }
    }
    await heard.heard(added.count)
    let second = try store.consumer("mailer")
    #expect(await waiting.value == .superseded)
    withExtendedLifetime(second) {}
  }

  @Test func `what the holder before had not written is not written over the next one's`() async throws {
    let clock = ManualClock()
    let store = try folder.open { $0.clock = clock }
    var first: Consumer? = try store.consumer("mailer", from: .oldest)
    try await first?.acknowledge(sets[0])
    try await first?.acknowledge(sets[2])
    let second = try self.store.consumer("mailer")
    try await second.acknowledge(sets[1])
    first = nil
    store.close()
    #expect(try folder.durableRevision() == sets[1].revision.rawValue)
    #expect(try await second.next(1).map(\.cursor) == [sets[2].cursor])
  }

  @Test func `of many who take a name at once, one keeps it`() throws {
    let consumers = Recorder<Consumer>()
    let folder = folder
    try Threads.run(4) { _ in
      let store = try folder.open()
      for _ in 0..<10 { consumers.record(try store.consumer("mailer")) }
      // Closed by their deinit otherwise, while others still ask.
      consumers.wait(for: 40)
      withExtendedLifetime(store) {}
    }
    let late = try store.consumer("mailer")
    #expect(consumers.all.allSatisfy { consumer in code { try consumer.cursor } != nil })
    #expect(try late.cursor == sets[2].cursor)
  }

  @Test func `a removed name is new again`() throws {
    _ = try store.consumer("mailer", from: .oldest)
    #expect(try store.removeConsumer("mailer"))
    #expect(try !store.removeConsumer("mailer"))
    #expect(try store.consumer("mailer").cursor == sets[2].cursor)
  }
}
