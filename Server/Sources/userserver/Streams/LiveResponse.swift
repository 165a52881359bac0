import Hummingbird

/// The body of a response that goes on: what it sends counts, and it reads and renders only while it has a turn.
///
/// `@unchecked Sendable`: one task uses it.
final class LiveResponse: @unchecked Sendable {
  private let response: ResponseStream
  private let permit: Budget.Permit
  private let turns: Turns
  private var hasTurn = false

  init(_ response: ResponseStream, _ permit: Budget.Permit, _ turns: Turns) {
    (self.response, self.permit, self.turns) = (response, permit, turns)
  }

  /// Calls `body`, which reads and renders, when it is the turn of this response.
  func inTurn<Result>(_ body: () async throws -> Result) async throws -> Result {
    try await takeTurn()
    defer { giveTurnBack() }
    return try await body()
  }

  /// Sends text; waits while the client is slower, without the turn, so that a slow client delays no other.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - isRequired: Whether the text is sent although there is no memory left.
  /// - Throws: `Problem` without memory, and the errors of the connection.
  func write(_ text: String, isRequired: Bool = false) async throws {
    try permit.resize(to: text.utf8.count, isRequired: isRequired)
    let hadTurn = hasTurn
    giveTurnBack()
    try await response.write(text)
    try permit.resize(to: 0)
    if hadTurn { try await takeTurn() }
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
