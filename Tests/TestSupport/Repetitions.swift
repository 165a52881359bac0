import Foundation

/// How often a test repeats what fails only by chance: random operations, and two processes or threads that must meet at the
/// wrong moment.
package enum Repetitions {
  /// 4, or 2 on PostgreSQL, where each takes five times as long; or `USERSTORE_RUNS`, which `scripts/test --long` sets.
  package static let count: Int = {
    let environment = ProcessInfo.processInfo.environment
    return environment["USERSTORE_RUNS"].flatMap { Int($0) } ?? (environment["USERSTORE_ENGINE"] == "postgres" ? 2 : 4)
  }()
}
