/// Counts calls.
///
/// It is not atomic, so that it costs almost nothing. Callers use it on one thread at a time.
final class Tally: @unchecked Sendable {
  private(set) var count = 0

  func add() { count += 1 }

  /// Runs `body`, which must make exactly `expected` calls.
  func expect(_ expected: Int, _ body: () throws -> Void) throws {
    let before = count
    try body()
    try bench.expect(count - before, expected, "calls")
  }
}
