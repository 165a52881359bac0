#if canImport(Combine)
  public import Combine

  /// A signal as a Combine publisher.
  ///
  /// It is not tested on Linux, because Combine exists only on Apple's systems.
  ///
  /// - **Demand**: a value is sent only on demand. Without demand, at most one value waits, and a newer value replaces it, as in
  ///   `Signal.values`.
  /// - **Order and threads**: the subscriber is called in order, never twice at the same time, on the thread that sends or
  ///   requests.
  /// - **End**: the publisher finishes after the last value. Failures are dropped: they do not end a signal.
  /// - **Lifetime**: the subscription to the signal lives as long as Combine's subscription; canceling ends it immediately.
  public struct SignalPublisher<Output: Sendable>: Publisher, Sendable {
    /// The publisher does not fail.
    public typealias Failure = Never

    let signal: Signal<Output>

    /// Subscribes to the signal.
    public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Never {
      let subscription = SignalSubscription<Output>(
        SubscriberCalls(receive: { subscriber.receive($0) }, finish: { subscriber.receive(completion: .finished) }))
      subscriber.receive(subscription: subscription)
      subscription.start(signal)
    }
  }

  extension Signal {
    /// The signal as a Combine publisher.
    public var publisher: SignalPublisher<Value> { SignalPublisher(signal: self) }
  }

  extension Listenable {
    /// The current value, then each new value, as a Combine publisher.
    public var publisher: SignalPublisher<Value> { signal.publisher }
  }

  /// The demand of a subscriber and the value that waits for it: a value without locks or calls.
  private struct SubscriberDemand<Input: Sendable>: Sendable {
    /// nil after the subscriber canceled or was finished.
    private(set) var calls: SubscriberCalls<Input>?
    var token: SubscriptionToken?
    var demand = Subscribers.Demand.none
    private var latest: Input?
    var isOver = false
    /// Whether a thread is calling the subscriber; afterwards it checks for further calls.
    private var isCalling = false

    init(_ calls: SubscriberCalls<Input>?) {
      self.calls = calls
    }

    enum Call: Sendable {
      case receive(Input, SubscriberCalls<Input>)
      case finish(SubscriberCalls<Input>)
    }

    /// Returns the value that was replaced or is not needed, which must be released under no lock.
    mutating func append(_ input: Input) -> Input? {
      // After a cancellation, nothing takes the value out.
      if calls == nil { return input }
      defer { latest = input }
      return latest.take()
    }

    /// The call to make now; after a `receive`, the caller must call `returned`.
    mutating func next() -> Call? {
      guard let calls, !isCalling else { return nil }
      if latest != nil {
        guard demand > .none, let input = latest.take() else { return nil }
        demand -= 1
        isCalling = true
        return .receive(input, calls)
      }
      if !isOver { return nil }
      self.calls = nil
      return .finish(calls)
    }

    mutating func returned(asking more: Subscribers.Demand) {
      demand += more
      isCalling = false
    }
  }

  /// Calls a subscriber on demand.
  ///
  /// The subscriber holds this object, which holds the subscription to the signal; the signal holds it weakly.
  final class SignalSubscription<Input: Sendable>: Subscription, Sendable {
    private let state: Lock<SubscriberDemand<Input>>

    init(_ calls: SubscriberCalls<Input>) {
      state = Lock(SubscriberDemand(calls))
    }

    func start(_ signal: Signal<Input>) {
      let token = signal.attach(ListeningTerms()) { [weak self] in self?.receive($0) }
      let isWanted = state.withLock { state in
        if state.calls != nil { state.token = token }
        return state.calls != nil
      }
      if !isWanted { token.dispose() }
    }

    func request(_ demand: Subscribers.Demand) {
      state.withLock { $0.demand += demand }
      callAll()
    }

    func cancel() {
      let old = state.withLock { state in
        defer { state = SubscriberDemand(nil) }
        return state
      }
      old.token?.dispose()
    }

    private func receive(_ event: Signal<Input>.Event) {
      switch event {
      case .value(let value):
        let dropped = state.withLock { $0.append(value) }
        withExtendedLifetime(dropped) {}
      case .failure: return
      case .end: state.withLock { $0.isOver = true }
      }
      callAll()
    }

    private func callAll() {
      while let call = state.withLock({ $0.next() }) {
        switch call {
        case .receive(let input, let calls):
          let more = calls.receive(input)
          state.withLock { $0.returned(asking: more) }
        case .finish(let calls): calls.finish()
        }
      }
    }
  }
#endif
