/// Writes that are awaited: their closures run on the store's own thread, so that no thread of the concurrency pool waits.
extension Writer {
  /// Queues `body` and waits for its commit and delivery.
  ///
  /// - Throws: `CancellationError` when the task was cancelled before it began; what `body` throws; the store's errors.
  func write<Value: Sendable>(
    origin: String?, _ body: @escaping @Sendable (inout WriteTransaction) throws -> Value
  ) async throws -> Value {
    let result = Lock<Value?>(nil)
    let isCancelled = Lock(false)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        let task = AwaitedWrite(
          origin: origin,
          body: { transaction in
            let value = try body(&transaction)
            result.withLock { $0 = value }
          },
          isCancelled: { isCancelled.withLock { $0 } },
          finish: { error in
            if let error { continuation.resume(throwing: error) } else { continuation.resume() }
          },
          serve: { task, group in self.serve(task, in: group) })
        turns.enter(task)
      }
    } onCancel: {
      isCancelled.withLock { $0 = true }
    }
    guard let value = result.withLock({ $0 }) else {
      preconditionFailure("a write without an error ran its closure")
    }
    return value
  }

  /// Runs on the store's thread, which has the turn: for this task, and for those that follow it.
  private func serve(_ task: AwaitedWrite, in group: WriteGroup?) {
    var (task, group) = (task, group)
    while let end = serveTurn(task, in: group) {
      _ = settle(end)
      guard let next = turns.workerReturned() else { return }
      (task, group) = (next, nil)
    }
  }

  /// - Returns: nil when a thread goes on: it may have given the turn to another task by now, so that nothing may keep this
  ///   thread from coming to it.
  private func serveTurn(_ task: AwaitedWrite, in group: WriteGroup?) -> TurnEnd? {
    var (task, group) = (task, group)
    try? store.enter()
    defer { store.leave() }
    while true {
      turns.wakeNext(after: group, isWorker: true)
      takePart(in: &group, task)
      switch turns.next(after: group?.size ?? 0, isWorker: true) {
      case .task(let next): task = next
      case let next?:
        _ = turns.give(group, to: next)
        return nil
      case nil: return endTurn(group, nil, joins: false, hasPart: false)
      }
    }
  }

  private func takePart(in group: inout WriteGroup?, _ task: AwaitedWrite) {
    if task.isCancelled() { return task.finish(CancellationError()) }
    do {
      try takePart(in: &group, origin: task.origin, nil, task.body)
      group?.members.append(.task(task))
    } catch {
      task.finish(error)
    }
  }
}
