import Foundation
import Testing
import UserStore
import UserStoreSync
import UserStoreSyncHTTP

/// Runs the example of the article “Replicas”, whose server does not exist.
@Suite(.timeLimit(.minutes(1))) struct ReplicasArticle {
  @Test func `a few lines make a store a replica`() async throws {
    let store = try UserStore.temporary()
    let running = Task {
      let server = try SyncServer("https://users.example.com", token: .file("token"))
      let replica = try Replica(of: store, from: server, users: .all, writes: .none)
      replica.state.bindAndFire("banner") { state in print(state) }
      try await replica.run()
      return replica.state.value
    }
    // `run` returns when its task is canceled.
    running.cancel()
    #expect(try await running.value == .copying(done: 0, of: 0))
  }
}
