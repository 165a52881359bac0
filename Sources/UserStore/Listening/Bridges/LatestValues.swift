/// The latest value of a signal or a listenable, as an async sequence.
///
///     for await name in listenable.values { print(name ?? "gone") }
///
/// - **Order and buffering**: values come in the order in which they were sent. One value waits at most: the newest takes
///   its place, so that a slow consumer finds the present value and misses those in between. Nobody who sends waits.
/// - **Lifetime**: each iteration subscribes by itself when it begins, and ends when its iterator is released. It keeps
///   the source alive, as a subscription does.
/// - **End**: after the last value, when the source ends (its source is released, the store closes or is released).
/// - **Cancellation** of the iterating task ends a waiting `next()` at once with nil, and the iteration with it; a value
///   that waited is dropped.
/// - **Threads**: any task may iterate, on any actor; the sequence may be shared, each iteration belongs to one task.
public struct LatestValues<Element: Sendable>: AsyncSequence, Sendable {
  /// It does not fail.
  public typealias Failure = Never

  typealias Channel = LatestValueChannel<Element>

  private let subscribe: @Sendable (Channel) -> SubscriptionToken

  /// - Parameter subscribe: Begins to send into a channel, until the token goes.
  init(subscribe: @escaping @Sendable (Channel) -> SubscriptionToken) {
    self.subscribe = subscribe
  }

  /// Subscribes.
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

    /// The newest value that was not handed over yet; nil at the end, and when the task was cancelled.
    public mutating func next() async -> Element? {
      await next(isolation: nil)
    }

    /// The newest value that was not handed over yet; nil at the end, and when the task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      let element = await channel.next(isolation: actor)
      if element == nil { token.dispose() }
      return element
    }
  }
}

extension Signal {
  /// The latest value, to be awaited.
  ///
  /// Failures are passed over, as in `subscribe`: one that was thrown would end the loop, and it does not end the signal.
  /// `results` has them.
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

  /// The latest value or failure, to be awaited: whichever came last takes the place of what waited.
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
  /// The present value, then the latest one after each change, to be awaited.
  public var values: LatestValues<Value> { signal.values }
}
