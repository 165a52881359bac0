#if canImport(Combine)
  public import Combine

  /// A signal for Combine.
  ///
  /// Not tested here: Combine exists on Apple's systems only.
  ///
  /// - **Demand**: a value is sent only when it was asked for. Without demand one waits at most: the newest takes its
  ///   place, as in `Signal.values`.
  /// - **Order and threads**: in order, never two calls at once, on the thread that sends or that asks.
  /// - **End**: it finishes after the last value. Failures are passed over: they do not end a signal.
  /// - **Lifetime**: it is subscribed to as long as the subscription is held; cancelling ends that at once.
  public struct SignalPublisher<Output: Sendable>: Publisher, Sendable {
    /// It does not fail.
    public typealias Failure = Never

    let signal: Signal<Output>

    /// Subscribes to the signal.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
      let subscription = SignalSubscription<Output>(
        SubscriberCalls(receive: { subscriber.receive($0) }, finish: { subscriber.receive(completion: .finished) }))
      subscriber.receive(subscription: subscription)
      subscription.begin(signal)
    }
  }

  extension Signal {
    /// The signal for Combine.
    public var publisher: SignalPublisher<Value> { SignalPublisher(signal: self) }
  }

  extension Listenable {
    /// The present value and those to come, for Combine.
    public var publisher: SignalPublisher<Value> { signal.publisher }
  }
#endif
