import Foundation
import Synchronization
import TestSupport
import Testing
import UserStore

@testable import UserStoreSync

/// A replica as a program uses it.
@Suite(.timeLimit(.minutes(2))) struct ReplicaTests {
  private let fixture: SyncFixture
  private let folder: String
  private let server: UserStore
  private let service: SyncService
  private static let age = Attribute<Int>("age")

  init() throws {
    fixture = try SyncFixture()
    (folder, server, service) = (fixture.folder, fixture.server, fixture.service)
  }

  private func open(_ name: String = "replica") throws -> UserStore { try fixture.open(name) }

  private func replica(
    of store: UserStore, users: UserStoreSync.Replica.Users = .all, through transport: (any SyncTransport)? = nil,
    retries: Retries = Retries()
  ) throws -> UserStoreSync.Replica {
    try UserStoreSync.Replica(of: store, from: transport ?? DirectTransport(to: service), users: users, retries)
  }

  private func code(_ body: () async throws -> Void) async throws -> StoreError.Code? {
    do { try await body() } catch let error as StoreError { return error.code }
    return nil
  }

  @Test func `it copies, follows, and delivers each set of the server with its origin`() async throws {
    let nix = try await server.write { try $0.add(name: "NIX") }
    let store = try open()
    let replica = try replica(of: store)
    let running = Task { try await replica.run() }
    try await replica.caughtUp(to: server.read { try $0.cursor })
    #expect(try await store.user(nix)?.name == "NIX")

    let (sets, continuation) = AsyncStream<UserStore.ChangeSet>.makeStream()
    store.listeners.bind("test", to: .everything) { continuation.yield($0) }
    try await server.write(origin: "app") { users in
      try users.set(Self.age, of: nix, to: 7)
      try users.post("aged", about: nix)
    }
    for await set in sets {
      #expect(set.isPulled)
      #expect(set.origin == "app")
      #expect(try set.changes.map(\.attribute) == ["age"])
      #expect(try set.events.map(\.name) == ["aged"])
      break
    }
    try await replica.caughtUp(to: server.read { try $0.cursor })
    #expect(replica.state.value == .following(behind: 0))
    running.cancel()
    try await running.value
  }

  @Test func `a set of the store's own is not pulled`() async throws {
    let set = Mutex<UserStore.ChangeSet?>(nil)
    server.listeners.bind("test", to: .everything) { new in set.withLock { $0 = new } }
    try await server.write { _ = try $0.add(name: "NIX") }
    #expect(set.withLock { $0 }?.isPulled == false)
  }

  @Test func `every other write is refused, with the place to write`() async throws {
    let nix = try await server.write { try $0.add([(.name, .text("NIX")), ("age", .integer(7))]) }
    let store = try open()
    try await replica(of: store, through: DirectTransport(to: service, address: "https://users.example.com")).catchUp()
    func refused(_ body: @escaping @Sendable (inout UserStore.WriteTransaction) throws -> Void) async throws {
      do {
        try await store.write { try body(&$0) }
        Issue.record("not refused")
      } catch let error as StoreError {
        #expect(error.code == .readOnlyReplica)
        #expect(error.message.contains("https://users.example.com"), "\(error)")
      }
    }
    try await refused { _ = try $0.add(name: "own") }
    try await refused { try $0.rename(nix, to: "own") }
    try await refused { try $0.set(Self.age, of: nix, to: 8) }
    try await refused { try $0.set(Attribute<Int>("new"), of: nix, to: 8) }
    try await refused { try $0.unset(Self.age, of: nix) }
    try await refused { try $0.remove(nix) }
    try await refused { try $0.post("own") }
    #expect(try await code { _ = try await store.addUnique(on: "age") } == .readOnlyReplica)
    try await server.backup(to: folder + "/backup.db")
    #expect(try await code { try await store.restore(from: folder + "/backup.db") } == .readOnlyReplica)
    #expect(try await store.user(nix)?.name == "NIX")
    // Consumers keep their position.
    let consumer = try await store.consumer("test", from: .oldest)
    for try await set in consumer {
      try await consumer.acknowledge(set)
      break
    }
    #expect(try await store.check().isEmpty)
  }

  @Test func `a store with users becomes no replica`() async throws {
    let store = try open()
    try await store.write { _ = try $0.add(name: "own") }
    #expect(try await code { _ = try replica(of: store) } == .notEmpty)
    #expect(try await store.count() == 1)
    try await store.write { _ = try $0.add(name: "other") }
  }

  @Test func `a store with unique attributes becomes no replica`() async throws {
    let store = try open()
    _ = try await store.addUnique(on: "age")
    #expect(try await code { _ = try replica(of: store) } == .unsupported)
  }

  @Test func `only the chosen users are copied, and others after another choice`() async throws {
    for number in 1...5 { try await server.write { _ = try $0.add(name: "n\(number)") } }
    let store = try open()
    try await replica(of: store, users: .ids([User.ID(4), User.ID(2), User.ID(9)])).catchUp()
    #expect(try await store.users().map(\.id) == [User.ID(2), User.ID(4)])
    let other = try replica(of: store, users: .ids([User.ID(4), User.ID(5)]))
    #expect(try await store.users().map(\.id) == [User.ID(2), User.ID(4)])
    try await other.catchUp()
    #expect(try await store.users().map(\.id) == [User.ID(4), User.ID(5)])
    #expect(try await code { _ = try replica(of: store, users: .ids([])) } == .badValue)
  }

  @Test func `other records at the address are refused until they are confirmed`() async throws {
    try await server.write { _ = try $0.add(name: "NIX") }
    let store = try open()
    try await replica(of: store).catchUp()
    let stranger = try open("stranger")
    try await stranger.write { _ = try $0.add(name: "stranger") }
    let moved = try replica(of: store, through: DirectTransport(to: SyncService(stranger)))
    let problem = await #expect(throws: UserStoreSync.Replica.Problem.self) { try await moved.run() }
    guard case .anotherServer(let identity) = try #require(problem) else {
      Issue.record("\(problem!)")
      return
    }
    #expect(moved.state.value == .refused(.anotherServer(identity: identity)))
    #expect(try await store.users().map { try $0.name } == ["NIX"])
    try moved.confirm(identity: identity)
    try await moved.catchUp()
    #expect(try await store.users().map { try $0.name } == ["stranger"])
  }

  @Test func `a restored server is copied`() async throws {
    try await server.write { _ = try $0.add(name: "NIX") }
    try await server.backup(to: folder + "/backup.db")
    try await server.write { _ = try $0.add(name: "lost") }
    let store = try open()
    let replica = try replica(of: store)
    try await replica.catchUp()
    try await server.restore(from: folder + "/backup.db")
    try await replica.catchUp()
    #expect(try await store.users().map { try $0.name } == ["NIX"])
  }

  @Test func `a restore into a new file keeps the identity of the server`() async throws {
    try await server.write { _ = try $0.add(name: "NIX") }
    let store = try open()
    try await replica(of: store).catchUp()
    try await server.backup(to: folder + "/backup.db")
    let other = try open("other")
    try await other.restore(from: folder + "/backup.db")
    try await replica(of: store, through: DirectTransport(to: SyncService(other))).catchUp()
    #expect(try await store.users().map { try $0.name } == ["NIX"])
  }

  @Test func `a purge at the server removes the values here, even if the log there has forgotten the user`()
    async throws
  {
    let nix = try await server.write { try $0.add([(.name, .text("secret")), ("age", .integer(7))]) }
    let store = try open()
    let replica = try replica(of: store)
    try await replica.catchUp()
    try await server.write { try $0.remove(nix) }
    try await server.write { _ = try $0.add(name: "other") }
    try await replica.catchUp()
    try await server.compact(keeping: RetentionPolicy(.init(changes: 1), consumerLimits: .none))
    try await server.purge(nix)
    try await replica.catchUp()
    let values = try PlainConnection(folder + "/replica.db").run(
      "SELECT 1 FROM changes WHERE user = 1 AND (old IS NOT NULL OR new IS NOT NULL)")
    #expect(values.isEmpty)
  }

  @Test func `a server of a file that nobody follows notes no purge without values`() async throws {
    let store = try open("plain")
    let nix = try await store.write { try $0.add(name: "NIX") }
    try await store.write { try $0.remove(nix) }
    try await store.purge(nix)
    let before = try await store.read { try $0.cursor }
    try await store.purge(nix)
    #expect(try await store.read { try $0.cursor } == before)
  }

  @Test func `failures are shown, and repeated with growing pauses`() async throws {
    let pauses = Mutex<[Duration]>([])
    let failing = FailingTransport(to: DirectTransport(to: service), failures: 9)
    let retries = Retries(
      now: { .zero }, sleep: { time in pauses.withLock { $0.append(time) } }, random: { 0 })
    let store = try open()
    let replica = try replica(of: store, through: failing, retries: retries)
    let states = Mutex<[UserStoreSync.Replica.State]>([])
    replica.state.bind("test") { state in states.withLock { $0.append(state) } }
    try await replica.catchUp()
    let expected = [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].map { Duration.milliseconds($0) }
    #expect(pauses.withLock { $0 } == expected)
    #expect(
      states.withLock { $0 }.contains {
        if case .waiting("no network", _) = $0 { true } else { false }
      })
  }

  @Test func `a server that asks to wait is not asked sooner, but at least once an hour`() async throws {
    let pauses = Mutex<[Duration]>([])
    let retries = Retries(now: { .zero }, sleep: { time in pauses.withLock { $0.append(time) } }, random: { 0 })
    for (asked, waited) in [(7, 7), (100_000, 3_600)] {
      pauses.withLock { $0 = [] }
      let transport = FailingTransport(to: DirectTransport(to: service), failures: 1, retryAfter: .seconds(asked))
      try await replica(of: try open("replica\(asked)"), through: transport, retries: retries).catchUp()
      #expect(pauses.withLock { $0 } == [.seconds(waited)])
    }
  }

  /// Passes requests on, and shows them to a test.
  private struct Recording: SyncTransport {
    let next: DirectTransport
    let asked: AsyncStream<SyncRequest>.Continuation

    var address: String { next.address }

    func send(_ request: SyncRequest) async throws -> SyncResponse {
      asked.yield(request)
      return try await next.send(request)
    }
  }

  @Test func `after a copy, the first answer comes at once, and later ones wait for changes`() async throws {
    try await server.write { _ = try $0.add(name: "NIX") }
    let (asked, continuation) = AsyncStream<SyncRequest>.makeStream()
    let replica = try replica(of: open(), through: Recording(next: DirectTransport(to: service), asked: continuation))
    let running = Task { try await replica.run() }
    var requests: [String] = []
    for await request in asked where request.path == "/sync/changes" {
      requests.append(request.query)
      if requests.count == 2 { break }
    }
    #expect(requests.map { $0.contains("wait=") } == [false, true])
    running.cancel()
    try await running.value
    #expect(replica.state.value == .following(behind: 0))
  }

  /// A server that never answers; its error for a canceled request is one of its own.
  private struct SilentTransport: SyncTransport {
    struct Canceled: Error {}

    let address = "silent"
    let asked: AsyncStream<Void>.Continuation

    func send(_ request: SyncRequest) async throws -> SyncResponse {
      asked.yield()
      for await _ in AsyncStream<Void>.makeStream().stream {}
      throw Canceled()
    }
  }

  @Test func `a canceled replica returns, and shows no failure of its last request`() async throws {
    let (asked, continuation) = AsyncStream<Void>.makeStream()
    let replica = try replica(of: open(), through: SilentTransport(asked: continuation))
    let running = Task { try await replica.run() }
    for await _ in asked { break }
    running.cancel()
    try await running.value
    #expect(replica.state.value == .copying(done: 0, of: 0))
  }

  @Test func `a file of a replica is refused by older libraries, and others stay as they were`() async throws {
    let store = try open()
    let plain = try PlainConnection(folder + "/replica.db")
    #expect(try plain.value("PRAGMA user_version") == 7)
    _ = try replica(of: store)
    #expect(try plain.value("PRAGMA user_version") == 9)
    #expect(try PlainConnection(folder + "/server.db").value("PRAGMA user_version") == 9)
    await store.close()
    // The check of the schema accepts the tables, and a trigger that was removed comes back.
    try plain.script("DROP TRIGGER userstore_replica_add")
    let again = try open()
    #expect(try await code { try await again.write { _ = try $0.add(name: "own") } } == .readOnlyReplica)
    await again.close()
    try plain.script("ALTER TABLE userstore_copy ADD COLUMN other TEXT")
    #expect(try await code { _ = try open() } == .schemaChanged)
  }
}

/// A transport that fails a few times first.
private final class FailingTransport: SyncTransport {
  private let transport: any SyncTransport
  private let failures: Atomic<Int>
  private let retryAfter: Duration?

  init(to transport: any SyncTransport, failures: Int, retryAfter: Duration? = nil) {
    (self.transport, self.retryAfter) = (transport, retryAfter)
    self.failures = Atomic(failures)
  }

  var address: String { transport.address }

  func send(_ request: SyncRequest) async throws -> SyncResponse {
    guard failures.subtract(1, ordering: .relaxed).newValue < 0 else {
      if let retryAfter { return SyncResponse(status: 503, retryAfter: retryAfter, body: []) }
      throw SyncFailure("no network")
    }
    return try await transport.send(request)
  }
}
