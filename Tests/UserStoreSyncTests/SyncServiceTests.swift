import Synchronization
import Testing
import UserStore

@testable import UserStoreSync

/// What a server answers to the requests of replicas.
@Suite(.timeLimit(.minutes(2))) struct SyncServiceTests {
  private let fixture: SyncFixture
  private let server: UserStore
  private let service: SyncService

  init() throws {
    fixture = try SyncFixture()
    (server, service) = (fixture.server, fixture.service)
  }

  @Test func `an answer is awaited at the server, and comes when there is something to see`() async throws {
    try await server.write { _ = try $0.add(name: "NIX") }
    let cursor = try await server.read { try $0.cursor }
    let waiting = Task { [service] in
      try await service.answer(SyncRequest(.changes(after: cursor, part: nil, also: nil, wait: 25), users: [2]))
    }
    // Neither the first user nor the event is shown.
    try await server.write { users in
      try users.rename(User.ID(1), to: "Zoë")
      try users.post("hidden")
    }
    try await server.write { _ = try $0.add(name: "second") }
    let body = try await String(decoding: waiting.value.body, as: UTF8.self)
    #expect(body.contains("second"))
    #expect(!body.contains("Zoë") && !body.contains("hidden"))
  }

  @Test func `a set that is committed between the first read and the wait ends the wait`() async throws {
    let cursor = try await server.read { try $0.cursor }
    let reads = Mutex(0)
    // Longer than this test may take.
    let request = SyncRequest(.changes(after: cursor, part: nil, also: nil, wait: 100_000))
    let answer = try await service.answer(request) { read in
      _ = try await read()
      let isFirst = reads.withLock { count in
        count += 1
        return count == 1
      }
      if isFirst { try await server.write { _ = try $0.add(name: "NIX") } }
    }
    #expect(String(decoding: answer.body, as: UTF8.self).contains("NIX"))
    #expect(reads.withLock { $0 } > 1)
  }

  @Test func `each read has a turn, whose error ends the request`() async throws {
    struct Full: Error {}
    let cursor = try await server.read { try $0.cursor }
    for request in [
      SyncRequest(.server), SyncRequest(.users(after: nil, from: cursor)), SyncRequest(.replicas),
      SyncRequest(.changes(after: cursor, part: nil, also: nil, wait: 0)),
      SyncRequest(.changes(after: cursor, part: nil, also: nil, wait: 25)),
    ] {
      await #expect(throws: Full.self) { try await service.answer(request) { _ in throw Full() } }
      let bytes = Mutex(0)
      let body = try await service.answer(request.withoutWait) { read in
        let count = try await read()
        bytes.withLock { $0 = count }
      }.body
      // The lines at both ends of an answer of changes are short.
      #expect(bytes.withLock { $0 } > 0 || request.path == "/sync/changes" && body.count < 500)
    }
  }

  @Test func `full pages about all users have a tag, others have none`() async throws {
    let start = try await server.read { try $0.cursor }
    for number in 0..<3 { try await server.write { _ = try $0.add(name: "n\(number)") } }
    var limits = SyncService.Limits()
    limits.sets = 2
    let service = try SyncService(server, limits)
    func tag(_ request: SyncRequest) async throws -> String? { try await service.answer(request).etag }
    let request = SyncRequest(.changes(after: start, part: nil, also: nil, wait: 0))
    let first = try #require(try await tag(request))
    #expect(first.hasPrefix("W/\"\(start)-"))
    let id = try await server.write { try $0.add(name: "last") }
    #expect(try await tag(request) == first)
    // A cache must not go on with values that were purged.
    let gone = try #require(try await server.ids(named: "n0").first)
    try await server.write { _ = try $0.remove(gone) }
    #expect(try await tag(request) == first)
    try await server.purge(gone)
    #expect(try await tag(request) != first)
    try await server.write { _ = try $0.remove(id) }
    #expect(try await tag(SyncRequest(.changes(after: start, part: nil, also: start, wait: 0))) == nil)
    #expect(try await tag(SyncRequest(.changes(after: start, part: nil, also: nil, wait: 0), users: [1])) == nil)
    let end = try await server.read { try $0.cursor }
    #expect(try await tag(SyncRequest(.changes(after: end, part: nil, also: nil, wait: 0))) == nil)
  }

  @Test func `requests that are none are refused`() {
    for (path, query, body) in [
      ("/sync/other", "", ""), ("/sync", "after=1", ""), ("/sync/users", "", ""), ("/sync/changes", "after=x", ""),
      ("/sync/changes", "after=v1-0-0-0&wait=26", ""), ("/sync/changes", "after=v1-0-0-0&after=v1-0-0-0", ""),
      ("/sync/users", "from=v1-0-0-0", "{\"users\":[2,1]}"), ("/sync/users", "from=v1-0-0-0", "{\"users\":[]}"),
      ("/sync/users", "from=v1-0-0-0", "{\"users\":[1.5]}"), ("/sync", "", "{\"users\":[1]}"),
    ] {
      #expect(throws: StoreError.self) {
        try SyncRequest(path: path, query: query, body: Array(body.utf8))
      }
    }
  }
}
