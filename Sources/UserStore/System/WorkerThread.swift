/// A thread that runs jobs in order; the first job starts it.
///
/// Work that waits for SQLite runs here, so that an `await` never blocks a thread of the concurrency pool.
final class WorkerThread: Sendable {
  typealias Job = @Sendable () -> Void

  private let name: StaticString
  private let state = Lock(State())
  private let parker = Parker()

  private struct State {
    var jobs: [Job] = []
    var thread: SystemThread?
    var isStopped = false
  }

  init(name: StaticString) {
    self.name = name
  }

  /// Appends a job, and returns whether it will run, as it does not after `stop`; throws if the thread cannot be started.
  func run(_ job: @escaping Job) throws(SystemError) -> Bool {
    let isAccepted = try state.withLock { state throws(SystemError) in
      if state.isStopped { return false }
      // Under the lock: no other job may be accepted before the thread has started.
      if state.thread == nil { state.thread = try SystemThread.start(named: name) { self.loop() } }
      state.jobs.append(job)
      return true
    }
    if isAccepted { parker.wake() }
    return isAccepted
  }

  /// Ends the thread after the accepted jobs; returns immediately.
  func stop() {
    state.withLock { $0.isStopped = true }
    parker.wake()
  }

  /// Waits for the end of the thread, after `stop`; returns immediately on the thread itself.
  func join() { state.withLock { $0.thread }?.join() }

  private func loop() {
    while true {
      let (jobs, isStopped) = state.withLock { state in
        defer { state.jobs.removeAll(keepingCapacity: true) }
        return (state.jobs, state.isStopped)
      }
      for job in jobs { job() }
      if jobs.isEmpty {
        if isStopped { return }
        parker.park()
      }
    }
  }
}
