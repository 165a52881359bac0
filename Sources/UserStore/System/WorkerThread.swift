/// Runs jobs one after another on a thread of its own, started by the first job.
///
/// It exists so that an `await` never blocks a thread of the concurrency pool: whatever waits for SQLite waits here.
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

  /// Appends a job.
  ///
  /// After `stop` it is refused.
  ///
  /// - Returns: whether the job will run.
  /// - Throws: `SystemError` when the thread cannot be started; the job is not kept then.
  func run(_ job: @escaping Job) throws(SystemError) -> Bool {
    let isAccepted = try state.withLock { state throws(SystemError) in
      if state.isStopped { return false }
      // Under the lock: a job of somebody else must not be accepted before it is known that the thread runs.
      if state.thread == nil { state.thread = try SystemThread.start(named: name) { self.loop() } }
      state.jobs.append(job)
      return true
    }
    if isAccepted { parker.wake() }
    return isAccepted
  }

  /// Lets the thread end when it has run what it accepted.
  ///
  /// Returns at once.
  func stop() {
    state.withLock { $0.isStopped = true }
    parker.wake()
  }

  /// Waits until the thread has ended, after `stop`; on the thread itself it returns at once.
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
