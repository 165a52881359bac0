import Synchronization

/// Counters by name, for many threads.
final class Tally: Sendable {
  private let counts = Mutex<[String: Int]>([:])

  func add(_ what: String, _ number: Int = 1) {
    counts.withLock { $0[what, default: 0] += number }
  }

  /// Keeps the maximum.
  func raise(_ what: String, to number: Int) {
    counts.withLock { $0[what] = max($0[what] ?? 0, number) }
  }

  subscript(_ what: String) -> Int { counts.withLock { $0[what] ?? 0 } }

  var all: [(what: String, number: Int)] {
    counts.withLock { $0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
