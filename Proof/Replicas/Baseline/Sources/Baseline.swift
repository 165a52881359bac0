import Foundation
import GRDB

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

// What one writes in a day instead of a replica: a copy of the server's users in a file, an outbox that triggers fill, a loop that sends
// its rows one by one, and a loop that applies the server's changes, but none of a value that is still to be sent.
//
// Usage: baseline URL FILE TOKENFILE

@main
enum Baseline {
  static func main() async throws {
    let arguments = CommandLine.arguments
    let token = try String(contentsOfFile: arguments[3], encoding: .utf8).trimmingCharacters(
      in: .whitespacesAndNewlines)
    let server = API(address: arguments[1], token: token)
    let copy = try Copy(path: arguments[2])
    async let sending: Void = forever { try await send(copy, to: server) }
    async let following: Void = forever { try await follow(server, copy) }
    _ = await (sending, following)
  }

  /// Repeats it, after a growing pause if it has failed.
  static func forever(_ step: () async throws -> Void) async {
    var failures = 0
    while true {
      do {
        try await step()
        failures = 0
      } catch {
        failures += 1
        print("waiting: \(error)")
        try? await Task.sleep(for: .milliseconds(min(4_000, 250 << min(failures, 4))))
      }
    }
  }

  /// Sends the oldest row of the outbox, and removes it when the server has taken it.
  static func send(_ copy: Copy, to server: API) async throws {
    guard let row = try await copy.oldest() else {
      // Other processes write too.
      try await Task.sleep(for: .milliseconds(50))
      return
    }
    let status = try await server.set(row.attribute, of: row.user, to: row.value)
    // Nobody can send it with success later.
    if status >= 400 { print("refused with \(status): \(row)") }
    try await copy.remove(row)
  }

  static func follow(_ server: API, _ copy: Copy) async throws {
    guard let cursor = try await copy.cursor() else { return try await copy.install(try await server.users()) }
    guard let page = try await server.changes(after: cursor) else {
      return try await copy.install(try await server.users())
    }
    try await copy.apply(page)
  }
}
