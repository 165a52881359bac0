/// Hands elements from whoever sends them, on any thread, to one task that awaits them.
///
/// `AsyncStream` is not it: without a bound it grows with a slow consumer, and with one it drops in silence.
final class Handover<Backlog: ConsumerBacklog>: Sendable {
  private let state: Lock<HandoverState<Backlog>>

  init(_ backlog: Backlog) {
    state = Lock(HandoverState(backlog))
  }

  func send(_ input: Backlog.Input) {
    state.withLock { $0.send(input) }.perform()
  }

  /// Nothing comes any more; what is there is still handed over.
  func end() {
    state.withLock { $0.end() }.perform()
  }

  /// The next element, as soon as there is one.
  ///
  /// - Returns: nil at the end, and when the task is cancelled, which ends the handover too.
  func next(isolation actor: isolated (any Actor)?) async -> Backlog.Element? {
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: actor) { consumer in
        state.withLock { $0.next(consumer) }.perform()
      }
    } onCancel: {
      // Marks and resumes, no more: a registration that ended here could release anything under the task's own lock.
      state.withLock { $0.cancel() }.perform()
    }
  }
}
