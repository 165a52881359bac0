import Testing

@testable import UserStore

/// A consumer whose log does not continue gets an error, acknowledges no set of another log, and can be reset.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ConsumerVerificationTests {
  let folder: Folder
  let store: UserStore
  let sets: [ChangeSet]

  init() throws {
    folder = try Folder()
    store = try folder.open()
    sets = try store.addUsers(4)
  }

  private func compact(through revision: Revision) throws {
    try folder.shell(
      """
      BEGIN IMMEDIATE;
      UPDATE meta SET horizon_nonce = (SELECT nonce FROM changes WHERE seq = \(revision)), horizon = \(revision);
      DELETE FROM changes WHERE seq <= \(revision); COMMIT
      """)
  }

  private func lags() async throws -> [Int?] {
    try await store.read { try $0.consumers().map(\.lag) }
  }

  /// Resets a consumer whose log does not continue.
  private func restart(_ consumer: Consumer) async throws {
    let (count, cursor) = try await store.read { (try $0.count(), try $0.cursor) }
    #expect(count >= 1)
    try await consumer.reset(to: cursor)
    let next = try store.addUsers(1)
    #expect(try await consumer.next(1).map(\.cursor) == next.map(\.cursor))
  }

  @Test func `after a new epoch a consumer is diverged, has no lag, and can be reset`() async throws {
    let mailer = try await store.consumer("mailer", from: .oldest)
    try await mailer.acknowledge(sets[0])
    try folder.shell("UPDATE meta SET epoch = epoch + 1")
    #expect(await awaitedCode { try await mailer.next(1) } == .diverged)
    #expect(await awaitedCode { try await mailer.acknowledge(sets[1]) } == .diverged)
    let new = try store.addUsers(1)
    #expect(
      await awaitedCode { try await mailer.acknowledge(new[0]) } == .diverged,
      "the consumer's position is in another log")
    #expect(try folder.durableRevision() == sets[0].revision.rawValue)
    #expect(try await lags() == [nil])
    try await restart(mailer)
  }

  @Test func `a consumer that needs deleted changes is compacted, and can be reset`() async throws {
    let mailer = try await store.consumer("mailer", from: .oldest)
    try await mailer.acknowledge(sets[0])
    try compact(through: sets[2].revision)
    #expect(await awaitedCode { try await mailer.next(1) } == .compacted)
    #expect(await awaitedCode { try await mailer.acknowledge(sets[1]) } == .compacted)
    #expect(code { try store.consumer("late", from: .after(sets[1].cursor)) } == .compacted)
    #expect(try await store.consumer("oldest", from: .oldest).next(1).map(\.cursor) == [sets[3].cursor])
    try await restart(mailer)
  }

  @Test func `a consumer that is ahead of a restored backup is diverged, and claimed again continues from the backup`()
    async throws
  {
    let copy = folder.path + "/copy.db"
    let mailer = try await store.consumer("mailer", from: .oldest)
    try await mailer.acknowledge(sets[1])
    try folder.shell(".backup '\(copy)'")
    let lost = try store.addUsers(1)
    try await mailer.acknowledge(lost[0])
    try folder.shell(".restore '\(copy)'")
    let other = try store.addUsers(1)
    #expect(other[0].revision == lost[0].revision)
    #expect(await awaitedCode { try await mailer.acknowledge(lost[0]) } == .diverged, "a reused revision")
    let again = try await store.consumer("mailer")
    #expect(try await again.next(3).map(\.cursor) == (sets.suffix(2) + other).map(\.cursor))
  }

  @Test func `a set of another database cannot be acknowledged`() async throws {
    let other = try UserStore.temporary()
    let foreign = try other.addUsers(2)
    let mailer = try await store.consumer("mailer", from: .oldest)
    #expect(await awaitedCode { try await mailer.acknowledge(foreign[0]) } == .diverged)
    #expect(await awaitedCode { try await mailer.reset(to: foreign[0].cursor) } == .diverged)
    #expect(code { try store.consumer("new", from: .after(foreign[0].cursor)) } == .diverged)
    let inOther = await awaitedCode { try await other.write { try mailer.acknowledge(foreign[0], in: &$0) } }
    #expect(inOther == .superseded, "the name does not exist there")
    #expect(try await lags().count == 1)
    #expect(try await mailer.cursor().revision.rawValue == 0)
  }

  @Test func `a reset can move back, and earlier acknowledgments do not override it`() async throws {
    let clock = ManualClock()
    let store = try folder.open { $0.clock = clock }
    let mailer = try await store.consumer("mailer", from: .oldest)
    try await mailer.acknowledge(sets[2])
    try await mailer.acknowledge(sets[3])
    try await mailer.reset(to: sets[0].cursor)
    try await mailer.flush()
    #expect(try folder.durableRevision() == sets[0].revision.rawValue)
    #expect(try await mailer.next(3).map(\.cursor) == sets.suffix(3).map(\.cursor))
  }

  @Test func `a consumer row that was tampered with is an error, not a crash`() async throws {
    let mailer = try await store.consumer("mailer", from: .oldest)
    for (seq, expected) in [(-1, StoreError.Code.compacted), (Int.max, .diverged)] {
      try folder.shell("UPDATE consumers SET seq = \(seq)")
      #expect(await awaitedCode { try await mailer.next(1) } == expected)
      #expect(try await lags() == [nil])
    }
    try await restart(mailer)
  }
}
