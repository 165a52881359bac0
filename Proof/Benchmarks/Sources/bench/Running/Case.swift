/// A comparison of several contenders.
struct Case {
  /// The group and settings, such as `hub/delivery/1000`, which filters match.
  let name: String
  /// A description of one operation.
  let operation: String
  /// The number of operations in a pass.
  var operationsPerPass = 1
  /// The contenders.
  ///
  /// The others are compared with the first one.
  let contenders: [Contender]
  /// The largest number of rounds; nil for the usual number.
  var rounds: Int?
}

/// One side of a comparison.
struct Contender: Sendable {
  let name: String
  /// Prepares the measured work, with an empty folder of its own.
  ///
  /// The measured closure keeps its captured objects until the end of the case.
  let setUp: @Sendable (_ folder: String) throws -> Measured
}

/// The work of a contender in one round.
enum Measured {
  /// A number of passes, which are timed together. The warm-up determines the number.
  ///
  /// A pass has the case's number of operations, times `ofEach` if several writers work at once.
  case passes(ofEach: Int = 1, (_ count: Int) throws -> Void)
  /// The same, with a part of each pass that does not count; returns the time of the rest.
  case parts((_ count: Int) throws -> Duration)
  /// One pass, which returns its time in nanoseconds, because it has preparations that do not count.
  case pass(() throws -> Double)
  /// A number of events with their latencies.
  case latencies((_ count: Int) throws -> [Duration])
  /// A size in bytes.
  case bytes(() throws -> Double)
}

/// A contender did not do its work, which ends the run.
struct WorkNotDone: Error, CustomStringConvertible {
  let description: String
}

/// Throws `WorkNotDone` if `actual` is not `expected`.
func expect(_ actual: Int, _ expected: Int, _ what: @autoclosure () -> String) throws {
  if actual != expected { throw WorkNotDone(description: "\(what()): \(actual), expected \(expected)") }
}
