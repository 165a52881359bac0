import CFloor
import Foundation
import UserStore

/// How the costs of a write and of opening, and the size of the file, depend on the amount of data.
enum Scale {
  static func cases(_ effort: Effort) -> [Case] {
    let sizes = effort.size(quick: [1_000, 100_000], full: [1_000, 100_000, 10_000_000])
    let lengths = effort.size(quick: [1_000, 100_000], full: [1_000, 10_000, 100_000, 1_000_000])
    return [
      Case(
        name: "scale/users", operation: "a random user renamed, by number of users, normal",
        contenders: sizes.map(store) + sizes.map(floor)),
      Case(
        name: "scale/latency", operation: "the same write, measured one by one, normal", contenders: sizes.map(oneByOne)
      ),
      Case(
        name: "scale/log", operation: "one row changed, by number of rows in the log, normal",
        contenders: lengths.map(behindLog) + lengths.map(floorBehindLog)),
      Case(
        name: "scale/open", operation: "a store of 100,000 users opened, one user read, closed",
        contenders: [openStore, openFloor, openGRDB]),
      Case(
        name: "scale/size", operation: "growth of the file by one of 10,000 changes of one row each",
        operationsPerPass: growthCount, contenders: [growth]),
    ]
  }

  private static func random(_ users: Int) -> Int64 { .random(in: 1...Int64(users)) }

  private static func store(_ users: Int) -> Contender {
    Contender(name: "UserStore, \(users) users") { folder in
      let store = try Fixture.store(in: folder, users: users, .normal)
      var names = Names()
      return .passes { count in
        for _ in 0..<count { try store.write { _ = try $0.rename(UserStore.User.ID(random(users)), to: names.next()) } }
      }
    }
  }

  private static func floor(_ users: Int) -> Contender {
    Contender(name: "C, same plan, \(users) users") { folder in
      let path = try Fixture.file(in: folder, users: users, isLogged: true)
      let floor = try Floor(path, isFull: false, FLOOR_SAME_PLAN)
      var names = Names()
      return .passes { count in
        for _ in 0..<count {
          let user = random(users)
          try floor.rename(user..<user + 1, to: names.next())
        }
      }
    }
  }

  /// The median leaves out the checkpoints of random pages, which are part of the mean above.
  private static func oneByOne(_ users: Int) -> Contender {
    Contender(name: "UserStore, \(users) users") { folder in
      let store = try Fixture.store(in: folder, users: users, .normal)
      var names = Names()
      return .latencies { count in
        try (0..<count * 10).map { _ in
          let (user, name) = (UserStore.User.ID(random(users)), names.next())
          return try ContinuousClock().measure { try store.write { _ = try $0.rename(user, to: name) } }
        }
      }
    }
  }

  // MARK: Log

  /// With the default retention: from a million rows on, each write also deletes old rows.
  private static func behindLog(_ rows: Int) -> Contender {
    Contender(name: "UserStore, \(rows) rows") { folder in
      let path = try Log.file(folder, rows: rows, perSet: 499).path
      let store = try Fixture.open(path, .normal)
      var names = Names()
      return .passes { count in
        for _ in 0..<count { try store.write { _ = try $0.rename(UserStore.User.ID(1), to: names.next()) } }
      }
    }
  }

  private static func floorBehindLog(_ rows: Int) -> Contender {
    Contender(name: "C, same plan, \(rows) rows") { folder in
      let path = try Log.file(folder, rows: rows, perSet: 499).path
      let floor = try Floor(path, isFull: false, FLOOR_SAME_PLAN)
      var names = Names()
      return .passes { count in
        for _ in 0..<count { try floor.rename(1..<2, to: names.next()) }
      }
    }
  }

  // MARK: Opening

  private static let openStore = Contender(name: "UserStore") { folder in
    let path = try Fixture.file(in: folder, users: 100_000, isLogged: true)
    return .passes { count in
      for _ in 0..<count {
        let store = try Fixture.open(path, .full)
        _ = try store.read { try $0.user(UserStore.User.ID(1)) }
        store.close()
      }
    }
  }

  private static let openFloor = Contender(name: "C, two connections") { folder in
    let path = try Fixture.file(in: folder, users: 100_000, isLogged: true)
    return .passes { count in
      for _ in 0..<count {
        let floor = try Floor(path, isFull: true, FLOOR_PLAIN)
        // Without this, `floor` could be released, and the handle closed, before the call ends.
        withExtendedLifetime(floor) { _ = floor_read_user(floor.handle, 1) }
      }
    }
  }

  private static let openGRDB = Contender(name: "GRDB pool") { folder in
    let path = try Fixture.file(in: folder, users: 100_000, isLogged: false)
    return .passes { count in
      for _ in 0..<count {
        let grdb = try GRDBStore(path, isFull: true)
        _ = try grdb.row(1)
        try grdb.close()
      }
    }
  }

  // MARK: Size

  private static let growthCount = 10_000

  private static let growth = Contender(name: "UserStore, log") { folder in
    let path = try Fixture.file(in: folder, users: 1_000, isLogged: true)
    return .bytes {
      let before = try size(path)
      let store = try Fixture.open(path, .normal)
      var names = Names()
      for _ in 0..<growthCount {
        try store.write { _ = try $0.rename(UserStore.User.ID(random(1_000)), to: names.next()) }
      }
      store.close()
      return try size(path) - before
    }
  }

  /// The size of a file that is not open, and so has no -wal file.
  private static func size(_ path: String) throws -> Double {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return Double(attributes[.size] as? Int ?? 0)
  }
}
