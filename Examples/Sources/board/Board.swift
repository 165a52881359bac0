import Foundation
import UserStore
import UserStoreSync
import UserStoreSyncHTTP

/// Shows who is on duty, on a machine that is not the server's, and that several people use: a live list on a replica, which stays there
/// without the network.
///
///     board https://users.example.com FOLDER [PERSON]
///
/// Each person has a replica in the folder, `ann.db`, of what the server lets them see; the token is in `ann.token`, if the server wants
/// one. A line of the standard input is `sign in ann`, `sign out`, or a new status of a user, such as `7 at home`, whether there is a
/// network or not. What the server refuses is shown, and taken back. What a person has not yet sent waits until they sign in again.
@main @MainActor struct Board {
  private let address: String
  private let folder: String
  private var visit: Visit?

  static func main() async {
    let arguments = CommandLine.arguments
    guard arguments.count >= 3 else { return say("usage: board https://users.example.com FOLDER [PERSON]") }
    var board = Board(address: arguments[1], folder: arguments[2])
    if arguments.count > 3 { await board.perform("sign in \(arguments[3])") }
    for await line in lines { await board.perform(line) }
    // Without an input, it shows the list until it is killed.
    await board.visit?.wait()
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

  private mutating func perform(_ line: String) async {
    do {
      let words = line.split(separator: " ", maxSplits: 1)
      if line == "sign out" {
        try await signOut()
      } else if line.hasPrefix("sign in ") {
        try await signIn(String(line.dropFirst("sign in ".count)))
      } else if words.count == 2, let id = Int64(words[0]) {
        guard let visit else { return Self.say("sign in first: sign in ann") }
        try await visit.set(String(words[1]), of: UserStore.User.ID(id))
      } else {
        Self.say("write an id and a status, or sign in: 7 at home, sign in ann, sign out")
      }
    } catch { Self.say("error: \(error)") }
  }

  private mutating func signIn(_ person: String) async throws {
    // It becomes the name of a file.
    guard !person.isEmpty, person.allSatisfy({ $0.isLetter || $0.isNumber }) else {
      return Self.say("who is “\(person)”?")
    }
    try await signOut()
    let token = "\(folder)/\(person).token"
    let server = try SyncServer(address, token: FileManager.default.fileExists(atPath: token) ? .file(token) : nil)
    let store = try await UserStore.open(path: "\(folder)/\(person).db")
    do { visit = try await Visit(store, server) } catch {
      await store.close()
      throw error
    }
  }

  private mutating func signOut() async throws {
    guard let visit else { return }
    let pending = try await visit.end()
    self.visit = nil
    Self.say("signed out\(pending > 0 ? "; \(pending) to send at the next time" : "")")
  }

  /// Prints a line at once.
  static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
