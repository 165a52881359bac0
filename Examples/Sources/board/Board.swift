import Foundation
import UserStore
import UserStoreSync
import UserStoreSyncHTTP

extension Attribute where Value == String {
  static var status: Attribute { Attribute("status") }
}

/// Shows who is on duty, on a machine that is not the server's: a live list on a replica, which stays there without the network.
///
///     board https://users.example.com board.db [token]
@main @MainActor final class Board {
  private var people = UserStore.Rows() { didSet { show() } }
  private var connection = "" { didSet { show() } }

  static func main() async {
    let arguments = CommandLine.arguments
    guard arguments.count >= 3 else { return say("usage: board https://users.example.com board.db [token]") }
    do {
      let store = try await UserStore.open(path: arguments[2])
      let server = try SyncServer(arguments[1], token: arguments.count > 3 ? .file(arguments[3]) : nil)
      try await Board().run(store, server)
      await store.close()
    } catch { say("error: \(error)") }
  }

  /// Shows what is in the file at once, and follows the server until the task is canceled.
  private func run(_ store: UserStore, _ server: SyncServer) async throws {
    let onDuty = UserStore.Query(where: .status == "on duty", sortedBy: [.ascending(.name)], showing: [.name])
    let list = try await store.list(onDuty)
    list.bindAndFire("people", on: .latestOnMain, owner: self) { board, rows in board.people = rows }
    let replica = try Replica(of: store, from: server, writes: .none)
    replica.state.bindAndFire("connection", on: .latestOnMain, owner: self) { board, state in
      board.connection = Self.text(state)
    }
    try await replica.run()
  }

  private static func text(_ state: Replica.State) -> String {
    switch state {
    case .copying(let done, let count): "copying \(done) of \(count)"
    case .following(0): "up to date"
    case .following(let behind): "\(behind) revisions behind"
    case .waiting(let reason, _): "offline: \(reason)"
    case .refused(let problem): "stopped: \(problem)"
    }
  }

  private func show() {
    Self.say("on duty: \(people.compactMap { try? $0.name }.joined(separator: ", ")) (\(connection))")
  }

  /// Prints a line at once.
  private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
