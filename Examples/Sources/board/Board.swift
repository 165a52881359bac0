import Foundation
import UserStore
import UserStoreSync
import UserStoreSyncHTTP

extension Attribute where Value == String {
  static var status: Attribute { Attribute("status") }
}

/// Shows who is on duty, on a machine that is not the server's, and that several people use: a live list on a replica, which stays there
/// without the network.
///
///     board https://users.example.com FOLDER [PERSON]
///
/// Each person has a replica in the folder, `ann.db`, of what the server lets them see; the token is in `ann.token`, if the server wants
/// one. A line of the standard input is `sign in ann`, `sign out`, or a new status of a user, such as `7 at home`, whether there is a
/// network or not. What the server refuses is shown, and taken back. What a person has not yet sent waits until they sign in again.
@main @MainActor final class Board {
  private var people = UserStore.Rows() { didSet { show() } }
  private var connection = "" { didSet { show() } }
  private var pending = 0 { didSet { show() } }
  private var session: Session?
  private let address: String
  private let folder: String

  /// What there is while somebody is signed in.
  private struct Session {
    let person: String
    let store: UserStore
    let list: Listenable<UserStore.Rows>
    let replica: Replica
    let tasks: [Task<Void, Never>]
  }

  private init(_ address: String, _ folder: String) { (self.address, self.folder) = (address, folder) }

  static func main() async {
    let arguments = CommandLine.arguments
    guard arguments.count >= 3 else { return say("usage: board https://users.example.com FOLDER [PERSON]") }
    let board = Board(arguments[1], arguments[2])
    if arguments.count > 3 { await board.attempt { try await board.signIn(arguments[3]) } }
    for await line in lines { await board.attempt { try await board.perform(line) } }
    // Without an input, it shows the list until it is killed.
    for task in board.session?.tasks ?? [] { await task.value }
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

  private func perform(_ line: String) async throws {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    switch (words.first, words.last) {
    case ("sign", "out"): try await signOut()
    case ("sign", let rest?) where rest.hasPrefix("in "): try await signIn(String(rest.dropFirst(3)))
    case (let id?, let status?) where words.count == 2 && Int64(id) != nil:
      guard let session else { return Self.say("sign in first: sign in ann") }
      guard let user = Int64(id).map({ UserStore.User.ID($0) }) else { return }
      try await session.store.write { try $0.set(.status, of: user, to: status) }
    default: Self.say("write an id and a status: 7 at home")
    }
  }

  // MARK: Signing in and out

  /// Shows what is in the person's file at once, and follows the server.
  private func signIn(_ person: String) async throws {
    // It becomes the name of a file.
    guard !person.isEmpty, person.allSatisfy({ $0.isLetter || $0.isNumber }) else {
      return Self.say("who is “\(person)”?")
    }
    try await signOut()
    let store = try await UserStore.open(path: "\(folder)/\(person).db")
    let token = "\(folder)/\(person).token"
    let server = try SyncServer(address, token: FileManager.default.fileExists(atPath: token) ? .file(token) : nil)
    let onDuty = UserStore.Query(where: .status == "on duty", sortedBy: [.ascending(.name)], showing: [.name])
    let list = try await store.list(onDuty)
    list.bindAndFire("people", on: .latestOnMain, owner: self) { board, rows in board.people = rows }
    let replica = try Replica(of: store, from: server, writes: .queued)
    replica.state.bindAndFire("connection", on: .latestOnMain, owner: self) { board, state in
      board.connection = Self.text(state)
    }
    replica.pending.bindAndFire("pending", on: .latestOnMain, owner: self) { board, count in board.pending = count }
    let tasks = [
      Task { await attempt { try await replica.run() } },
      Task { await attempt { for try await refusal in replica.refusals { try await Self.show(refusal) } } },
    ]
    session = Session(person: person, store: store, list: list, replica: replica, tasks: tasks)
  }

  /// Stops following; what was not sent stays in the file, for the same person only.
  private func signOut() async throws {
    guard let session else { return }
    for task in session.tasks { task.cancel() }
    for task in session.tasks { await task.value }
    try await session.replica.signOut(pending: .keep)
    await session.store.close()
    self.session = nil
    Self.say("\(session.person) has signed out\(pending > 0 ? "; \(pending) to send at the next time" : "")")
  }

  private func attempt(_ body: () async throws -> Void) async {
    do { try await body() } catch is CancellationError {} catch { Self.say("error: \(error)") }
  }

  // MARK: Showing

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
