import Foundation
import GRDB
import UserStore
import UserStoreGRDB

/// Typed operations in GRDB's transactions, and own tables with keys on users.
struct OwnTables {
  let durability: UserStore.Configuration.Durability
  private static let users = 1_000
  private static let user = UserStore.User.ID(1)

  private var isFull: Bool { durability == .full }
  private var name: String { isFull ? "full" : "normal" }

  static func cases(_ effort: Effort) -> [Case] {
    [UserStore.Configuration.Durability.normal, .full].flatMap { durability in
      let own = OwnTables(durability: durability)
      return [own.transaction, own.latency, own.removal]
    }
  }

  // MARK: Transactions

  /// The listener is the same, and the set has been committed when GRDB's `write` returns.
  private var transaction: Case {
    Case(
      name: "own/\(name)/transaction",
      operation: "one user changed in a transaction of GRDB, with a listener of the store, \(name)",
      contenders: [
        writing("GRDB, the same update in SQL") { user, name, database, _ in
          try GRDBStore.rename(user, to: name, database)
        },
        writing("UserStoreGRDB, one typed set") { user, name, database, store in
          try database.users(of: store) { try $0.rename(UserStore.User.ID(user), to: name) }
        },
      ])
  }

  private typealias Change = @Sendable (Int64, String, Database, UserStore) throws -> Void

  private func writing(_ name: String, _ change: @escaping Change) -> Contender {
    Contender(name: name) { [self] folder in
      let (store, grdb, tally) = (
        try Fixture.store(in: folder, users: Self.users, durability), try grdb(folder), Tally()
      )
      store.listeners.bind("screen", to: .attribute(.name, of: Self.user)) { _ in tally.add() }
      var names = Names()
      return .passes { count in
        for _ in 0..<count { try grdb.pool.write { try change(1, names.next(), $0, store) } }
        withExtendedLifetime(tally) {}
      }
    }
  }

  // MARK: Latency

  private var latency: Case {
    Case(
      name: "own/\(name)/latency",
      operation: "from the end of the closure to the listener, COMMIT included, \(name)",
      contenders: [
        Contender(name: "UserStore, its own write") { [durability] folder in
          let store = try Fixture.store(in: folder, users: 1, durability)
          return Self.latencies(store) { try store.write { _ = try $0.rename(Self.user, to: Stamp.now()) } }
        },
        Contender(name: "UserStoreGRDB, a transaction of GRDB") { [self] folder in
          let (store, grdb) = (try Fixture.store(in: folder, users: 1, durability), try grdb(folder))
          return Self.latencies(store) {
            try grdb.pool.write { database in
              try database.users(of: store) { _ = try $0.rename(Self.user, to: Stamp.now()) }
            }
          }
        },
      ])
  }

  private static func latencies(_ store: UserStore, _ write: @escaping () throws -> Void) -> Measured {
    let arrivals = Arrivals()
    store.listeners.bind("screen", to: .attribute(.name, of: user)) { set in
      if case .text(let stamp)? = try set.changes.last?.new { arrivals.add(stamp) }
    }
    return .latencies { count in
      for _ in 0..<count {
        try write()
        try arrivals.wait()
        Thread.sleep(forTimeInterval: Latency.pause)
      }
      return arrivals.take()
    }
  }

  // MARK: Removal

  private var removal: Case {
    Case(
      name: "own/\(name)/removal", operation: "a user removed that 3 own tables refer to by indexed keys, \(name)",
      contenders: [
        removing("GRDB, the same in SQL") { id, _, grdb in
          try grdb.pool.write { database in
            try database.cachedStatement(sql: "DELETE FROM users WHERE id = ?").execute(arguments: [id])
          }
        },
        removing("UserStore") { id, store, _ in try store.write { try $0.remove(UserStore.User.ID(id)) } },
      ])
  }

  private typealias Removal = @Sendable (Int64, UserStore, GRDBStore) throws -> Void

  private func removing(_ name: String, _ remove: @escaping Removal) -> Contender {
    Contender(name: name) { [self] folder in
      let tables = (1...3).map { number in
        """
        CREATE TABLE own\(number) (id INTEGER PRIMARY KEY, user INTEGER REFERENCES users (id) ON DELETE CASCADE, text);
        CREATE INDEX own\(number)_user ON own\(number) (user);
        """
      }
      let store = try Fixture.store(in: folder, users: 1, durability, adding: tables.joined())
      let grdb = try grdb(folder)
      return .parts { count in
        let ids = try grdb.pool.write { database in
          try (0..<count).map { _ in
            try database.cachedStatement(sql: "INSERT INTO users (name) VALUES ('x')").execute()
            let id = database.lastInsertedRowID
            for number in 1...3 {
              try database.cachedStatement(sql: "INSERT INTO own\(number) (user, text) VALUES (?, 'x')")
                .execute(arguments: [id])
            }
            return id
          }
        }
        let start = ContinuousClock.now
        for id in ids { try remove(id, store, grdb) }
        return ContinuousClock.now - start
      }
    }
  }

  private func grdb(_ folder: String) throws -> GRDBStore { try GRDBStore(folder + "/users.db", isFull: isFull) }
}
