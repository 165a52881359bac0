/// Counts calls.
///
/// Not atomic, so that it costs next to nothing: whoever calls is on one thread at a time.
final class Tally: @unchecked Sendable {
  private(set) var count = 0

  func add() { count += 1 }

  /// Runs `body`, in which exactly `expected` calls must be made.
  func expect(_ expected: Int, _ body: () throws -> Void) throws {
    let before = count
    try body()
    try bench.expect(count - before, expected, "calls")
  }
}
