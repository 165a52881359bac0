/// The latest values of a signal or a listenable, as an async sequence.
///
///     for await name in listenable.values { print(name ?? "gone") }
///
/// - **Order and buffering**: values arrive in the order in which they were sent. At most one value waits, and a newer value
///   replaces it: a slow consumer receives the current value and misses those in between. A sender never waits.
/// - **Lifetime**: each iteration has its own subscription, from its start until its iterator is released. The subscription
///   retains the signal.
/// - **End**: after the last value, when the signal ends: its source is released, or its store is closed or released.
/// - **Cancellation** of the iterating task ends a waiting `next()` immediately with nil, and ends the iteration; a value that
///   waits is dropped.
/// - **Threads**: any task may iterate, on any actor. Tasks may share the sequence, but not an iteration.
public struct LatestValues<Element: Sendable>: AsyncSequence, Sendable {
  /// The sequence does not fail.
  public typealias Failure = Never

  /// Sends into the channel until the token is disposed.
  fileprivate let subscribe: @Sendable (LatestValueChannel<Element>) -> SubscriptionToken

  /// Subscribes to the signal.
  ///
  /// Like `bindAndFire`, this waits for a round that another thread is delivering.
  public func makeAsyncIterator() -> Iterator {
    let channel = LatestValueChannel<Element>()
    return Iterator(channel: channel, token: subscribe(channel))
  }

  /// One iteration; releasing it ends its subscription.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let channel: LatestValueChannel<Element>
    fileprivate let token: SubscriptionToken

    /// Waits for the latest value that was not received yet; nil at the end, and when the task was canceled.
    public mutating func next() async -> Element? {
      await next(isolation: nil)
    }

    /// Waits for the latest value that was not received yet; nil at the end, and when the task was canceled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      let element = await channel.next(isolation: actor)
      if element == nil { token.dispose() }
      return element
    }
  }
}

extension Signal {
  /// The latest values, as an async sequence.
  ///
  /// Failures are dropped, as in `subscribe`: a thrown failure would end the loop, but a failure does not end the signal.
  /// `results` includes them.
  public var values: LatestValues<Value> {
    LatestValues { channel in
      subscribeToEvents { event in
        switch event {
        case .value(let value): channel.send(value)
        case .failure: break
        case .end: channel.end()
        }
      }
    }
  }

  /// The latest values and failures, as an async sequence; a newer value or failure replaces one that waits.
  public var results: LatestValues<Result<Value, any Error>> {
    LatestValues { channel in
      subscribeToEvents { event in
        switch event {
        case .value(let value): channel.send(.success(value))
        case .failure(let error): channel.send(.failure(error))
        case .end: channel.end()
        }
      }
    }
  }
}

extension Listenable {
  /// The current value, then the latest values, as an async sequence.
  public var values: LatestValues<Value> { signal.values }
}

/// Passes the latest element from senders on any thread to one task that awaits it.
///
/// `AsyncStream` with `.bufferingNewest(1)` is not used: it still returns the element that waits after its task was
/// canceled, and its `onTermination` runs under the task's own lock, where a subscription must not end.
private final class LatestValueChannel<Element: Sendable>: Sendable {
  private let state = Lock(LatestValueState<Element>())

  /// Sends an element, which replaces one that waits.
  func send(_ element: Element) {
    state.withLock { $0.send(element) }.perform()
  }

  /// Ends the channel; an element that waits is still received.
  func end() {
    state.withLock { $0.end() }.perform()
  }

  /// Waits for the next element; nil at the end, and when the task is canceled, which ends the channel too.
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
private struct LatestValueState<Element: Sendable>: Sendable {
  typealias Consumer = CheckedContinuation<Element?, Never>

  private var latest: Element?
  private var waiting: Consumer?
  private var hasEnded = false
  private var isCanceled = false

  mutating func send(_ element: Element) -> Action {
    if hasEnded || isCanceled { return Action() }
    if let consumer = waiting.take() { return Action(consumer: consumer, element: element) }
    defer { latest = element }
    return Action(dropped: latest.take())
  }

  mutating func next(_ consumer: Consumer) -> Action {
    precondition(waiting == nil, "two tasks await the next element of one iterator; give each task its own iterator")
    if isCanceled { return Action(consumer: consumer) }
    if let element = latest.take() { return Action(consumer: consumer, element: element) }
    if hasEnded { return Action(consumer: consumer) }
    waiting = consumer
    return Action()
  }

  mutating func end() -> Action {
    hasEnded = true
    return Action(consumer: waiting.take())
  }

  // The iterator releases the element that waits: this runs under the lock of the task that is canceled.
  mutating func cancel() -> Action {
    isCanceled = true
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
