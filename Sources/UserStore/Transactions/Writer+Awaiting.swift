/// A write that a task awaits: its closure runs at most once, and `finish` is called once.
final class AwaitedWrite: Sendable {
  let origin: String?
  /// Released before `finish`: otherwise, the write thread might be the last to release a store, close it, and wait for itself.
  private let body: Lock<(@Sendable (inout WriteTransaction) throws -> Void)?>
  private let onFinish: @Sendable ((any Error)?) -> Void
  /// Runs the write on the write thread, which has the turn.
  let serve: @Sendable (AwaitedWrite, WriteGroup?) -> Void

  init(
    origin: String?, body: @escaping @Sendable (inout WriteTransaction) throws -> Void,
    finish: @escaping @Sendable ((any Error)?) -> Void,
    serve: @escaping @Sendable (AwaitedWrite, WriteGroup?) -> Void
  ) {
    self.origin = origin
    self.body = Lock(body)
    onFinish = finish
    self.serve = serve
  }

  /// Runs the closure; called at most once.
  func run(_ transaction: inout WriteTransaction) throws { try body.withLock { $0.take() }?(&transaction) }

  /// Reports the end of the write, or why it did not run; called once.
  func finish(_ error: (any Error)?) {
    _ = body.withLock { $0.take() }
    onFinish(error)
  }
}

extension Writer {
  /// Queues `body`, which runs on the write thread, and returns; `finish` is called after its commit and delivery.
  func submit(
    origin: String? = nil, _ body: @escaping @Sendable (inout WriteTransaction) throws -> Void,
    finish: @escaping @Sendable ((any Error)?) -> Void
  ) {
    turns.enter(
      AwaitedWrite(
        origin: origin, body: body, finish: finish,
        serve: { task, group in self.serve(task, in: group) }))
  }

  /// Queues `body`, which runs on the write thread, and waits for its commit and delivery, even if the task is canceled.
  ///
  /// A write that follows an effect, such as an acknowledgment, must not be lost when a program ends in order.
  ///
  /// - Throws: What `body` throws, and the store's errors.
  func write<Value: Sendable>(
    origin: String?, _ body: @escaping @Sendable (inout WriteTransaction) throws -> Value
  ) async throws -> Value {
    let result = Lock<Value?>(nil)
    return try await withCheckedThrowingContinuation { continuation in
      submit(origin: origin) { transaction in
        let value = try body(&transaction)
        result.withLock { $0 = value }
      } finish: { error in
        // A write that reports no error has run its closure.
        continuation.resume(with: error.map { .failure($0) } ?? .success(result.withLock { $0! }))
      }
    }
  }

  /// Runs on the write thread, which has the turn: this task's closure, and those of the tasks that follow it.
  private func serve(_ task: AwaitedWrite, in group: WriteGroup?) {
    var (task, group) = (task, group)
    while let end = serveTurn(task, in: group) {
      _ = settle(end)
      guard let next = turns.workerReturned() else { return }
      (task, group) = (next, nil)
    }
  }

  /// - Returns: nil if a thread continues the transaction. It may already have passed the turn to another task, which this
  ///   thread must serve without delay.
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
    do {
      try takePart(in: &group, origin: task.origin, nil, task.run)
      group?.members.append(.task(task))
    } catch {
      task.finish(error)
    }
  }
}
