import Foundation
import UserStore
import UserStoreSync
import UserStoreSyncHTTP

/// Writes at replicas of `userserver --replicas` on loopback, also with PostgreSQL behind it in `scripts/postgres run`.
enum OfflineWrites {
  static func cases(_ effort: Effort) -> [Case] {
    guard let userserver = Program.path("USERSERVER") else { return [] }
    let sets = effort.size(quick: 5_000, full: 100_000)
    var pushing = [
      sending("UserStore, the same writes", sets, users: 100),
      sending("a replica sends them", sets, users: 100, to: userserver),
      sending("a replica sends them, all of one user", sets, users: 1, to: userserver),
    ]
    if Program.path("USERSTORE_POSTGRES") != nil {
      pushing += [
        sending("a replica sends them, PostgreSQL", sets, users: 100, to: userserver, onPostgres: true),
        sending("a replica sends them, PostgreSQL, all of one user", sets, users: 1, to: userserver, onPostgres: true),
      ]
    }
    return [
      Case(
        name: "replicas/local-write", operation: "one row changed in its own transaction at a replica, normal",
        contenders: [
          writing("a store that is no replica", nil, pending: 0),
          writing("a replica that is offline", userserver, pending: 0),
          writing("the same, and 1,000 sets are taken in", userserver, pending: 1_000),
        ]),
      Case(
        name: "replicas/pushing",
        operation: "one of \(sets) sets of one change, from the first request until each is decided at the replica",
        operationsPerPass: sets, contenders: pushing, rounds: effort.size(quick: 3, full: 1)),
    ]
  }

  // MARK: Writing

  private static func users(_ count: Int, in store: UserStore) throws -> [UserStore.User.ID] {
    try store.write { transaction in try (0..<count).map { _ in try transaction.add(name: "NIX") } }
  }

  private static func write(_ sets: Int, to store: UserStore, _ users: [UserStore.User.ID]) throws {
    var names = Names()
    for number in 0..<sets { try store.write { try $0.rename(users[number % users.count], to: names.next()) } }
  }

  private static func writing(_ name: String, _ userserver: String?, pending: Int) -> Contender {
    Contender(name: name) { folder in
      let store = try Fixture.open(folder + "/copy.db", .normal)
      // The ids of users that are added at a replica are longer.
      let users: [UserStore.User.ID]
      if let userserver {
        users = try Self.users(100, in: Fixture.open(folder + "/users.db", .normal))
        let server = try Server(userserver, at: folder + "/users.db")
        let replica = try Replica(of: store, from: SyncServer(server.address), users: .all, writes: .queued)
        try Waiting.run { try await replica.catchUp() }
      } else {
        users = try Self.users(100, in: store)
      }
      try write(pending, to: store, users)
      if pending > 0 {
        // Nobody answers there; the sets are taken in before the first request.
        let replica = try Replica(
          of: store, from: SyncServer("http://127.0.0.1:9"), users: .all, writes: .queued)
        let running = Task { try await replica.run() }
        while try Program.output("sqlite3", folder + "/copy.db", "SELECT count(*) FROM userstore_outbox")
          != "\(pending)"
        { Thread.sleep(forTimeInterval: 0.01) }
        running.cancel()
        try Waiting.run { try await running.value }
      }
      return .passes { count in try write(count, to: store, users) }
    }
  }

  // MARK: Sending

  private static func sending(
    _ name: String, _ sets: Int, users count: Int, to userserver: String? = nil, onPostgres: Bool = false
  ) -> Contender {
    Contender(name: name) { folder in
      let store = try Fixture.open(folder + "/copy.db", .normal)
      guard let userserver else {
        let users = try users(count, in: store)
        return .passes { count in for _ in 0..<count { try write(sets, to: store, users) } }
      }
      let server = try Server(userserver, at: onPostgres ? database() : folder + "/users.db")
      let other = try Fixture.open(folder + "/other.db", .normal)
      let (replica, follower) = try (
        Replica(of: store, from: SyncServer(server.address), users: .all, writes: .queued),
        Replica(of: other, from: SyncServer(server.address), users: .all, writes: .none)
      )
      try Waiting.run { try await replica.catchUp() }
      let users = try users(count, in: store)
      return .pass {
        try write(sets, to: store, users)
        let time = try ContinuousClock().measure { try Waiting.run { try await replica.catchUp() } }
        try expect(replica.pending.value, 0, "undecided sets")
        try Waiting.run { try await follower.catchUp() }
        if try store.read({ try $0.users() }) != other.read({ try $0.users() }) {
          throw WorkNotDone(description: "another replica has other users")
        }
        withExtendedLifetime(server) {}
        return time.nanoseconds
      }
    }
  }

  /// The address of a new database of PostgreSQL.
  private static func database() throws -> String {
    let name = "bench\(UInt32.random(in: 0...UInt32.max))"
    try Program.output("createdb", name)
    return "postgres:///\(name)"
  }
}
