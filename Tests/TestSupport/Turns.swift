import Foundation
/// Lets a number of callers run at the same time; the others wait, and continue in the order in which they came.
package actor Turns {
  private var free: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  package init(_ count: Int) { free = count }

  package func take() async {
    if free > 0 {
      free -= 1
    } else {
      await withCheckedContinuation { waiting.append($0) }
    }
  }

  package func giveBack() {
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
  }
}

extension Turns {
  /// The suites that open stores share these: those of `UserStoreTests` and `usertoolTests`.
  ///
  /// Swift Testing starts all tests at the same time. More than a thousand tests with open stores have about 3,000 open
  /// files, and Foundation's `Process` may stop the program if there are more than a thousand: it reads beyond the end of a
  /// full list of /proc/self/fd. They have 127 inotify instances, and Linux gives a user 128. And a test's time limit then
  /// includes the time of all the others.
  ///
  /// Each of these suites runs one test after the other, and there are as many at a time as threads that they may block. Else a test
  /// that awaits something waits for a thread too, until another test no longer blocks one: one that awaited 600 times took 160 seconds
  /// beside 80 others. Under a sanitizer everything takes ten times as long, so `scripts/test` lowers the number with $USERSTORE_SUITES.
  package static let ofSuites = Turns(
    ProcessInfo.processInfo.environment["USERSTORE_SUITES"].flatMap { Int($0) } ?? SuiteThreads.count)
}
