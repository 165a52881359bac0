import Hummingbird

/// The body of a response that goes on: what it sends counts, and it reads and renders only while it has a turn.
///
/// `@unchecked Sendable`: one task uses it.
final class LiveResponse: @unchecked Sendable {
  private let response: ResponseStream
  private let permit: Budget.Permit
  private let turns: Turns
  private var hasTurn = false
  /// Texts that count, and are not yet sent.
  private var texts: [String] = []

  init(_ response: ResponseStream, _ permit: Budget.Permit, _ turns: Turns) {
    (self.response, self.permit, self.turns) = (response, permit, turns)
  }

  /// Calls `body`, which reads and renders, when it is the turn of this response; then sends what `body` has written.
  ///
  /// When it is sent, `body` has released what it has read, so that only the texts wait for a slow client.
  func inTurn<Value>(_ body: () async throws -> Value) async throws -> Value {
    try await takeTurn()
    let result: Result<Value, any Error>
    do { result = .success(try await body()) } catch { result = .failure(error) }
    giveTurnBack()
    try await send()
    return try result.get()
  }

  /// Sends text: at once, or in a turn, when the turn ends.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - isRequired: Whether the text is sent although there is no memory left.
  /// - Throws: `Problem` without memory, and the errors of the connection.
  func write(_ text: String, isRequired: Bool = false) async throws {
    try permit.grow(by: text.utf8.count, isRequired: isRequired)
    texts.append(text)
    if !hasTurn { try await send() }
  }

  /// Sends what was written in this turn, and waits for the next turn.
  ///
  /// For responses whose data counts, such as the rows of a list.
  func flush() async throws {
    giveTurnBack()
    try await send()
    try await takeTurn()
  }

  /// Sends the texts; waits while the client is slower, without a turn, so that a slow client delays no other.
  private func send() async throws {
    for text in texts { try await response.write(text) }
    texts = []
    try permit.resize(to: 0)
  }

  private func takeTurn() async throws {
    try await turns.take()
    hasTurn = true
  }

  private func giveTurnBack() {
    if hasTurn { turns.giveBack() }
    hasTurn = false
  }
}
