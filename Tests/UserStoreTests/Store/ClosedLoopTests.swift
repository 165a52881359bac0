import Testing

@testable import UserStore

/// A loop over a feed or a consumer whose store is closed.
@Suite(.bounded, .serialized, .timeLimit(.minutes(5))) struct ClosedLoopTests {
  let folder: Folder
  let store: UserStore
  let sets: [ChangeSet]

  init() throws {
    folder = try Folder()
    store = try folder.open()
    sets = try store.addUsers(2)
  }

  /// Calls that the body of a loop may make.
  private static let calls: [(name: String, call: @Sendable (UserStore, Consumer, ChangeSet) async throws -> Void)] = [
    ("write", { store, _, _ in _ = try await store.write { try $0.add(name: "late") } }),
    ("read", { store, _, _ in _ = try await store.read { try $0.count() } }),
    ("acknowledge", { _, mailer, set in try await mailer.acknowledge(set) }),
    ("acknowledge a change", { _, mailer, set in try await mailer.acknowledge(set, through: set.changes[0]) }),
    ("reset", { _, mailer, set in try await mailer.reset(to: set.cursor) }),
    ("cursor", { _, mailer, _ in _ = try await mailer.cursor() }),
    ("claim", { store, _, _ in _ = try await store.consumer("other") }),
    ("check", { store, _, _ in _ = try await store.check() }),
  ]

  @Test(arguments: calls.indices, [false, true])
  func `a call in the body of a loop throws closed`(number: Int, isConsumer: Bool) async throws {
    let (store, call) = (store, Self.calls[number].call)
    let mailer = try await store.consumer("mailer", from: .oldest)
    let (inside, isClosed) = (Recorder<Void>(), Recorder<Void>())
    let loop = Task {
      func body(_ set: ChangeSet) async throws {
        inside.record(())
        await isClosed.reached(1)
        try await call(store, mailer, set)
      }
      if isConsumer {
        for try await set in mailer { try await body(set) }
      } else {
        for try await set in store.changeSets(after: set0) { try await body(set) }
      }
    }
    await inside.reached(1)
    await store.close()
    isClosed.record(())
    #expect(await awaitedCode { try await loop.value } == .closed, "\(Self.calls[number].name)")
    #expect(inside.count == 1)
  }

  private var set0: Cursor { sets[0].cursor }

  @Test func `between two sets, and while it waits, a loop ends without an error`() async throws {
    let mailer = try await store.consumer("mailer", from: .oldest)
    let received = Recorder<Cursor>()
    let waiting = Task { for try await set in mailer { received.record(set.cursor) } }
    let feed = store.changeSets(after: sets[1].cursor)
    let idle = Task { for try await _ in feed {} }
    await received.reached(2)
    await store.close()
    try await waiting.value
    try await idle.value
    // The body closed it.
    let other = try folder.open()
    let again = try await other.consumer("mailer")
    for try await set in again {
      try await again.acknowledge(set)
      await other.close()
    }
    let last = try folder.open()
    #expect(try await last.consumer("mailer").cursor() == sets[0].cursor)
  }

  @Test func `a huge set in the body throws closed when its next page is read`() async throws {
    let store = store
    try await store.write { users in for number in 0..<1_200 { try users.add(name: "\(number)") } }
    var count = 0
    let code = await awaitedCode {
      for try await set in store.changeSets(after: sets[1].cursor) {
        try await set.forEach { _ in
          count += 1
          if count == 10 { await store.close() }
        }
      }
    }
    #expect(code == .closed)
    #expect(count >= 10 && count <= PagedChanges.rowLimit + 1)
  }
}
