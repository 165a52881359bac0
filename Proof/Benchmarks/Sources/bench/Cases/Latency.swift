import CFloor
import Foundation
import UserStore

/// How long a change takes to who hears of it.
///
/// The moment is taken as the last thing in the write's closure: what follows, COMMIT included, is the library's time. There
/// is a pause between events, so that everybody sleeps who would sleep in an application.
enum Latency {
  static let pause: TimeInterval = 0.002
  private static let user = User.ID(1)

  static func cases(_ effort: Effort) -> [Case] {
    [Configuration.Durability.normal, .full].flatMap { durability in
      let name = durability == .full ? "full" : "normal"
      return [
        Case(
          name: "latency/\(name)/same-process",
          operation: "from the end of the write's closure to the listener, COMMIT included, \(name)",
          contenders: [inline(durability), actor(durability), grdb(durability), nobody(durability)]),
        Case(
          name: "latency/\(name)/other-process",
          operation: "from the end of the write's closure to a listener in another process, \(name)",
          contenders: [
            follower(durability, .userstore, "UserStore, listener"),
            follower(durability, .polling, "C, data_version every 1 ms"),
          ]),
      ]
    }
  }

  // MARK: The same process

  private static func inline(_ durability: Configuration.Durability) -> Contender {
    Contender(name: "UserStore, inline listener") { folder in
      let store = try Fixture.store(in: folder, users: 1, durability)
      let arrivals = Arrivals()
      let name = try store.listenable(.name, of: user)
      name.bind("screen") { arrivals.hear($0) }
      return .latencies { count in try write(count, store, arrivals, held: name) }
    }
  }

  private static func actor(_ durability: Configuration.Durability) -> Contender {
    actor Screen {}
    return Contender(name: "UserStore, listener on an actor") { folder in
      let store = try Fixture.store(in: folder, users: 1, durability)
      let arrivals = Arrivals()
      let screen = Screen()
      let name = try store.listenable(.name, of: user)
      name.bind("screen", on: .actor(screen)) { arrivals.hear($0) }
      return .latencies { count in try write(count, store, arrivals, held: (name, screen)) }
    }
  }

  /// What of all this is COMMIT, and the way back to who writes.
  private static func nobody(_ durability: Configuration.Durability) -> Contender {
    Contender(name: "UserStore, nobody listens: until write returns") { folder in
      let store = try Fixture.store(in: folder, users: 1, durability)
      let arrivals = Arrivals()
      return .latencies { count in
        for _ in 0..<count {
          let stamp = try store.write { users in
            let stamp = Stamp.now()
            _ = try users.rename(user, to: stamp)
            return stamp
          }
          arrivals.hear(stamp)
          Thread.sleep(forTimeInterval: pause)
        }
        return arrivals.take()
      }
    }
  }

  private static func write(_ count: Int, _ store: UserStore, _ arrivals: Arrivals, held: Any) throws -> [Duration] {
    for _ in 0..<count {
      try store.write { _ = try $0.rename(user, to: Stamp.now()) }
      try arrivals.wait()
      Thread.sleep(forTimeInterval: pause)
    }
    withExtendedLifetime(held) {}
    return arrivals.take()
  }

  private static func grdb(_ durability: Configuration.Durability) -> Contender {
    Contender(name: "GRDB, ValueObservation on a queue") { folder in
      let path = try Fixture.file(in: folder, users: 1, isLogged: false)
      let grdb = try GRDBStore(path, isFull: durability == .full)
      let arrivals = Arrivals()
      try grdb.observe(CollectionOfOne(1)) { arrivals.hear($0?.name) }
      return .latencies { count in
        for _ in 0..<count {
          try grdb.renameToStamp(1)
          try arrivals.wait()
          Thread.sleep(forTimeInterval: pause)
        }
        return arrivals.take()
      }
    }
  }

  // MARK: Another process

  private static func follower(
    _ durability: Configuration.Durability, _ way: Follow.Way, _ name: String
  ) -> Contender {
    Contender(name: name) { folder in
      let store = try Fixture.store(in: folder, users: 1, durability)
      return .latencies { count in
        let follower = try Follower(way, path: folder + "/users.db")
        for _ in 0..<count {
          try store.write { _ = try $0.rename(user, to: Stamp.now()) }
          // Not in step with a clock that polls.
          Thread.sleep(forTimeInterval: pause * .random(in: 0.75...1.25))
        }
        try store.write { _ = try $0.rename(user, to: Stamp.end) }
        return try follower.ages()
      }
    }
  }
}
