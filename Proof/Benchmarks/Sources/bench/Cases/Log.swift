import CFloor
import Dispatch
import Foundation
import UserStore

/// Reading the log: a replay, and catching up.
enum Log {
  static func cases(_ effort: Effort) -> [Case] {
    let rows = effort.size(quick: 100_000, full: 1_000_000)
    return [
      Case(
        name: "log/replay", operation: "one of \(rows) rows of the log, in sets of 500", operationsPerPass: rows,
        contenders: [replay(rows, perSet: 499), floor(rows, perSet: 499)]),
      Case(
        name: "log/catch-up",
        operation: "one of \(rows) rows to catch up with, in sets of one change: open, then the feed",
        operationsPerPass: rows, contenders: [catchUp(rows), floor(rows, perSet: 1)]),
    ]
  }

  /// Creates a file whose log has `rows` rows after a cursor, which is returned too.
  static func file(_ folder: String, rows: Int, perSet: Int) throws -> (path: String, start: UserStore.Cursor) {
    let path = try Fixture.file(in: folder, users: perSet, isLogged: true)
    let store = try Fixture.open(path, .normal, watches: false)
    let start = try store.read { try $0.cursor }
    var names = Names()
    for _ in 0..<rows / (perSet + 1) {
      let name = names.next()
      try store.write { users in for id in 1...perSet { try users.rename(UserStore.User.ID(Int64(id)), to: name) } }
    }
    store.close()
    return (path, start)
  }

  /// The number of changes in some rows, because each set also has a row that ends it.
  private static func changes(in rows: Int, perSet: Int) -> Int { rows / (perSet + 1) * perSet }

  private static func replay(_ rows: Int, perSet: Int) -> Contender {
    Contender(name: "UserStore, page(after:)") { folder in
      let (path, start) = try file(folder, rows: rows, perSet: perSet)
      let store = try Fixture.open(path, .normal)
      return .passes { count in
        for _ in 0..<count {
          var (cursor, seen) = (start, 0)
          while let sets = try? store.page(after: cursor), let last = sets.last {
            for set in sets { try set.forEach { _ in seen += 1 } }
            cursor = last.cursor
          }
          try expect(seen, changes(in: rows, perSet: perSet), "changes")
        }
      }
    }
  }

  private static func catchUp(_ rows: Int) -> Contender {
    Contender(name: "UserStore, feed") { folder in
      let (path, start) = try file(folder, rows: rows, perSet: 1)
      return .passes { count in
        for _ in 0..<count {
          let expected = changes(in: rows, perSet: 1)
          try Waiting.run {
            let store = try Fixture.open(path, .normal)
            var seen = 0
            for try await set in store.changeSets(after: start) {
              try await set.forEach { _ in seen += 1 }
              if seen == expected { break }
            }
          }
        }
      }
    }
  }

  private static func floor(_ rows: Int, perSet: Int) -> Contender {
    Contender(name: "C, one statement") { folder in
      let (path, start) = try file(folder, rows: rows, perSet: perSet)
      let floor = try Floor(path, isFull: false, FLOOR_PLAIN)
      return .passes { count in
        for _ in 0..<count {
          try expect(
            Int(floor_replay(floor.handle, start.revision.rawValue)), rows / (perSet + 1) * (perSet + 1), "rows")
        }
      }
    }
  }
}
