import Hummingbird
import Synchronization

/// Lets each person read one answer at a time, for a limited time: the store can do only a few long queries at once.
final class Queries: Sendable {
  private struct Person {
    let turns = Turns(1)
    /// How many requests read, or wait for their turn.
    var count = 0
  }

  let limit: Duration
  private let people = Mutex<[String: Person]>([:])
  /// How many requests of a person can wait: each has a connection, which others need.
  private static let waitingLimit = 32

  init(limit: Duration) { self.limit = limit }

  /// Does `body`, which reads, when the person's requests before have read, and cancels it at the limit.
  ///
  /// - Parameters:
  ///   - subject: The person; the holder of the server's own token, whose subject is empty, has no limits.
  ///   - isLimited: Whether the limits hold; otherwise only the turn.
  ///   - body: Reads; cancellation interrupts it (`UserStore.read`).
  /// - Returns: The result of `body`.
  /// - Throws: `tooManyQueries`, `tooSlow`, `CancellationError`, and the errors of `body`.
  func run<Result: Sendable>(
    of subject: String, isLimited: Bool = true, _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    if subject.isEmpty { return try await body() }
    let turns = try enter(subject, isLimited)
    defer { leave(subject) }
    try await turns.take()
    defer { turns.giveBack() }
    guard isLimited else { return try await body() }
    let result = try await until({ [limit] in try await Task.sleep(for: limit) }, body)
    if let result { return result }
    throw Problem(
      .serviceUnavailable, "tooSlow", "the answer takes more than \(limit.seconds) s",
      hint: "ask for less at once, or with fewer conditions")
  }

  private func enter(_ subject: String, _ isLimited: Bool) throws(Problem) -> Turns {
    let turns: Turns? = people.withLock { people in
      if isLimited, people[subject, default: Person()].count > Self.waitingLimit { return nil }
      people[subject, default: Person()].count += 1
      return people[subject]?.turns
    }
    if let turns { return turns }
    throw Problem(
      .tooManyRequests, "tooManyQueries", "\(Self.waitingLimit) of your requests wait for their answers", retryAfter: 1)
  }

  private func leave(_ subject: String) {
    people.withLock { people in
      people[subject]?.count -= 1
      if people[subject]?.count == 0 { people[subject] = nil }
    }
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
