/// The latest values of a signal or a listenable, as an async sequence.
///
///     for await name in listenable.values { print(name ?? "gone") }
///
/// - **Order and buffering**: values come in the order in which they were sent. At most one value waits, and a newer value
///   replaces it: a slow consumer receives the present value and misses those in between. A sender never waits.
/// - **Lifetime**: each iteration has its own subscription, from its beginning until its iterator is released. The
///   subscription holds the signal.
/// - **End**: after the last value, when the signal ends: its source is released, or its store is closed or released.
/// - **Cancellation** of the iterating task ends a waiting `next()` immediately with nil, and ends the iteration; a value that
///   waits is dropped.
/// - **Threads**: any task may iterate, on any actor. Tasks may share the sequence, but not an iteration.
public struct LatestValues<Element: Sendable>: AsyncSequence, Sendable {
  /// The sequence does not fail.
  public typealias Failure = Never

  typealias Channel = LatestValueChannel<Element>

  private let subscribe: @Sendable (Channel) -> SubscriptionToken

  /// - Parameter subscribe: Sends into the channel until the token is disposed.
  init(subscribe: @escaping @Sendable (Channel) -> SubscriptionToken) {
    self.subscribe = subscribe
  }

  /// Subscribes to the signal.
  ///
  /// Waits, as `bindAndFire` does, for a round that another thread is delivering.
  public func makeAsyncIterator() -> Iterator {
    let channel = Channel()
    return Iterator(channel: channel, token: subscribe(channel))
  }

  /// One iteration; releasing it ends its subscription.
  public struct Iterator: AsyncIteratorProtocol {
    let channel: Channel
    let token: SubscriptionToken

    /// Waits for the newest value that was not received yet; nil at the end, and when the task was canceled.
    public mutating func next() async -> Element? {
      await next(isolation: nil)
    }

    /// Waits for the newest value that was not received yet; nil at the end, and when the task was canceled.
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
  /// Failures are left out, as in `subscribe`: a thrown failure would end the loop, but a failure does not end the signal.
  /// `results` includes them.
  public var values: LatestValues<Value> {
    LatestValues { channel in
      attach(ListeningTerms()) { event in
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
      attach(ListeningTerms()) { event in
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
  /// The present value, then the latest values, as an async sequence.
  public var values: LatestValues<Value> { signal.values }
}
