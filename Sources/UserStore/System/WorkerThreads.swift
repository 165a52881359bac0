/// Up to `limit` threads that run jobs, which start in the order of their arrival; a thread starts when none is idle.
///
/// Work that waits for SQLite runs here, so that an `await` never blocks a thread of the concurrency pool or an actor.
final class WorkerThreads: Sendable {
  typealias Job = @Sendable () -> Void

  private let name: StaticString
  private let limit: Int
  private let state = Lock(State())

  private struct State {
    var jobs = FIFO<Job>()
    var threads: [SystemThread] = []
    var idle: [Parker] = []
    var isStopped = false
  }

  init(name: StaticString, limit: Int) {
    self.name = name
    self.limit = limit
  }

  /// Appends a job, and returns whether it will run, which is false after `stop`; throws if no thread can be started.
  func run(_ job: @escaping Job) throws(SystemError) -> Bool {
    let (isAccepted, idle) = try state.withLock { state throws(SystemError) -> (Bool, Parker?) in
      if state.isStopped { return (false, nil) }
      let idle = state.idle.popLast()
      if idle == nil, state.threads.count < limit {
        // Under the lock: `join` must not miss the thread.
        do throws(SystemError) {
          state.threads.append(try SystemThread.start(named: name) { self.loop() })
        } catch {
          // Another thread will run the job later.
          if state.threads.isEmpty { throw error }
        }
      }
      state.jobs.append(job)
      return (true, idle)
    }
    idle?.wake()
    return isAccepted
  }

  /// Whether `stop` was called; a long job that was accepted before need not begin.
  var isStopped: Bool { state.withLock { $0.isStopped } }

  /// Ends the threads after the accepted jobs; returns immediately.
  func stop() {
    let idle = state.withLock { state in
      state.isStopped = true
      return exchange(&state.idle, with: [])
    }
    for parker in idle { parker.wake() }
  }

  /// Waits for the end of the threads, after `stop`; does not wait for the calling thread.
  func join() { for thread in state.withLock({ $0.threads }) { thread.join() } }

  private func loop() {
    let parker = Parker()
    while true {
      let (job, isOver) = state.withLock { state in
        let job = state.jobs.popFirst()
        // A thread that was woken may find that another has taken the job.
        if job == nil, !state.isStopped { state.idle.append(parker) }
        return (job, job == nil && state.isStopped)
      }
      if let job { job() } else if isOver { return } else { parker.park() }
    }
  }
}
