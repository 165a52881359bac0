import Hummingbird

/// The body of a continuing response: its unsent texts count, and it reads and renders only during a turn.
///
/// `@unchecked Sendable`: one task uses it.
final class LiveResponse: @unchecked Sendable {
  private let response: ResponseStream
  private let permit: Budget.Permit
  private let turns: Turns
  private let subject: String
  private var hasTurn = false
  /// The texts that count and are not yet sent.
  private var texts: [String] = []

  init(_ response: ResponseStream, _ permit: Budget.Permit, _ turns: Turns, of subject: String) {
    (self.response, self.permit, self.turns, self.subject) = (response, permit, turns, subject)
  }

  /// Waits for a turn, calls `body`, which reads and renders, and then sends the texts that `body` has written.
  ///
  /// `body` has then released its data, so that only texts wait for a slow client.
  func inTurn<Value>(_ body: () async throws -> Value) async throws -> Value {
    try await takeTurn()
    let result: Result<Value, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    giveTurnBack()
    try await send()
    return try result.get()
  }

  /// Sends text: at once, or at the end of the turn.
  ///
  /// `isRequired` sends it even if memory is exhausted; otherwise this throws a `Problem`.
  func write(_ text: String, isRequired: Bool = false) async throws {
    try permit.grow(by: text.utf8.count, isRequired: isRequired)
    texts.append(text)
    if !hasTurn { try await send() }
  }

  /// Sends the texts of this turn, and waits for the next turn; for responses whose data counts, such as a list's rows.
  func flush() async throws {
    giveTurnBack()
    try await send()
    try await takeTurn()
  }

  /// Sends the texts; waits without a turn, so that a slow client delays no other.
  private func send() async throws {
    for text in texts { try await response.write(text) }
    texts = []
    try permit.resize(to: 0)
  }

  private func takeTurn() async throws {
    try await turns.take(for: subject)
    hasTurn = true
  }

  private func giveTurnBack() {
    if hasTurn { turns.giveBack(from: subject) }
    hasTurn = false
  }
}
