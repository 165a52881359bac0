import CFloor
import UserStore

/// Writes of one row, and of a hundred rows in one transaction.
struct Write {
  let durability: UserStore.Configuration.Durability
  private static let users = 1_000
  private static let user = UserStore.User.ID(1)

  private var isFull: Bool { durability == .full }
  private var name: String { isFull ? "full" : "normal" }

  static func cases(_ effort: Effort) -> [Case] {
    [UserStore.Configuration.Durability.normal, .full].flatMap { durability in
      let write = Write(durability: durability)
      return [write.bare, write.hundred, write.listeners(elsewhere: true), write.listeners(elsewhere: false)]
    }
  }

  private var bare: Case {
    Case(
      name: "write/\(name)/one-row", operation: "one row changed in its own transaction, \(name)",
      contenders: [
        store("UserStore, logged, one listener", listeners: 1, elsewhere: false),
        store("UserStore, logged, no listener", listeners: 0, elsewhere: false),
        store("UserStore, logged, one listener, not watching", listeners: 1, elsewhere: false, watches: false),
        floor("C, same plan: log, read, signal", FLOOR_SAME_PLAN), floor("C, log", FLOOR_LOG),
        floor("C, no log", FLOOR_PLAIN), grdb("GRDB, no log, no observation", observations: 0, elsewhere: false),
        grdb("GRDB, no log, one observation of that row", observations: 1, elsewhere: false),
      ])
  }

  private var hundred: Case {
    Case(
      name: "write/\(name)/100-rows", operation: "one of 100 rows changed in one transaction, \(name)",
      operationsPerPass: 100,
      contenders: [
        store("UserStore, logged, one listener", rows: 100, listeners: 1, elsewhere: false),
        floor("C, same plan: log, read, signal", rows: 100, FLOOR_SAME_PLAN),
        floor("C, no log", rows: 100, FLOOR_PLAIN),
        grdb("GRDB, no log, no observation", rows: 100, observations: 0, elsewhere: false),
      ])
  }

  private func listeners(elsewhere: Bool) -> Case {
    let place = elsewhere ? "other rows" : "that row"
    let counts = [0, 1, 10, 100, 1_000]
    return Case(
      name: "write/\(name)/listeners-on-\(elsewhere ? "other-rows" : "that-row")",
      operation: "one row changed, with listeners on \(place), \(name)",
      contenders: (counts + [100_000]).map { store("UserStore, \($0)", listeners: $0, elsewhere: elsewhere) }
        + counts.map { grdb("GRDB, \($0) observations", observations: $0, elsewhere: elsewhere) })
  }

  // MARK: Contenders

  private func store(_ name: String, rows: Int64 = 1, listeners: Int, elsewhere: Bool, watches: Bool = true)
    -> Contender
  {
    Contender(name: name) { [self] folder in
      let store = try Fixture.store(in: folder, users: Self.users, durability, watches: watches)
      let tally = Tally()
      for index in 0..<listeners {
        let topic = UserStore.Topic.attribute(.name, of: elsewhere ? UserStore.User.ID(Int64(index + 2)) : Self.user)
        store.listeners.bind(HubDelivery.listenerName(index), to: topic) { _ in tally.add() }
      }
      var names = Names()
      return .passes { count in
        try tally.expect(elsewhere ? 0 : count * listeners) {
          for _ in 0..<count {
            let name = names.next()
            try store.write { users in for id in 1...rows { try users.rename(UserStore.User.ID(id), to: name) } }
          }
        }
      }
    }
  }

  private func grdb(_ name: String, rows: Int64 = 1, observations: Int, elsewhere: Bool) -> Contender {
    Contender(name: name) { [isFull] folder in
      let path = try Fixture.file(in: folder, users: Self.users + 1, isLogged: false)
      let grdb = try GRDBStore(path, isFull: isFull)
      try grdb.observe((0..<observations).map { elsewhere ? Int64($0 + 2) : 1 }) { _ in }
      var names = Names()
      return .passes { count in
        for _ in 0..<count { try grdb.rename(1..<rows + 1, to: names.next()) }
      }
    }
  }

  private func floor(_ name: String, rows: Int64 = 1, _ plan: floor_plan) -> Contender {
    Contender(name: name) { [isFull] folder in
      let path = try Fixture.file(in: folder, users: Self.users, isLogged: plan != FLOOR_PLAIN)
      let floor = try Floor(path, isFull: isFull, plan)
      var names = Names()
      return .passes { count in
        for _ in 0..<count { try floor.rename(1..<rows + 1, to: names.next()) }
      }
    }
  }
}
