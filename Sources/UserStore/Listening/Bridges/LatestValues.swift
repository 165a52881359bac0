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
  public var values: LatestValues<Value> { latest { if case .value(let value) = $0 { .some(value) } else { nil } } }

  /// The latest values and failures, as an async sequence; a newer value or failure replaces one that waits.
  public var results: LatestValues<Result<Value, any Error>> {
    latest { event in
      switch event {
      case .value(let value): .success(value)
      case .failure(let error): .failure(error)
      case .end: nil
      }
    }
  }

  private func latest<Element>(_ element: @escaping @Sendable (Event) -> Element?) -> LatestValues<Element> {
    LatestValues { channel in
      subscribeToEvents { event in
        if case .end = event { channel.end() } else if let element = element(event) { channel.send(element) }
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
  private typealias Consumer = CheckedContinuation<Element?, Never>

  /// Invariants: no consumer waits while there is an element for it, and at most one consumer waits.
  private struct State {
    var latest: Element?
    var waiting: Consumer?
    var hasEnded = false
    var isCanceled = false
  }

  // Consumers are resumed and elements are released outside of the lock: both may run any code.
  private let state = Lock(State())

  /// Sends an element, which replaces one that waits.
  func send(_ element: Element) {
    let (consumer, dropped) = state.withLock { state -> (Consumer?, Element?) in
      if state.hasEnded || state.isCanceled { return (nil, nil) }
      if let consumer = state.waiting.take() { return (consumer, nil) }
      return (nil, exchange(&state.latest, with: element))
    }
    consumer?.resume(returning: element)
    withExtendedLifetime(dropped) {}
  }

  /// Ends the channel; an element that waits is still received.
  func end() { stop { $0.hasEnded = true } }

  /// Waits for the next element; nil at the end, and when the task is canceled, which ends the channel too.
  func next(isolation actor: isolated (any Actor)?) async -> Element? {
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: actor) { consumer in
        let next: Element?? = state.withLock { state in
          precondition(
            state.waiting == nil, "two tasks await the next element of one iterator; give each task its own iterator")
          if state.isCanceled { return .some(nil) }
          if let element = state.latest.take() { return .some(element) }
          if state.hasEnded { return .some(nil) }
          state.waiting = consumer
          return nil
        }
        if let next { consumer.resume(returning: next) }
      }
    } onCancel: {
      // Only marks and resumes; the iterator releases the element that waits. Ending the subscription here could release
      // anything under the task's own lock.
      stop { $0.isCanceled = true }
    }
  }

  private func stop(_ change: (inout State) -> Void) {
    let consumer = state.withLock { state in
      change(&state)
      return state.waiting.take()
    }
    consumer?.resume(returning: nil)
  }
}
