import Foundation
import Testing
import UserStore
import UserStoreSync
import UserStoreSyncHTTP

/// Runs the examples of the article “Offline writes”, whose server does not exist.
@Suite(.timeLimit(.minutes(1))) struct OfflineWritesArticle {
  @Test func `a few lines queue writes, and show what was refused`() async throws {
    let store = try UserStore.temporary()
    let running = Task {
      let server = try SyncServer("https://users.example.com", token: .file("token"))
      let replica = try Replica(of: store, from: server, users: .all, writes: .queued)
      replica.pending.bindAndFire("badge") { count in print("\(count) to send") }
      try await replica.run()
      return replica
    }
    // `run` returns when its task is canceled.
    running.cancel()
    let replica = try await running.value
    #expect(try await store.write { try $0.add(name: "own") }.rawValue < 0)
    let showing = Task {
      for try await refusal in replica.refusals {
        print("refused: \(refusal.reason), \(refusal.changes)")
        try await refusal.acknowledge()
      }
    }
    showing.cancel()
    try await showing.value
  }
}
