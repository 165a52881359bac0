import Foundation
import Synchronization
import Testing
import UserStore
import UserStoreSyncHTTP

@testable import UserStoreSync

/// The transport of HTTP, against a small server.
@Suite(.timeLimit(.minutes(2))) struct SyncServerTests {
  private let store: UserStore
  private let service: SyncService

  init() throws {
    store = try UserStore.temporary(configuration: SimulatedServer.configuration)
    service = try SyncService(store)
  }

  @Test func `a replica follows by HTTP, also some users, with a token from a file`() async throws {
    for number in 1...3 { try await store.write { _ = try $0.add(name: "n\(number)") } }
    let requests = Mutex<[SmallServer.Request]>([])
    let serve = SmallServer.serving(service)
    let small = try SmallServer { request in
      requests.withLock { $0.append(request) }
      return await serve(request)
    }
    let file = NSTemporaryDirectory() + "token-\(UUID().uuidString)"
    try Data("secret\nrest".utf8).write(to: URL(filePath: file))
    defer { try? FileManager.default.removeItem(atPath: file) }
    for users in [UserStoreSync.Replica.Users.all, .ids([User.ID(2)])] {
      let copy = try UserStore.temporary(configuration: SimulatedServer.configuration)
      let server = try SyncServer(small.address + "/", token: .file(file))
      try await UserStoreSync.Replica(of: copy, from: server, users: users, writes: .none).catchUp()
      #expect(try await copy.count() == (users == .all ? 3 : 1))
    }
    let seen = requests.withLock { $0 }
    #expect(seen.allSatisfy { $0.headers.contains("Authorization: Bearer secret") })
    #expect(
      Set(seen.filter { !$0.body.isEmpty }.map { String(decoding: $0.body, as: UTF8.self) }) == [#"{"users":[2]}"#])
    #expect(seen.filter { !$0.body.isEmpty }.allSatisfy { $0.method == "POST" })
  }

  @Test func `what is no success is an answer, with the time to wait, and is not followed`() async throws {
    let stranger = try SmallServer { _ in SmallServer.answer("200 OK", [], Array("{}".utf8)) }
    let target = stranger.address
    let small = try SmallServer { request in
      switch request.path {
      case "/a/sync": SmallServer.answer("503 Busy", ["Retry-After: 7"], Array("{\"detail\":\"later\"}".utf8))
      case "/b/sync": SmallServer.answer("302 Found", ["Location: \(target)/sync"])
      default: nil
      }
    }
    let busy = try await SyncServer(small.address + "/a").send(SyncRequest(.server))
    #expect(busy.status == 503)
    #expect(busy.retryAfter == .seconds(7))
    #expect(try await busy.bytes() == Array("{\"detail\":\"later\"}".utf8))
    let moved = try await SyncServer(small.address + "/b").send(SyncRequest(.server))
    #expect(moved.status == 302)
    await #expect(throws: (any Error).self) { try await SyncServer(small.address + "/c").send(SyncRequest(.server)) }
  }

  @Test func `a token that cannot be read is named`() async throws {
    let server = try SyncServer("http://127.0.0.1:9", token: .file("/nowhere/token"))
    let error = await #expect(throws: (any Error).self) { try await server.send(SyncRequest(.server)) }
    #expect("\(try #require(error))" == "the file with the token, /nowhere/token, cannot be read")
  }

  @Test func `an answer that is cut off is an error`() async throws {
    let small = try SmallServer { _ in Array("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf".utf8) }
    let server = try SyncServer(small.address)
    await #expect(throws: (any Error).self) { try await server.send(SyncRequest(.server)).bytes() }
  }

  /// The URLSession of Linux ended the process.
  @Test(arguments: ["", "HT", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\n\r\n\u{0}", "nonsense\r\n\r\n"])
  func `an answer that is cut off in its head, or is none, is an error or an answer`(_ text: String) async throws {
    let small = try SmallServer { _ in Array(text.utf8) }
    let server = try SyncServer(small.address)
    do {
      let bytes = try await server.send(SyncRequest(.server)).bytes()
      #expect(throws: (any Error).self) { try ServerState(bytes) }
    } catch let failure { #expect("\(failure)" != "") }
  }

  /// The URLSession of Linux sent it without, and the server waited for it.
  @Test func `a request that is sent again because its connection was gone has its body`() async throws {
    let bodies = Mutex<[[UInt8]]>([])
    let small = try SmallServer { request in
      let count = bodies.withLock { bodies in
        bodies.append(request.body)
        return bodies.count
      }
      return count == 2 ? nil : Array("HTTP/1.1 200 OK\r\nKeep: yes\r\nContent-Length: 2\r\n\r\nok".utf8)
    }
    let server = try SyncServer(small.address)
    let request = SyncRequest(.users(after: nil, from: Cursor(epoch: 1, revision: 1, nonce: 1)), users: [1, 2])
    for _ in 1...2 { #expect(try await server.send(request).bytes() == Array("ok".utf8)) }
    // The second one came twice: on the connection of the first, which ended, and on a new one.
    #expect(bodies.withLock { $0 } == Array(repeating: Array(#"{"users":[1,2]}"#.utf8), count: 3))
  }

  @Test func `a request that is canceled ends at once, and the next one does not`() async throws {
    let (arrived, arrival) = AsyncStream<Void>.makeStream()
    let (gate, end) = AsyncStream<Void>.makeStream()
    defer { end.finish() }
    let small = try SmallServer { request in
      if request.path == "/sync" { return SmallServer.answer("200 OK") }
      arrival.yield()
      for await _ in gate {}
      return nil
    }
    let server = try SyncServer(small.address)
    let task = Task {
      try await server.send(SyncRequest(.users(after: nil, from: Cursor(epoch: 1, revision: 1, nonce: 1))))
    }
    for await _ in arrived { break }
    task.cancel()
    await #expect(throws: (any Error).self) { try await task.value }
    #expect(try await server.send(SyncRequest(.server)).status == 200)
  }

  @Test(arguments: ["", "users.example.com", "ftp://users.example.com", "http://", "http://a/?x=1", "http://u:p@a/"])
  func `what is no address is refused`(_ address: String) {
    #expect(throws: StoreError.self) { try SyncServer(address) }
  }
}
