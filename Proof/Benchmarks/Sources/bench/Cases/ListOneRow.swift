import CFloor
import Dispatch
import Foundation
import UserStore

/// One row of a sorted list changes, and the list is told.
struct ListOneRow {
  let change: RowChange
  let rows: Int
  let durability: UserStore.Configuration.Durability

  static func cases(_ effort: Effort) -> [Case] {
    [1_000, 100_000].flatMap { rows in
      RowChange.allCases.flatMap { change in
        [UserStore.Configuration.Durability.full, .normal].map {
          ListOneRow(change: change, rows: rows, durability: $0).asCase
        }
      }
    }
  }

  private var isFull: Bool { durability == .full }

  private var asCase: Case {
    let name = isFull ? "full" : "normal"
    return Case(
      name: "lists/one-row/\(rows)/\(change)/\(name)",
      operation: "a write of one row, which \(change.description) in a sorted list of \(rows), \(name)",
      contenders: [
        store("UserStore, no list", isFollowed: false), store("UserStore, list and steps", isFollowed: true),
        grdb("GRDB, no log, no observation", .unobserved),
        grdb("GRDB, ValueObservation, its writer only", .writer()),
        grdb("GRDB, the same with removeDuplicates", .writer(removesDuplicates: true)),
        grdb("GRDB, ValueObservation, until told", .told()),
        grdb("GRDB, until told, with removeDuplicates", .told(removesDuplicates: true)), floor,
      ])
  }

  // MARK: Contenders

  private func store(_ name: String, isFollowed: Bool) -> Contender {
    Contender(name: name) { folder in
      let store = try Fixture.store(in: folder, users: rows, durability)
      let screen = isFollowed ? ListScreen(try store.list(ListRequest.query)) : nil
      return parts(store, finishTurn: { writes in if let screen { try expect(screen.steps, writes, "steps") } })
    }
  }

  private enum Observation {
    case unobserved
    /// The time of the writer, while the observation reads and delivers on other threads.
    case writer(removesDuplicates: Bool = false)
    /// The time until the observation has delivered the rows; the next write starts then.
    case told(removesDuplicates: Bool = false)
  }

  private func grdb(_ name: String, _ observation: Observation) -> Contender {
    Contender(name: name) { [isFull] folder in
      let grdb = try GRDBStore(Fixture.file(in: folder, users: rows, isLogged: false), isFull: isFull)
      let told = DispatchSemaphore(value: 0)
      switch observation {
      case .unobserved: return parts(grdb)
      case .writer(let removesDuplicates):
        try grdb.observeList(removesDuplicates: removesDuplicates) { _ in }
        return parts(grdb, finishTurn: { _ in try grdb.finishReading() })
      case .told(let removesDuplicates):
        try grdb.observeList(removesDuplicates: removesDuplicates) { _ in told.signal() }
        // GRDB delivers the first rows again if it cannot know that nothing has changed meanwhile.
        try grdb.finishReading()
        Thread.sleep(forTimeInterval: 0.2)
        while told.wait(timeout: .now()) == .success {}
        return parts(
          grdb,
          finishWrite: {
            if told.wait(timeout: .now() + 10) == .timedOut { throw WorkNotDone(description: "no rows were delivered") }
          })
      }
    }
  }

  private var floor: Contender {
    Contender(name: "C, no log, runs the statement again") { [isFull] folder in
      let file = try Fixture.file(in: folder, users: rows, isLogged: false)
      let floor = try Floor(file, isFull: isFull, FLOOR_PLAIN)
      return parts(
        floor,
        finishWrite: {
          let found = floor.query(ListRequest.sql)
          if found < rows - 1 { throw WorkNotDone(description: "\(found) rows of \(rows)") }
        })
    }
  }

  /// Returns the writes.
  ///
  /// `finishWrite` belongs to a write, and is timed. `finishTurn` receives the number of writes until now, and ends work on other
  /// threads before another contender's turn.
  private func parts(
    _ writer: some RowWriter, finishWrite: @escaping () throws -> Void = {},
    finishTurn: @escaping (_ writes: Int) throws -> Void = { _ in }
  ) -> Measured {
    var (turn, writes) = (0, 0)
    func reverse() throws {
      try change.reverse(turn, of: rows, writer)
      try finishWrite()
      writes += 1
    }
    return .parts { count in
      var time = Duration.zero
      for _ in 0..<count {
        if change == .enter { try reverse() }
        time += try ContinuousClock().measure {
          try change.write(turn, of: rows, writer)
          try finishWrite()
        }
        writes += 1
        if change == .leave { try reverse() }
        turn += 1
      }
      try finishTurn(writes)
      return time
    }
  }
}
