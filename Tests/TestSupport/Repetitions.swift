import Foundation

/// How often a test repeats something that fails only if two processes or threads meet at the wrong moment.
package enum Repetitions {
  /// 50, or `USERSTORE_RUNS`.
  package static let count = ProcessInfo.processInfo.environment["USERSTORE_RUNS"].flatMap { Int($0) } ?? 50
}
