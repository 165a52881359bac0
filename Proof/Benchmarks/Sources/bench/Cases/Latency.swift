import CFloor
import Foundation
import UserStore

/// The latency from a write to a listener.
///
/// The time is taken at the end of the write's closure, so that everything that follows, including COMMIT, counts. There is a
/// pause between events, so that threads sleep as they would in an application.
enum Latency {
  static let pause: TimeInterval = 0.002
  private static let user = UserStore.User.ID(1)

  static func cases(_ effort: Effort) -> [Case] {
    [UserStore.Configuration.Durability.normal, .full].flatMap { durability in
      let name = durability == .full ? "full" : "normal"
      return [
        Case(
          name: "latency/\(name)/same-process",
          operation: "from the end of the write's closure to the listener, COMMIT included, \(name)",
          contenders: [inline(durability), actor(durability), grdb(durability), noListener(durability)]),
        Case(
          name: "latency/\(name)/other-process",
          operation: "from the end of the write's closure to a listener in another process, \(name)",
          contenders: [
            follower(durability, .userstore, "UserStore, listener"),
            follower(durability, .samePlan, "C, same plan: event, log"),
            follower(durability, .polling, "C, data_version every 1 ms"),
          ]),
      ]
    }
  }

  // MARK: The same process

  private static func inline(_ durability: UserStore.Configuration.Durability) -> Contender {
    Contender(name: "UserStore, inline listener") { folder in
      let store = try Fixture.store(in: folder, users: 1, durability)
      let arrivals = Arrivals()
      let name = try store.listenable(.name, of: user)
      name.bind("screen") { arrivals.add($0) }
      return .latencies { count in try write(count, store, arrivals, held: name) }
    }
  }

  private static func actor(_ durability: UserStore.Configuration.Durability) -> Contender {
    actor Screen {}
    return Contender(name: "UserStore, listener on an actor") { folder in
      let store = try Fixture.store(in: folder, users: 1, durability)
      let arrivals = Arrivals()
      let screen = Screen()
      let name = try store.listenable(.name, of: user)
      name.bind("screen", on: .actor(screen)) { arrivals.add($0) }
      return .latencies { count in try write(count, store, arrivals, held: (name, screen)) }
    }
  }

  /// The part of the latency that is COMMIT and the return to the writer.
  private static func noListener(_ durability: UserStore.Configuration.Durability) -> Contender {
    Contender(name: "UserStore, no listener, until write returns") { folder in
      let store = try Fixture.store(in: folder, users: 1, durability)
      let arrivals = Arrivals()
      return .latencies { count in
        for _ in 0..<count {
          let stamp = try store.write { users in
            let stamp = Stamp.now()
            _ = try users.rename(user, to: stamp)
            return stamp
          }
          arrivals.add(stamp)
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

  private static func grdb(_ durability: UserStore.Configuration.Durability) -> Contender {
    Contender(name: "GRDB, ValueObservation on a queue") { folder in
      let path = try Fixture.file(in: folder, users: 1, isLogged: false)
      let grdb = try GRDBStore(path, isFull: durability == .full)
      let arrivals = Arrivals()
      try grdb.observe(CollectionOfOne(1)) { arrivals.add($0?.name) }
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
    _ durability: UserStore.Configuration.Durability, _ way: Follow.Way, _ name: String
  ) -> Contender {
    Contender(name: name) { folder in
      let store = try Fixture.store(in: folder, users: 1, durability)
      return .latencies { count in
        let follower = try Follower(way, path: folder + "/users.db")
        for _ in 0..<count {
          try store.write { _ = try $0.rename(user, to: Stamp.now()) }
          // Varies, so that it is not in step with a poller.
          Thread.sleep(forTimeInterval: pause * .random(in: 0.75...1.25))
        }
        try store.write { _ = try $0.rename(user, to: Stamp.end) }
        return try follower.ages()
      }
    }
  }
}
