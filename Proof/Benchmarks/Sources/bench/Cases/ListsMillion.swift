import Foundation
import UserStore

/// Another process follows a million changes with three lists.
enum ListsMillion {
  static func cases(_ effort: Effort) -> [Case] {
    let changes = effort.size(quick: 100_000, full: 1_000_000)
    return [
      Case(
        name: "lists/million",
        operation: "one of \(changes) changes in sets of 10, until another process has followed all, normal",
        operationsPerPass: changes,
        contenders: [
          time("UserStore, nobody follows", changes, nil), time("UserStore, a listener of a name", changes, .peak),
          time("UserStore, a list of \(users), its first 50, a count", changes, .lists),
        ], rounds: 1),
      Case(
        name: "lists/million/memory",
        operation: "largest resident memory of the process that follows \(changes) changes",
        contenders: [
          memory("UserStore, a listener of a name", changes, .peak),
          memory("UserStore, a list of \(users), its first 50, a count", changes, .lists),
        ], rounds: 1),
    ]
  }

  private static let users = 10_000

  private static func time(_ name: String, _ changes: Int, _ way: Follow.Way?) -> Contender {
    Contender(name: name) { folder in .pass { try run(folder, changes, way).time.nanoseconds } }
  }

  private static func memory(_ name: String, _ changes: Int, _ way: Follow.Way) -> Contender {
    Contender(name: name) { folder in .bytes { try Double(run(folder, changes, way).peak) } }
  }

  private static func run(_ folder: String, _ changes: Int, _ way: Follow.Way?) throws -> (time: Duration, peak: Int) {
    let store = try Fixture.store(in: folder, users: users, .normal)
    let follower = try way.map { try Follower($0, path: folder + "/users.db") }
    var peak = 0
    let time = try ContinuousClock().measure {
      for set in 0..<changes / 10 {
        try store.write { users in
          for change in set * 10..<set * 10 + 10 { try write(change, &users) }
        }
      }
      try store.write { try $0.rename(UserStore.User.ID(1), to: Stamp.end) }
      if let follower { peak = try follower.figures().first ?? 0 }
    }
    return (time, peak)
  }

  /// Renames a user, or changes the hair color, so that rows move, leave, and enter.
  private static func write(_ change: Int, _ transaction: inout UserStore.WriteTransaction) throws {
    let user = UserStore.User.ID(RowChange.user(change, of: users))
    switch change / users % 3 {
    case 0: try transaction.rename(user, to: "user \(change &* 104_729 % users) \(change)")
    case 1: try transaction.set(.hairColor, of: user, to: .null)
    default: try transaction.set(.hairColor, of: user, to: .text("#c0c0c0"))
    }
  }
}

extension ListsMillion {
  /// Follows until the name of the first user is `Stamp.end`, and compares the lists with their queries.
  static func follow(_ store: UserStore, ready: () -> Void) throws {
    let whole = try store.list(ListRequest.query)
    var query = ListRequest.query
    query.limit = 50
    let page = try store.list(query)
    let count = try store.liveCount(where: query.where)
    let screens = [ListScreen(whole), ListScreen(page)]
    try follow(untilEndOf: store, ready: ready)
    let expected = try store.read { users in
      (try users.users(matching: ListRequest.query), try users.count(where: query.where))
    }
    if !whole.value.elementsEqual(expected.0) || !page.value.elementsEqual(expected.0.prefix(50)) {
      throw WorkNotDone(description: "a list differs from its query")
    }
    try expect(count.value, expected.1, "users counted")
    withExtendedLifetime(screens) {}
  }

  static func follow(untilEndOf store: UserStore, ready: () -> Void) throws {
    let name = try store.listenable(.name, of: UserStore.User.ID(1))
    let ended = DispatchSemaphore(value: 0)
    name.bind("end") { name in if name == Stamp.end { ended.signal() } }
    ready()
    ended.wait()
  }
}
