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
///
/// A line of the standard input changes the status of a user, such as `7 at home`, whether there is a network or not. What the server
/// refuses is shown, and taken back.
@main @MainActor final class Board {
  private var people = UserStore.Rows() { didSet { show() } }
  private var connection = "" { didSet { show() } }
  private var pending = 0 { didSet { show() } }

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
    let replica = try Replica(of: store, from: server, writes: .queued)
    replica.state.bindAndFire("connection", on: .latestOnMain, owner: self) { board, state in
      board.connection = Self.text(state)
    }
    replica.pending.bindAndFire("pending", on: .latestOnMain, owner: self) { board, count in board.pending = count }
    let tasks = [
      Task { for await line in Self.lines { await Self.change(line, in: store) } },
      Task { for try await refusal in replica.refusals { try await Self.show(refusal) } },
    ]
    defer { for task in tasks { task.cancel() } }
    try await replica.run()
  }

  /// The lines of the standard input; a thread waits for them.
  private static var lines: AsyncStream<String> {
    AsyncStream { continuation in
      Thread.detachNewThread {
        while let line = readLine() { continuation.yield(line) }
        continuation.finish()
      }
    }
  }

  /// Sets the status of a user: `7 at home`.
  private static func change(_ line: String, in store: UserStore) async {
    let words = line.split(separator: " ", maxSplits: 1)
    guard words.count == 2, let id = Int64(words[0]) else { return say("write an id and a status: 7 at home") }
    do { try await store.write { try $0.set(.status, of: UserStore.User.ID(id), to: String(words[1])) } } catch {
      say("error: \(error)")
    }
  }

  /// Shows a refusal once.
  private static func show(_ refusal: Replica.Refusal) async throws {
    let users = Set(refusal.changes.map(\.user.description)).sorted().joined(separator: ", ")
    say("refused (\(refusal.reason.rawValue)): the change of user \(users)")
    try await refusal.acknowledge()
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
    let names = people.compactMap { try? $0.name }.joined(separator: ", ")
    Self.say("on duty: \(names) (\(connection)\(pending > 0 ? "; \(pending) to send" : ""))")
  }

  /// Prints a line at once.
  private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
