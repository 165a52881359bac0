import Foundation
import Synchronization
import TestSupport
import Testing
import UserStore
import UserStoreSyncHTTP

@testable import UserStoreSync

/// What a server knows of its replicas.
@Suite(.timeLimit(.minutes(2))) struct KnownReplicasTests {
  private let store: UserStore
  private let service: SyncService
  private let time = Time()

  /// A clock that a test sets.
  private final class Time: Sendable {
    let milliseconds = Mutex<Int64>(0)
  }

  init() throws {
    store = try UserStore.temporary(configuration: SimulatedServer.configuration)
    var limits = SyncService.Limits()
    limits.replicas = 3
    limits.now = { [time] in time.milliseconds.withLock { $0 } }
    service = try SyncService(store, limits)
  }

  private func changes(
    after cursor: UserStore.Cursor, also: UserStore.Cursor? = nil, wait: Int = 0, users: [Int64]? = nil,
    by producer: Int64?
  ) -> SyncRequest {
    SyncRequest(.changes(after: cursor, part: nil, also: also, wait: wait), users: users, producer: producer)
  }

  @Test func `a replica sends the number of its file, which a copied file has too`() async throws {
    try await store.write { _ = try $0.add(name: "NIX") }
    let fixture = try SyncFixture()
    let folder = fixture.folder
    func follow(_ name: String) async throws -> Int64 {
      let copy = try fixture.open(name)
      try await UserStoreSync.Replica(of: copy, from: DirectTransport(to: service), writes: .none).catchUp()
      await copy.close()
      return try #require(try PlainConnection("\(folder)/\(name).db").integer("SELECT producer FROM userstore_replica"))
    }
    let (one, other) = (try await follow("one"), try await follow("other"))
    #expect(one != other && one > 0 && other > 0)
    _ = try await follow("one")
    #expect(try await service.replicas().map(\.producer) == [one, other])
    try SimulatedFile.copy("\(folder)/one.db", to: "\(folder)/copied.db")
    #expect(try await follow("copied") == one)
    let known = try #require(try await service.replicas().first)
    #expect(
      known.producer == one && known.subject.isEmpty && known.subset == nil && known.state == .following)
    #expect(known.behind == 0 && known.refusals == 0)
  }

  @Test func `the number arrives by HTTP, in a header, and not in the address`() async throws {
    let requests = Mutex<[SmallServer.Request]>([])
    let serve = SmallServer.serving(service)
    let small = try SmallServer { request in
      requests.withLock { $0.append(request) }
      return await serve(request)
    }
    let copy = try UserStore.temporary(configuration: SimulatedServer.configuration)
    try await UserStoreSync.Replica(of: copy, from: SyncServer(small.address), writes: .none).catchUp()
    let producer = try #require(try await service.replicas().first?.producer)
    let seen = requests.withLock { $0 }
    #expect(!seen.isEmpty && seen.allSatisfy { $0.headers.contains("Userstore-Replica: \(producer)") })
    #expect(!seen.contains { $0.target.contains("\(producer)") })
    // Another client, such as curl, is no replica.
    _ = try await SyncServer(small.address).send(SyncRequest(.server)).bytes()
    #expect(try await service.replicas().count == 1)
  }

  private func known(after request: SyncRequest) async throws -> SyncService.ReplicaInfo {
    _ = try? await service.answer(request)
    return try #require(try await service.replicas().first)
  }

  @Test func `how far it is behind is what it has asked after, and whether it copies`() async throws {
    let start = try await store.read { try $0.cursor }
    for number in 0..<3 { try await store.write { _ = try $0.add(name: "n\(number)") } }
    let end = try await store.read { try $0.cursor }
    var known = try await self.known(after: SyncRequest(.server, producer: 7))
    #expect(known.state == .copying && known.cursor == nil && known.behind == nil)
    known = try await self.known(after: SyncRequest(.users(after: nil, from: start), users: [1, 2], producer: 7))
    #expect(known.state == .copying && known.cursor == start && known.subset == 2)
    known = try await self.known(after: changes(after: start, also: end, users: [1, 2], by: 7))
    #expect(known.state == .copying)
    time.milliseconds.withLock { $0 = 5 }
    known = try await self.known(after: changes(after: start, users: [1, 2], by: 7))
    let distance = Int(end.revision.rawValue - start.revision.rawValue)
    #expect(known.state == .following && known.behind == distance && known.timestamp == 5 && known.refusals == 0)
    try await store.write { _ = try $0.add(name: "later") }
    #expect(try await service.replicas().first?.behind ?? 0 > distance)
    known = try await self.known(after: changes(after: store.read { try $0.cursor }, by: 7))
    #expect(known.behind == 0 && known.subset == nil)
    // Its log is another one.
    known = try await self.known(after: changes(after: UserStore.Cursor("v1-1234-3-5678"), by: 7))
    #expect(known.behind == nil && known.refusals == 1)
  }

  @Test func `it waits as long as its request does`() async throws {
    let start = try await store.read { try $0.cursor }
    let (reads, continuation) = AsyncStream<Void>.makeStream()
    let waiting = Task { [service, request = changes(after: start, wait: 25, by: 7)] in
      try await service.answer(request) { read in
        _ = try await read()
        continuation.yield()
      }
    }
    // After the first read, it waits; a read that finds nothing does not end that.
    for await _ in reads { break }
    while try await service.replicas().first?.state != .listening { await Task.yield() }
    _ = try await service.answer(changes(after: start, by: 8))
    #expect(try await service.replicas().map(\.state) == [.following, .listening])
    // It is forgotten while it waits, and known again.
    for producer in Int64(9)...11 { _ = try await service.answer(changes(after: start, by: producer)) }
    #expect(try await service.replicas().map(\.producer) == [11, 10, 9])
    try await store.write { _ = try $0.add(name: "NIX") }
    _ = try await waiting.value
    #expect(try await service.replicas().allSatisfy { $0.state == .following })
    let canceled = Task { [service, store] in
      try await service.answer(changes(after: store.read { try $0.cursor }, wait: 25, by: 7))
    }
    while try await service.replicas().first?.state != .listening { await Task.yield() }
    canceled.cancel()
    await #expect(throws: CancellationError.self) { try await canceled.value }
    #expect(try await service.replicas().allSatisfy { $0.state == .following })
  }

  @Test func `the ones that asked first are forgotten, whatever the clock says`() async throws {
    let start = try await store.read { try $0.cursor }
    for producer in Int64(1)...4 {
      time.milliseconds.withLock { $0 = 10 - producer }
      _ = try await service.answer(changes(after: start, by: producer))
    }
    #expect(try await service.replicas().map(\.producer) == [4, 3, 2])
    _ = try await service.answer(changes(after: start, by: 2))
    _ = try await service.answer(changes(after: start, by: 5))
    #expect(try await service.replicas().map(\.producer) == [5, 2, 4])
  }

  @Test func `refusals are counted, and only for replicas that are known`() async throws {
    let start = try await store.read { try $0.cursor }
    let strange = try UserStore.Cursor("v1-1234-3-5678")
    _ = try await service.answer(changes(after: start, by: 7))
    for _ in 0..<2 { _ = try? await service.answer(changes(after: strange, by: 7)) }
    // Those of the server, which has no subject for them: a wrong token.
    for replica in ["7", "8", "x", "-7", nil] { service.noteRefusal(of: replica) }
    let known = try await service.replicas()
    #expect(known.map(\.producer) == [7] && known.map(\.refusals) == [3])
  }

  @Test func `replicas of different subjects are different, though they send the same number`() async throws {
    let start = try await store.read { try $0.cursor }
    for subject in ["a", "b"] {
      _ = try await service.answer(
        changes(after: start, by: 7), for: SyncService.Access(subject: subject))
    }
    #expect(try await service.replicas().map(\.subject) == ["b", "a"])
  }

  @Test(arguments: ["", "0", "-1", "+1", "01", " 1", "1 ", "1.0", "x", "9223372036854775808", "\u{0661}"])
  func `what is no number of 63 bits is refused`(_ text: String) throws {
    #expect(throws: StoreError.self) { try SyncRequest(path: "/sync", query: "", replica: text) }
    #expect(try SyncRequest(path: "/sync", query: "", replica: "9223372036854775807").producer == .max)
    #expect(try SyncRequest(path: "/sync", query: "").producer == nil)
  }

  @Test func `the answer of the route has all of it, and the caches' tags do not depend on who asks`() async throws {
    let start = try await store.read { try $0.cursor }
    for number in 0..<3 { try await store.write { _ = try $0.add(name: "n\(number)") } }
    var limits = SyncService.Limits()
    limits.sets = 2
    limits.now = { 1_700_000_000_123 }
    let service = try SyncService(store, limits)
    var tags: Set<String> = []
    for producer in [nil, 7, .max] as [Int64?] {
      tags.insert(try #require(try await service.answer(changes(after: start, by: producer)).etag))
    }
    #expect(tags.count == 1)
    // A program that asks for them is not added.
    let answer = try await service.answer(SyncRequest(path: "/replicas", query: "", replica: "8"))
    #expect(answer.contentType == "application/json" && answer.etag == nil)
    let behind = try await store.read { try $0.cursor }.revision.rawValue - start.revision.rawValue
    func line(_ producer: String) -> String {
      #"{"producer":"\#(producer)","subject":"","state":"following","behind":\#(behind),"at":"2023-11-14T22:13:20.123Z","#
        + #""refusals":0,"users":null,"cursor":"\#(start)"}"#
    }
    #expect(
      String(decoding: answer.body, as: UTF8.self)
        == #"{"replicas":[\#(line("9223372036854775807")),\#(line("7"))]}"#)
    #expect(throws: StoreError.self) { try SyncRequest(path: "/replicas", query: "x=1") }
  }
}
