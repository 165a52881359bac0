import Dispatch
import Foundation
import Synchronization

/// Threads for the code of tests, which may block them.
///
/// Swift's own threads are as many as processors. While tests block them, nothing else gets a turn: neither tasks nor, on
/// Linux, the main actor.
package final class SuiteThreads: TaskExecutor {
  package static let shared = SuiteThreads()
  static let count = 8

  private let jobs = Mutex<[UnownedJob]>([])
  private let waiting = DispatchSemaphore(value: 0)

  private init() {
    for _ in 0..<Self.count { Thread { [self] in run() }.start() }
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    waiting.signal()
  }

  private func run() {
    while true {
      waiting.wait()
      let job = jobs.withLock { $0.removeFirst() }
      unsafe job.runSynchronously(on: asUnownedTaskExecutor())
    }
  }
}
