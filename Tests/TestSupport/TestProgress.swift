import Foundation
import Synchronization

/// Ends the process if tests are running, and none has begun or ended for a time: they wait for something that never comes.
///
/// A time limit of Swift Testing cancels a test's task, which does not help if a thread is blocked or a continuation is lost.
package enum TestProgress {
  /// A multiple of the time of the longest test, which may be the last; `scripts/mutants` shortens it.
  private static let patience: Duration = .seconds(
    ProcessInfo.processInfo.environment["USERSTORE_PATIENCE"].flatMap { Int($0) } ?? 420)

  private struct State {
    var running: [Int: String] = [:]
    var number = 0
    var last = ContinuousClock.now
    var isWatched = false
  }

  private static let state = Mutex(State())

  /// Notes the begin of a test; returns what ends it.
  package static func began(_ test: String) -> @Sendable () -> Void {
    let (number, isFirst) = state.withLock { state in
      state.number += 1
      state.running[state.number] = test
      state.last = .now
      defer { state.isWatched = true }
      return (state.number, !state.isWatched)
    }
    if isFirst { Thread { watch() }.start() }
    return {
      state.withLock { state in
        state.running[number] = nil
        state.last = .now
      }
    }
  }

  private static func watch() {
    while true {
      // A sleep: nothing reports that nothing happens.
      Thread.sleep(forTimeInterval: 1)
      let hanging = state.withLock { state in
        state.last.duration(to: .now) > patience ? state.running.values.sorted() : []
      }
      if hanging.isEmpty { continue }
      let names = hanging.map { "\n  \($0)" }.joined()
      FileHandle.standardError.write(Data("error: no test has begun or ended for \(patience); running:\(names)\n".utf8))
      _exit(70)
    }
  }
}
