import Dispatch
import Foundation
import TestSupport
import Testing
import UserStore

/// Waits for a turn (see `Turns.ofSuites`), and runs the suite on threads that it may block (see `SuiteThreads`).
///
/// The time limits of the tests begin after the wait. Tests that hang end the process (see `TestProgress`).
struct Bounded: SuiteTrait, TestTrait, TestScoping {
  var isRecursive: Bool { true }

  func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? {
    test.isSuite || testCase != nil ? self : nil
  }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    if testCase != nil {
      let end = TestProgress.began(test.displayName ?? test.name)
      defer { end() }
      return try await function()
    }
    await Turns.ofSuites.take()
    let result: Result<Void, any Error>
    do {
      result = .success(try await withTaskExecutorPreference(SuiteThreads.shared) { try await function() })
    } catch {
      result = .failure(error)
    }
    await Turns.ofSuites.giveBack()
    try result.get()
  }
}

extension Trait where Self == Bounded {
  static var bounded: Self { Self() }
}

/// Threads for the code of tests, which may block them.
///
/// Swift's own threads are as many as processors. While tests block them, nothing else gets a turn: neither tasks nor, on
/// Linux, the main actor.
final class SuiteThreads: TaskExecutor {
  static let shared = SuiteThreads(count: 8)

  private let jobs = Lock<[UnownedJob]>([])
  private let waiting = DispatchSemaphore(value: 0)

  private init(count: Int) {
    for _ in 0..<count { Thread { [self] in run() }.start() }
  }

  func enqueue(_ job: consuming ExecutorJob) {
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
