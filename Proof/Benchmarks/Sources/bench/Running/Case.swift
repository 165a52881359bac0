/// What is measured side by side.
struct Case {
  /// Group and settings, `hub/delivery/1000`: what the filter is matched with.
  let name: String
  /// One line: what one operation is.
  let operation: String
  /// How many operations one pass is.
  var operationsPerPass = 1
  /// The first one is what the others are compared with.
  let contenders: [Contender]
}

/// One side of a comparison.
struct Contender: Sendable {
  let name: String
  /// Prepares, in a folder of its own that is there, what is measured.
  ///
  /// What the measured closure holds lives until the case is over.
  let setUp: @Sendable (_ folder: String) throws -> Measured
}

/// What one round does with a contender.
enum Measured {
  /// A number of passes, timed from outside; how many is found out while it warms up.
  ///
  /// A pass is the case's number of operations, times `ofEach` where several work at once.
  case passes(ofEach: Int = 1, (_ count: Int) throws -> Void)
  /// One pass a round, which says itself how many nanoseconds it took: there is something to prepare before each.
  case pass(() throws -> Double)
  /// A number of events, each of which tells its latency.
  case latencies((_ count: Int) throws -> [Duration])
  /// A size, the same in each round.
  case bytes(() throws -> Double)
}

/// A benchmark that does not do its work is worse than none.
struct WorkNotDone: Error, CustomStringConvertible {
  let description: String
}

/// - Throws: `WorkNotDone` when `actual` is not `expected`.
func expect(_ actual: Int, _ expected: Int, _ what: @autoclosure () -> String) throws {
  if actual != expected { throw WorkNotDone(description: "\(what()): \(actual), expected \(expected)") }
}
