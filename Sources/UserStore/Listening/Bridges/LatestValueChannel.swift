/// Passes the latest element from senders on any thread to one task that awaits it.
///
/// `AsyncStream` with `.bufferingNewest(1)` is not used: it still returns the element that waits after its task was
/// canceled, and its `onTermination` runs under the task's own lock, where a subscription must not end.
final class LatestValueChannel<Element: Sendable>: Sendable {
  private let state = Lock(LatestValueState<Element>())

  /// Sends an element; it replaces an element that waits.
  func send(_ element: Element) {
    state.withLock { $0.send(element) }.perform()
  }

  /// Ends the channel; an element that waits is still received.
  func end() {
    state.withLock { $0.end() }.perform()
  }

  /// Waits for the next element.
  ///
  /// - Returns: the element; nil at the end, and when the task is canceled, which ends the channel too.
  func next(isolation actor: isolated (any Actor)?) async -> Element? {
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: actor) { consumer in
        state.withLock { $0.next(consumer) }.perform()
      }
    } onCancel: {
      // Only marks and resumes. Ending the subscription here could release anything under the task's own lock.
      state.withLock { $0.cancel() }.perform()
    }
  }
}

/// The state of a channel: a value without locks or calls.
///
/// Each transition returns the action to perform after unlocking. Invariants: no consumer waits while there is an element
/// for it, and at most one consumer waits.
struct LatestValueState<Element: Sendable>: Sendable {
  typealias Consumer = CheckedContinuation<Element?, Never>

  private var latest: Element?
  private var waiting: Consumer?
  /// Whether nothing is sent any more; an element that waits is still received.
  private var hasEnded = false
  /// Whether the consumer's task was canceled.
  private var isCancelled = false

  mutating func send(_ element: Element) -> Action {
    if hasEnded || isCancelled { return Action() }
    if let consumer = waiting.take() { return Action(consumer: consumer, element: element) }
    defer { latest = element }
    return Action(dropped: latest.take())
  }

  mutating func next(_ consumer: Consumer) -> Action {
    precondition(waiting == nil, "two tasks await the next element of one iterator; give each task its own iterator")
    if isCancelled { return Action(consumer: consumer) }
    if let element = latest.take() { return Action(consumer: consumer, element: element) }
    if hasEnded { return Action(consumer: consumer) }
    waiting = consumer
    return Action()
  }

  mutating func end() -> Action {
    hasEnded = true
    return Action(consumer: waiting.take())
  }

  // The element that waits is not released here: this runs under the lock of the task that is canceled. The iterator
  // releases it.
  mutating func cancel() -> Action {
    isCancelled = true
    return Action(consumer: waiting.take())
  }

  /// Resumes a consumer and releases a dropped element; both may run any code, so no lock may be held.
  struct Action: Sendable {
    var consumer: Consumer?
    /// nil ends the consumer's iteration.
    var element: Element?
    var dropped: Element?

    func perform() { consumer?.resume(returning: element) }
  }
}
