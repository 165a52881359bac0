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

  @Test(arguments: ["", "users.example.com", "ftp://users.example.com", "http://", "http://a/?x=1", "http://u:p@a/"])
  func `what is no address is refused`(_ address: String) {
    #expect(throws: StoreError.self) { try SyncServer(address) }
  }
}
