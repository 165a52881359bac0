import HTTPTypes
import NIOCore

/// Lets each person read one answer at a time, for a limited time: the store can do only a few long queries at once.
struct Queries: Sendable {
  let limit: Duration
  private let turns = Turns(.max, share: 1)
  /// How many requests of a person can wait: each has a connection, which others need.
  private static let waitingLimit = 32

  init(limit: Duration) { self.limit = limit }

  /// Does `body`, which reads, when the person's requests before have read, and cancels it at the limit, or when the client has gone.
  ///
  /// - Parameters:
  ///   - subject: The person; the holder of the server's own token, whose subject is empty, has no limits.
  ///   - channel: The client's connection.
  ///   - body: Reads; cancellation interrupts it (`UserStore.read`).
  /// - Returns: The result of `body`.
  /// - Throws: `tooManyQueries`, `tooSlow`, `CancellationError`, and the errors of `body`.
  func run<Result: Sendable>(
    of subject: String, for channel: (any Channel)?, _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    if subject.isEmpty { return try await body() }
    let result = try await until({ try await Self.end(of: channel) }) {
      try await turns.take(for: subject, waiting: Self.waitingLimit)
      defer { turns.giveBack(from: subject) }
      return try await limited(body)
    }
    guard let result else { throw CancellationError() }
    return result
  }

  /// Does `body`, which reads in short steps, in the person's turn.
  func inTurn<Result>(of subject: String, _ body: () async throws -> Result) async throws -> Result {
    if subject.isEmpty { return try await body() }
    try await turns.take(for: subject)
    defer { turns.giveBack(from: subject) }
    return try await body()
  }

  private func limited<Result: Sendable>(
    _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    let result = try await until({ [limit] in try await Task.sleep(for: limit) }, body)
    if let result { return result }
    throw Problem(
      .serviceUnavailable, "tooSlow", "the answer takes more than \(limit.seconds) s",
      hint: "ask for less at once, or with fewer conditions")
  }

  /// Returns when a client has gone.
  ///
  /// Polled: a callback for each request would stay with the connection until its end.
  ///
  /// - Throws: `CancellationError`.
  private static func end(of channel: (any Channel)?) async throws {
    repeat { try await Task.sleep(for: .milliseconds(250)) } while try await isOpen(channel)
  }

  private static func isOpen(_ channel: (any Channel)?) async throws -> Bool {
    guard let channel else { return true }
    if !channel.isActive { return false }
    return try await channel.pipeline.handler(type: ConnectionDeadlines.self).map { !$0.isInputClosed }.get()
  }
}

/// Does `body`, and cancels it when `end` returns first; then the result is nil.
///
/// - Throws: The errors of both.
func until<Result: Sendable>(
  _ end: @escaping @Sendable () async throws -> Void, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result? {
  try await withThrowingTaskGroup(of: Result?.self) { group in
    group.addTask { try await body() }
    group.addTask {
      try await end()
      return nil
    }
    defer { group.cancelAll() }
    return try await group.next() ?? nil
  }
}
