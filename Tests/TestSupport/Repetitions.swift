import Foundation

/// How often a test repeats what fails only by chance: random operations, and two processes or threads that must meet at the
/// wrong moment.
package enum Repetitions {
  /// 10, which takes seconds, or `USERSTORE_RUNS`; 500 with `scripts/test --long`.
  package static let count = ProcessInfo.processInfo.environment["USERSTORE_RUNS"].flatMap { Int($0) } ?? 10
}
