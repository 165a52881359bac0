import Testing

@testable import UserStore

/// When acknowledgments are written to disk.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct AcknowledgementTests {
  let folder: Folder
  let clock = ManualClock()

  init() throws {
    folder = try Folder()
  }

  private func open() throws -> UserStore {
    try folder.open {
      $0.clock = clock
      $0.busyTimeout = .zero
    }
  }

  @Test func `a thousand acknowledgments in a second are written ten times, including the last`() async throws {
    let store = try open()
    let sets = try store.addUsers(1_000)
    let mailer = try await store.consumer("mailer", from: .oldest)
    var written: [Int64?] = []
    var sleeps = 1
    for set in sets {
      try await mailer.acknowledge(set)
      if set.cursor == sets[0].cursor { await clock.slept.reached(1) }
      let durable = try folder.durableRevision()
      if written.last != durable { written.append(durable) }
      sleeps += clock.advance(by: .milliseconds(1))
      // The write at the end of a rest is complete once the next rest starts.
      await clock.slept.reached(sleeps)
    }
    written.append(try folder.durableRevision())
    let expected = [0] + stride(from: 99, through: 999, by: 100)
    #expect(written == expected.map { sets[$0].revision.rawValue })
  }

  @Test func `acknowledgments with a rest between them are written singly, and an idle consumer writes nothing`()
    async throws
  {
    let store = try open()
    let sets = try store.addUsers(3)
    let mailer = try await store.consumer("mailer", from: .oldest)
    for (index, set) in sets.enumerated() {
      try await mailer.acknowledge(set)
      await clock.slept.reached(index + 1)
      #expect(try folder.durableRevision() == set.revision.rawValue)
      #expect(clock.advance(by: .milliseconds(99)) == 0)
      #expect(clock.advance(by: .milliseconds(1)) == 1)
    }
    #expect(clock.slept.count == 3)
  }

  enum End: CaseIterable {
    case flush, `break`, cancellation, release, close, storeRelease
  }

  @Test(arguments: End.allCases)
  func `an orderly end writes the last acknowledgment`(_ end: End) async throws {
    var store: UserStore? = try open()
    let sets = try #require(try store?.addUsers(3))
    var mailer: Consumer? = try await store?.consumer("mailer", from: .oldest)
    if end == .break || end == .cancellation {
      try await iterate(try #require(mailer), through: sets[1].cursor, isCancelled: end == .cancellation)
    } else {
      try await mailer?.acknowledge(sets[0])
      try await mailer?.acknowledge(sets[1])
      #expect(try folder.durableRevision() == sets[0].revision.rawValue)
    }
    switch end {
    case .break, .cancellation: break
    case .flush: try await mailer?.flush()
    case .release: mailer = nil
    case .close: await store?.close()
    case .storeRelease: store = nil
    }
    // A release only queues the write, which is before this one in the line.
    if end == .release || end == .break { _ = try await store?.write { try $0.cursor } }
    #expect(try folder.durableRevision() == sets[1].revision.rawValue)
    withExtendedLifetime((store, mailer)) {}
  }

  private func iterate(_ mailer: Consumer, through last: Cursor, isCancelled: Bool) async throws {
    try await Task {
      for try await set in mailer {
        try await mailer.acknowledge(set)
        if set.cursor != last { continue }
        if isCancelled { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } } else { break }
      }
    }.value
  }

  @Test func `what a reset discards is pending again if its commit fails, unless there is a later acknowledgment`() {
    let cursors = (1...3).map { Cursor(epoch: 1, revision: $0, nonce: 1) }
    var acknowledgements = Acknowledgements()
    #expect(acknowledgements.add(cursors[0]) && acknowledgements.discard() == cursors[0])
    #expect(acknowledgements.pending == nil && acknowledgements.last == nil)
    acknowledgements.restore(cursors[0])
    #expect(acknowledgements.pending == cursors[0] && acknowledgements.last == cursors[0])
    _ = acknowledgements.discard()
    _ = acknowledgements.add(cursors[2])
    acknowledgements.restore(cursors[1])
    #expect(acknowledgements.pending == cursors[2])
  }

  @Test func `what was concluded from the position before a reset is no acknowledgment after it`() {
    let cursors = (1...3).map { Cursor(epoch: 1, revision: $0, nonce: 1) }
    var acknowledgements = Acknowledgements()
    let before = acknowledgements.generation
    _ = acknowledgements.add(cursors[0], in: before)
    #expect(acknowledgements.pending == cursors[0])
    _ = acknowledgements.discard()
    _ = acknowledgements.add(cursors[1], in: before)
    #expect(acknowledgements.pending == nil)
    // Read after that, but before the commit of the reset.
    let within = acknowledgements.generation
    acknowledgements.moved()
    _ = acknowledgements.add(cursors[1], in: within)
    #expect(acknowledgements.pending == nil)
    _ = acknowledgements.add(cursors[2], in: acknowledgements.generation)
    #expect(acknowledgements.pending == cursors[2])
  }

  @Test func `an iteration starts after all that was acknowledged, even while that is written`() async throws {
    let store = try folder.open()
    let mailer = try await store.consumer("mailer", from: .oldest)
    for number in 1...300 {
      let set = try store.addUsers(1)[0]
      for try await next in mailer {
        #expect(next.cursor == set.cursor, "round \(number)")
        try await mailer.acknowledge(next)
        break
      }
    }
  }

  @Test func `an acknowledgment that comes late does not move the position back`() {
    let cursors = (1...3).map { Cursor(epoch: 1, revision: $0, nonce: 1) }
    var acknowledgements = Acknowledgements()
    _ = acknowledgements.add(cursors[2])
    acknowledgements.written(cursors[2])
    _ = acknowledgements.add(cursors[0])
    #expect(acknowledgements.pending == nil && acknowledgements.last == cursors[2])
    _ = acknowledgements.add(Cursor(epoch: 2, revision: 1, nonce: 1))
    #expect(acknowledgements.last?.epoch == 2)
  }

  @Test func `an acknowledgment of a canceled task is not lost`() async throws {
    let store = try open()
    let sets = try store.addUsers(1)
    let mailer = try await store.consumer("mailer", from: .oldest)
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      try await mailer.acknowledge(sets[0])
    }
    try await task.value
    #expect(try folder.durableRevision() == sets[0].revision.rawValue)
  }

  @Test func `an acknowledgment that finds the database locked is kept, and written with the next one`() async throws {
    let store = try open()
    let sets = try store.addUsers(2)
    let mailer = try await store.consumer("mailer", from: .oldest)
    let other = try folder.plain()
    try other.execute("BEGIN IMMEDIATE")
    #expect(await awaitedCode { try await mailer.acknowledge(sets[1]) } == .busy)
    #expect(try await mailer.cursor() == sets[1].cursor)
    try other.execute("COMMIT")
    try await mailer.acknowledge(sets[0])
    #expect(try folder.durableRevision() == sets[1].revision.rawValue)
  }

  @Test func `after a failed write at the end of a rest, the next acknowledgment retries`() {
    let cursors = (1...3).map { Cursor(epoch: 1, revision: $0, nonce: 0) }
    var state = Acknowledgements()
    var writes = [state.add(cursors[0])]
    state.written(cursors[0])
    writes += [state.add(cursors[1]), state.endRest()]
    // During the write at the end of the rest.
    writes += [state.add(cursors[1])]
    state.fail()
    #expect(state.pending == cursors[1])
    writes += [state.add(cursors[2])]
    state.written(cursors[2])
    writes += [state.endRest(), state.add(cursors[2])]
    #expect(writes == [true, false, true, false, true, false, true])
  }

  @Test func `a consumer can be released during a rest`() async throws {
    let store = try open()
    let sets = try store.addUsers(1)
    weak var released: Consumer?
    do {
      let mailer = try await store.consumer("mailer", from: .oldest)
      try await mailer.acknowledge(sets[0])
      await clock.slept.reached(1)
      released = mailer
    }
    #expect(released == nil)
  }
}
