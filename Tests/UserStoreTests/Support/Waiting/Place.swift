import Testing

@testable import UserStore

/// An actor with a thread of its own, which a test can block without blocking any other task.
actor Place {
  private let executor = ThreadExecutor()

  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

  deinit { executor.stop() }

  /// Keeps the actor busy until the gate opens, and returns when the actor is busy.
  nonisolated func hold(until gate: Gate) {
    let inside = Gate()
    executor.run {
      inside.open()
      gate.wait()
    }
    inside.wait()
  }
}

private final class ThreadExecutor: SerialExecutor {
  private let thread = WorkerThreads(name: "test-actor", limit: 1)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    run { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func run(_ body: @escaping @Sendable () -> Void) {
    precondition((try? thread.run(body)) == true, "the test's actor has no thread")
  }

  func stop() { thread.stop() }
}
