// Modeled in Proof/Model/Pump.pml; change both.

/// Gives writers their turns in the order of `WriteLine`: wakes threads, and runs tasks on the store's write thread.
final class WriteTurns: Sendable {
  let line = Lock(WriteLine())
  /// The write thread, which runs the closures of awaited writes.
  private let worker = WorkerThreads(name: "userstore-write", limit: 1)

  /// Waits for the turn, and returns the transaction to continue, if `joins`; nil to begin one.
  ///
  /// - Throws: `StoreError.Code.closed`, and `.busy` if the writer before timed out waiting for another process.
  func take(joins: Bool) throws(StoreError) -> WriteGroup? {
    var waiting: WaitingWriter?
    while true {
      let waiter = waiting.map { WriteLine.Waiter.thread($0, joins: joins) }
      switch line.withLock({ $0.enter(waiter) }) {
      case .turn: return nil
      case .closed: throw Self.closed
      case .wait: break
      }
      guard let waiting else {
        waiting = WaitingWriter()
        continue
      }
      switch waiting.wait() {
      case .turn(let group): return group
      case .over(let error): throw error ?? Self.closed
      }
    }
  }

  /// Queues a task, which runs when it gets the turn.
  func enter(_ task: AwaitedWrite) {
    switch line.withLock({ $0.enter(.task(task)) }) {
    case .turn: if !give(nil, to: .task(task)) { pass() }
    case .wait: break
    case .closed: task.finish(Self.closed)
    }
  }

  func next(after size: Int, isWorker: Bool = false) -> WriteLine.Waiter? {
    line.withLock { $0.next(after: size, isWorker: isWorker) }
  }

  /// Gives the turn to a writer that was taken out of the line.
  ///
  /// - Returns: False if it is a task and the write thread no longer runs; the task has received the error then.
  func give(_ group: WriteGroup?, to waiter: WriteLine.Waiter) -> Bool {
    switch waiter {
    case .thread(let waiting, _):
      waiting.send(.turn(group))
      return true
    case .task(let task):
      var error = Self.closed
      do { if try worker.run({ task.serve(task, group) }) { return true } } catch let cause {
        error = StoreError(.unexpected, "\(cause)", cause: cause)
      }
      _ = line.withLock { $0.workerReturned() }
      task.finish(error)
      return false
    }
  }

  /// Wakes the thread whose turn is next, while the caller is still running.
  func wakeNext(after group: WriteGroup?, isWorker: Bool = false) {
    line.withLock { $0.upcoming(after: group?.size ?? 0, isWorker: isWorker) }?.wakeEarly()
  }

  /// Passes the turn to the next writer, which begins a transaction.
  func pass() {
    while let next = line.withLock({ $0.pass() }), !give(nil, to: next) {}
  }

  func workerReturned() -> AwaitedWrite? {
    if case .task(let task)? = line.withLock({ $0.workerReturned() }) { task } else { nil }
  }

  /// Fails the writers that have waited as long as the writer with the turn, so that they do not each wait as long again.
  func failEarlier(_ error: StoreError) {
    for waiter in line.withLock({ $0.removeEarlier() }) { waiter.end(error) }
  }

  /// Fails the waiting writers with `StoreError.Code.closed`, and admits no more; the one that has the turn finishes.
  func close() {
    for waiter in line.withLock({ $0.close() }) { waiter.end(Self.closed) }
    worker.stop()
  }

  /// Waits until the write thread has ended, after `close`.
  func join() { worker.join() }

  private static var closed: StoreError { StoreError(.closed, "the store is closed") }
}

extension WriteLine.Waiter {
  /// Reports the end of the transaction, or why the writer gets no turn.
  func end(_ error: StoreError?) {
    switch self {
    case .thread(let waiting, _): waiting.send(.over(error))
    case .task(let task): task.finish(error)
    }
  }
}
