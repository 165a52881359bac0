import Foundation
import UserStore
import UserStoreSync
import UserStoreSyncHTTP

/// Replicas of `userserver --replicas` on loopback.
enum Replicas {
  private static let user = UserStore.User.ID(1)

  static func cases(_ effort: Effort) -> [Case] {
    guard let usertool = Program.path("USERTOOL"), let userserver = Program.path("USERSERVER") else { return [] }
    let (users, sets) = (effort.size(quick: 50_000, full: 1_000_000), effort.size(quick: 2_000, full: 20_000))
    let (many, returning) = (200, effort.size(quick: 200, full: 1_000))
    return [
      Case(
        name: "replicas/first-copy",
        operation: "one of \(users) users with two attributes, until all are in another file",
        operationsPerPass: users,
        contenders: [
          copying("usertool export | usertool import", users) { path, copy in
            try Program.output("sh", "-c", "\(usertool) --db \(path) export | \(usertool) import - --db \(copy) -q")
          },
          copying("sqlite3 .backup", users) { path, copy in try Program.output("sqlite3", path, ".backup \(copy)") },
          Contender(name: "usertool follow --once") { folder in
            let server = try Server(userserver, at: file(in: folder, users))
            var copies = 0
            return .pass {
              copies += 1
              let copy = folder + "/copy\(copies).db"
              let time = try ContinuousClock().measure {
                try Program.output(usertool, "follow", server.address, "--db", copy, "--once", "-q")
              }
              try expectUsers(users, in: copy)
              return time.nanoseconds
            }
          },
        ], rounds: 3),
      Case(
        name: "replicas/first-copy/memory", operation: "largest resident memory while \(users) users are copied",
        contenders: [
          copyMemory("usertool follow --once", users, usertool, userserver, ofServer: false),
          copyMemory("userserver, while it is copied", users, usertool, userserver, ofServer: true),
        ], rounds: 1),
      Case(
        name: "replicas/following", operation: "one of \(sets) sets of one change, until another file has it, normal",
        operationsPerPass: sets, contenders: [importing(sets), following(sets, userserver)], rounds: 5),
      Case(
        name: "replicas/latency",
        operation: "from the end of the write's closure to a listener of another process, normal",
        contenders: [listening(nil), listening(userserver), listening(userserver, toReplica: true)]),
      Case(
        name: "replicas/many",
        operation: "from the end of the write's closure to a listener, normal",
        contenders: [waiting(1, userserver), waiting(many, userserver)], rounds: 5),
      Case(
        name: "replicas/many/memory", operation: "resident memory for one of \(many) replicas that wait",
        contenders: [
          waitingMemory("the server, for one replica", many, userserver),
          Contender(name: "a replica in a process with others") { folder in
            .bytes {
              let server = try Server(userserver, at: Fixture.file(in: folder, users: 1_000, isLogged: true))
              _ = try Followers(1, of: server, in: folder)
              let before = try Memory.resident(of: getpid())
              let followers = try Followers(many, of: server, in: folder)
              return try withExtendedLifetime((server, followers)) {
                Double(try Memory.resident(of: getpid()) - before) / Double(many)
              }
            }
          },
        ], rounds: 1),
      Case(
        name: "replicas/returning", operation: "one of \(returning) requests for the last 100 sets",
        operationsPerPass: returning,
        contenders: [
          asking("one after another", returning, atOnce: false, userserver),
          asking("all at once", returning, atOnce: true, userserver),
        ], rounds: 5),
    ]
  }

  // MARK: Copying

  private static func file(in folder: String, _ users: Int) throws -> String {
    try Fixture.file(
      in: folder, users: users, isLogged: true,
      adding: "INSERT INTO attributes (user_id, name, value) SELECT id, 'age', id % 90 FROM users")
  }

  private static func expectUsers(_ count: Int, in path: String) throws {
    let users = try Program.output("sqlite3", path, "SELECT count(*) FROM users JOIN attributes ON user_id = id")
    try expect(Int(users) ?? 0, count, "users with their attribute in \(path)")
  }

  private static func copying(
    _ name: String, _ users: Int, _ copy: @escaping @Sendable (_ path: String, _ copy: String) throws -> Void
  ) -> Contender {
    Contender(name: name) { folder in
      let path = try file(in: folder, users)
      var copies = 0
      return .pass {
        copies += 1
        let target = folder + "/copy\(copies).db"
        let time = try ContinuousClock().measure { try copy(path, target) }
        try expectUsers(users, in: target)
        return time.nanoseconds
      }
    }
  }

  private static func copyMemory(
    _ name: String, _ users: Int, _ usertool: String, _ userserver: String, ofServer: Bool
  ) -> Contender {
    Contender(name: name) { folder in
      .bytes {
        let server = try Server(userserver, at: file(in: folder, users))
        let output = try Program.output(
          "sh", "-c",
          "/usr/bin/time -f %M \(usertool) follow \(server.address) --db \(folder)/copy.db --once -q 2>&1 >/dev/null")
        guard let kibibytes = Double(output) else { throw WorkNotDone(description: "time printed “\(output)”") }
        return ofServer ? Double(try Memory.peak(of: server.process)) : kibibytes * 1_024
      }
    }
  }

  // MARK: Following

  private static func write(_ sets: Int, to store: UserStore) throws {
    var names = Names()
    for number in 0..<sets {
      try store.write { try $0.rename(UserStore.User.ID(Int64(number % 100) + 1), to: names.next()) }
    }
  }

  private static func importing(_ sets: Int) -> Contender {
    Contender(name: "UserStore, the same writes") { folder in
      let store = try Fixture.store(in: folder, users: 100, .normal)
      return .passes { count in for _ in 0..<count { try write(sets, to: store) } }
    }
  }

  private static func following(_ sets: Int, _ userserver: String) -> Contender {
    Contender(name: "a replica that catches up") { folder in
      let store = try Fixture.store(in: folder, users: 100, .normal)
      let server = try Server(userserver, at: folder + "/users.db")
      let copy = try Fixture.open(folder + "/copy.db", .normal)
      let replica = try Replica(of: copy, from: SyncServer(server.address), users: .all, writes: .none)
      try Waiting.run { try await replica.catchUp() }
      return .pass {
        try write(sets, to: store)
        let time = try ContinuousClock().measure { try Waiting.run { try await replica.catchUp() } }
        let users = try (store.read { try $0.users() }, copy.read { try $0.users() })
        if users.0 != users.1 { throw WorkNotDone(description: "the replica has other users") }
        withExtendedLifetime(server) {}
        return time.nanoseconds
      }
    }
  }

  /// A listener of another process; the writer writes to the server's file, or to a replica.
  private static func listening(_ userserver: String?, toReplica: Bool = false) -> Contender {
    let names = [
      "a listener with the same file", "a listener at a replica", "a listener at a replica, of a write at another",
    ]
    return Contender(name: names[userserver == nil ? 0 : toReplica ? 2 : 1]) { folder in
      let store = try Fixture.store(in: folder, users: 1, .normal)
      let server = try userserver.map { try Server($0, at: folder + "/users.db") }
      let writer = try server.flatMap { try toReplica ? Writer(at: folder + "/writer.db", of: $0) : nil }
      var copies = 0
      return .latencies { count in
        copies += 1
        let follower =
          try server.map { try Follower(.replica, path: folder + "/copy\(copies).db", $0.address) }
          ?? Follower(.userstore, path: folder + "/users.db")
        let store = writer?.store ?? store
        for _ in 0..<count {
          try store.write { _ = try $0.rename(user, to: Stamp.now()) }
          Thread.sleep(forTimeInterval: 0.01 * .random(in: 0.75...1.25))
        }
        try store.write { _ = try $0.rename(user, to: Stamp.end) }
        return try follower.ages()
      }
    }
  }

  /// A replica of this process that runs, and is written to.
  private final class Writer {
    let store: UserStore
    private let running: Task<Void, any Error>

    init(at path: String, of server: Server) throws {
      store = try Fixture.open(path, .normal)
      let replica = try Replica(of: store, from: SyncServer(server.address), users: .all, writes: .queued)
      try Waiting.run { try await replica.catchUp() }
      running = Task { try await replica.run() }
    }

    deinit {
      running.cancel()
      store.close()
    }
  }

  /// Follows until the name of the first user is `Stamp.end`.
  static func follow(_ path: String, _ address: String, _ arrivals: Arrivals, ready: () -> Void) throws {
    let store = try Fixture.open(path, .normal)
    let replica = try Replica(of: store, from: SyncServer(address), users: .all, writes: .none)
    try Waiting.run { try await replica.catchUp() }
    let name = try store.listenable(.name, of: user)
    let ended = DispatchSemaphore(value: 0)
    name.bind("screen") { name in
      arrivals.add(name)
      if name == Stamp.end { ended.signal() }
    }
    let running = Task { try await replica.run() }
    ready()
    ended.wait()
    running.cancel()
    withExtendedLifetime(name) {}
  }

  // MARK: Many

  /// Replicas of this process, each of which runs, and has a listener.
  private final class Followers {
    private let stores: [UserStore]
    private let names: [Listenable<String?>]
    private var running: [Task<Void, any Error>] = []
    let arrivals = Arrivals()

    init(_ count: Int, of server: Server, in folder: String) throws {
      let folder = folder + "/\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      stores = try (0..<count).map { try Fixture.open("\(folder)/\($0).db", .normal, watches: false) }
      let replicas = try stores.map {
        try Replica(of: $0, from: SyncServer(server.address), users: .all, writes: .none)
      }
      try Waiting.run { for replica in replicas { try await replica.catchUp() } }
      names = try stores.map { try $0.listenable(.name, of: user) }
      for name in names { name.bind("screen") { [arrivals] in arrivals.add($0) } }
      running = replicas.map { replica in Task { try await replica.run() } }
      try server.waitForStreams(count)
    }

    deinit {
      for task in running { task.cancel() }
      for store in stores { store.close() }
    }
  }

  private static func waiting(_ count: Int, _ userserver: String) -> Contender {
    Contender(name: count == 1 ? "one replica waits" : "\(count) replicas wait in one process, each of them") {
      folder in
      let store = try Fixture.store(in: folder, users: 1, .normal)
      let server = try Server(userserver, at: folder + "/users.db")
      let followers = try Followers(count, of: server, in: folder)
      return .latencies { events in
        for _ in 0..<max(1, events / count) {
          try store.write { _ = try $0.rename(user, to: Stamp.now()) }
          for _ in 0..<count { try followers.arrivals.wait() }
        }
        return withExtendedLifetime(server) { followers.arrivals.take() }
      }
    }
  }

  private static func waitingMemory(_ name: String, _ count: Int, _ userserver: String) -> Contender {
    Contender(name: name) { folder in
      .bytes {
        let server = try Server(userserver, at: Fixture.file(in: folder, users: 1_000, isLogged: true))
        _ = try Followers(1, of: server, in: folder)
        let before = try Memory.resident(of: server.process)
        let followers = try Followers(count, of: server, in: folder)
        return try withExtendedLifetime((server, followers)) {
          Double(try Memory.resident(of: server.process) - before) / Double(count)
        }
      }
    }
  }

  private static func asking(_ name: String, _ count: Int, atOnce: Bool, _ userserver: String) -> Contender {
    Contender(name: name) { folder in
      let store = try Fixture.store(in: folder, users: 100, .normal)
      let cursor = try store.read { try $0.cursor }
      try write(100, to: store)
      let server = try Server(userserver, at: folder + "/users.db")
      return .pass {
        try ContinuousClock().measure {
          if atOnce { return try server.ask("/sync/changes?after=\(cursor)", count: count) }
          for _ in 0..<count { try server.ask("/sync/changes?after=\(cursor)", count: 1) }
        }.nanoseconds
      }
    }
  }
}
