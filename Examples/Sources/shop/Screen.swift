import Foundation
import GRDB
import UserStore

/// What the screen shows: the customers, from a live list of the store, with their orders, from an observation of GRDB.
@MainActor final class Screen {
  private var customers = UserStore.Rows() { didSet { show() } }
  private var orders: [Order] = [] { didSet { show() } }

  /// Follows both while the task runs.
  func follow(_ store: UserStore, _ database: DatabasePool) async throws {
    let list = try await store.list(UserStore.Query(sortedBy: [.ascending(.name)]))
    list.bindAndFire("screen", on: .latestOnMain, owner: self) { screen, rows in screen.customers = rows }
    let observation = ValueObservation.tracking { db in try Order.fetchAll(db) }
    for try await orders in observation.values(in: database) { self.orders = orders }
  }

  private func show() {
    let lines = customers.map { user in
      let items = orders.filter { $0.customer == user.id.rawValue }.map(\.item)
      return "\((try? user.name) ?? "?"): \(items.isEmpty ? "-" : items.joined(separator: ", "))"
    }
    say("screen: " + lines.joined(separator: "; "))
  }

  /// The lines of the standard input.
  nonisolated static func lines() -> AsyncStream<String> {
    let (lines, continuation) = AsyncStream<String>.makeStream()
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }
    return lines
  }
}

/// Prints a line at once.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
