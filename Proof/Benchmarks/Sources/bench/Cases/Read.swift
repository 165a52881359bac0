import CFloor
import UserStore

/// Reading records.
enum Read {
  private static let users = 1_000

  static func cases(_ effort: Effort) -> [Case] {
    [
      Case(
        name: "read/by-id", operation: "one user read in its own transaction",
        contenders: [
          store { store, id in try expect(store.read { try $0.user(UserStore.User.ID(id)) } == nil ? 0 : 1, 1, "users")
          },
          floor { floor, id in try expect(Int(floor_read_user(floor.handle, id)), 1, "users") },
          grdb { grdb, id in try expect(grdb.row(id) == nil ? 0 : 1, 1, "users") },
        ]),
      Case(
        name: "read/list", operation: "one user of a list of all \(users)", operationsPerPass: users,
        contenders: [
          store { store, _ in try expect(store.read { try $0.users() }.count, users, "users") },
          floor { floor, _ in try expect(Int(floor_list(floor.handle)), users, "users") },
          grdb { grdb, _ in try expect(grdb.rows().count, users, "users") },
        ]),
    ]
  }

  private typealias Reading<Peer> = @Sendable (Peer, _ id: Int64) throws -> Void

  private static func store(_ read: @escaping Reading<UserStore>) -> Contender {
    Contender(name: "UserStore") { folder in
      let store = try Fixture.store(in: folder, users: users, .normal)
      return passes { try read(store, $0) }
    }
  }

  private static func floor(_ read: @escaping Reading<Floor>) -> Contender {
    Contender(name: "C, same statement, without a transaction") { folder in
      let floor = try Floor(Fixture.file(in: folder, users: users, isLogged: true), isFull: false, FLOOR_PLAIN)
      return passes { try read(floor, $0) }
    }
  }

  private static func grdb(_ read: @escaping Reading<GRDBStore>) -> Contender {
    Contender(name: "GRDB, Codable records of one table") { folder in
      let grdb = try GRDBStore(Fixture.file(in: folder, users: users, isLogged: false), isFull: false)
      return passes { try read(grdb, $0) }
    }
  }

  /// Each pass takes the next id.
  private static func passes(_ read: @escaping (Int64) throws -> Void) -> Measured {
    .passes { count in for pass in 0..<count { try read(Int64(pass % users + 1)) } }
  }
}
