import Testing

@testable import UserStore

/// Consumers of some topics, and their heartbeats.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ConsumerTopicsTests {
  let folder: Folder
  let clock = ManualClock()
  let store: UserStore
  let (nix, zoe): (User.ID, User.ID)

  init() throws {
    folder = try Folder()
    let clock = clock
    store = try folder.open { $0.clock = clock }
    (nix, zoe) = try store.write { (try $0.add(name: "NIX"), try $0.add(name: "Zoë")) }
  }

  private func end() async throws -> Cursor { try await store.read { try $0.cursor } }

  private func written() async throws -> Cursor? { try await store.read { try $0.consumers().first?.cursor } }

  private func setAge(_ age: Int) async throws {
    try await store.write { [nix] in try $0.set(.age, of: nix, to: age) }
  }

  private func rename(_ name: String) async throws { try await store.write { [zoe] in try $0.rename(zoe, to: name) } }

  /// Waits until the position of a consumer is a cursor.
  private func position(of mailer: Consumer, reaches cursor: Cursor) async throws {
    while try await mailer.cursor() != cursor { await Task.yield() }
    try await mailer.flush()
    #expect(try await written() == cursor)
  }

  @Test func `a consumer receives the changes of its topics, and acknowledges whole sets`() async throws {
    let mailer = try await store.consumer("mailer", of: [.attribute(.age)])
    try await rename("hidden")
    try await store.write { [nix, zoe] in
      try $0.rename(zoe, to: "Zoe")
      try $0.set(.age, of: nix, to: 1)
      try $0.rename(nix, to: "Nix")
    }
    let whole = try await end()
    let set = try await mailer.next(1)[0]
    #expect(set.lines == ["updated 1 age - 1"] && set.cursor == whole)
    try await mailer.acknowledge(set)
    #expect(try await mailer.cursor() == whole)
    // The last change that was delivered ends the set, too.
    let other = try await store.consumer("other", from: .oldest, of: [.attribute(.age)])
    let again = try await other.next(1)[0]
    try await other.acknowledge(again, through: again.changes[0])
    #expect(try await other.cursor() == whole)
  }

  @Test func `a claim with other topics continues at the position with these`() async throws {
    let mailer = try await store.consumer("mailer", of: [.attribute(.age)])
    try await setAge(1)
    try await mailer.acknowledge(mailer.next(1)[0])
    try await rename("Zoe")
    #expect(try await store.consumer("mailer").next(1)[0].lines == ["updated 2 name 'Zoë' 'Zoe'"])
  }

  @Test func `the position passes sets without a change in any topic, so that the log can be compacted`() async throws {
    let mailer = try await store.consumer("mailer", of: [.attribute(.age)])
    let received = Recorder<Cursor>()
    let loop = Task {
      for try await set in mailer {
        received.record(set.cursor)
        try await mailer.acknowledge(set)
      }
    }
    try await rename("a")
    try await position(of: mailer, reaches: end())
    try await setAge(1)
    await received.reached(1)
    try await rename("b")
    try await rename("c")
    let last = try await end()
    try await position(of: mailer, reaches: last)
    #expect(try await store.compact(keeping: .rows(0)).horizon >= last.revision)
    loop.cancel()
    try await loop.value
    #expect(received.count == 1)
  }

  @Test func `also if the set before was acknowledged in a write`() async throws {
    let mailer = try await store.consumer("mailer", of: [.attribute(.age)])
    try await setAge(1)
    try await rename("in the same page")
    let loop = Task { [store] in
      for try await set in mailer { try await store.write { try mailer.acknowledge(set, in: &$0) } }
    }
    try await position(of: mailer, reaches: end())
    try await rename("later")
    try await position(of: mailer, reaches: end())
    loop.cancel()
    try await loop.value
  }

  @Test func `hidden sets after a set that is not acknowledged do not count, and are read again`() async throws {
    let mailer = try await store.consumer("mailer", of: [.attribute(.age)], heartbeat: .seconds(15))
    let start = try await mailer.cursor()
    try await setAge(1)
    try await rename("hidden")
    var iterator = mailer.makeAsyncIterator()
    let set = try #require(try await iterator.next())
    // The heartbeat shows that the hidden set was read.
    let heartbeat = try #require(try await iterator.next())
    #expect(heartbeat.heartbeat == .upToDate)
    #expect(try await heartbeat.cursor == end())
    #expect(try await mailer.cursor() == start)
    #expect(try await store.consumer("mailer", of: [.attribute(.age)]).next(1)[0].cursor == set.cursor)
  }

  @Test func `a heartbeat can be acknowledged`() async throws {
    let mailer = try await store.consumer("mailer", of: [.attribute(.age)], heartbeat: .seconds(15))
    try await rename("hidden")
    for try await set in mailer {
      #expect(set.heartbeat == .upToDate)
      try await mailer.acknowledge(set)
      break
    }
    #expect(try await mailer.cursor() == end())
  }

  @Test func `heartbeats come at the intervals of the store's clock`() async throws {
    let mailer = try await store.consumer("mailer", of: [.attribute(.age)], heartbeat: .seconds(15))
    var iterator = mailer.makeAsyncIterator()
    #expect(try await iterator.next()?.heartbeat == .upToDate)
    await clock.slept.reached { $0.contains(.seconds(15)) }
    clock.advance(by: .seconds(15))
    #expect(try await iterator.next()?.heartbeat == .upToDate)
  }

  @Test func `a reset while an iteration waits is not undone by hidden sets`() async throws {
    let start = try await end()
    try await setAge(1)
    let mailer = try await store.consumer("mailer", of: [.attribute(.age)], heartbeat: .seconds(15))
    var iterator = mailer.makeAsyncIterator()
    #expect(try await iterator.next()?.heartbeat == .upToDate)
    try await mailer.reset(to: start)
    try await rename("hidden")
    let hidden = try await end()
    await clock.slept.reached { $0.contains(.seconds(15)) }
    clock.advance(by: .seconds(15))
    #expect(try await iterator.next()?.cursor == hidden)
    try await mailer.flush()
    #expect(try await written() == start)
  }

  @Test func `of a page with visible and hidden sets, only those after the last acknowledged one count`() {
    func cursor(_ revision: Int64) -> Cursor { Cursor(epoch: 1, revision: revision, nonce: revision) }
    var progress = IterationProgress(from: cursor(10))
    func read(_ visible: Int64?, _ start: Int64, through end: Int64, acknowledged: Int64) -> Int64? {
      progress.hasRead(
        after: cursor(start), through: cursor(end), lastVisible: visible.map { cursor($0) },
        acknowledged: cursor(acknowledged))?.revision.rawValue
    }
    #expect(read(nil, 10, through: 20, acknowledged: 10) == 20)
    #expect(read(25, 20, through: 30, acknowledged: 20) == nil)
    #expect(read(nil, 30, through: 40, acknowledged: 20) == nil, "25 is not acknowledged")
    #expect(read(nil, 40, through: 50, acknowledged: 25) == 50)
    #expect(read(55, 50, through: 60, acknowledged: 5) == nil, "reset to an earlier position")
    #expect(read(65, 60, through: 70, acknowledged: 55) == 60)
    #expect(read(nil, 70, through: 70, acknowledged: 90) == nil, "reset to a later position")
  }
}
