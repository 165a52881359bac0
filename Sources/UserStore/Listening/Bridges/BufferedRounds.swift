/// What a hub tells a consumer that may be slow.
public enum BufferedRound<Content: Routable>: Sendable {
  /// The part of a round that belongs to the topic.
  case next(Content)
  /// Rounds that were dropped because the consumer was too slow: after what came before this, before what follows.
  case missed(Content.Missed)
}

/// The rounds of one topic of a hub, as an async sequence that loses nothing in silence.
///
///     for await round in store.listeners.values(of: .user(id), bufferingUpTo: 100) {
///       switch round {
///       case .next(let set): show(set)
///       case .missed(let sets): showAll(because: sets)
///       }
///     }
///
/// - **Order and buffering**: rounds come in order. So many wait at most, the newest; older ones are dropped, and a mark
///   in their place says which. What follows a mark is never dropped any more, so that a consumer that is always too
///   slow still gets every other time a round. Nobody who sends waits.
/// - **Lifetime**: each iteration registers a listener without a name when it begins, from the next round on; it ends with
///   its iterator. Neither keeps a store alive.
/// - **End**: after what waits, when the store closes or is released.
/// - **Cancellation** of the iterating task ends a waiting `next()` at once with nil, and the iteration with it.
/// - **Threads**: any task may iterate, on any actor; the sequence may be shared, each iteration belongs to one task.
public struct BufferedRounds<Content: Routable>: AsyncSequence, Sendable {
  /// A round, or a mark for those that were missed.
  public typealias Element = BufferedRound<Content>
  /// It does not fail.
  public typealias Failure = Never

  let hub: ListenerHub<Content>
  let topic: Content.Topic
  let limit: Int

  /// Registers: from here on nothing is lost in silence.
  public func makeAsyncIterator() -> Iterator {
    let channel = Iterator.Channel(RoundBacklog(limit: limit))
    let token = hub.register(nil, to: topic, on: .inline, owner: nil, onEnd: { channel.end() }, channel.send)
    return Iterator(channel: channel, token: token)
  }

  /// One iteration; releasing it ends its registration.
  public struct Iterator: AsyncIteratorProtocol {
    typealias Channel = Handover<RoundBacklog<Content>>

    let channel: Channel
    let token: Disposable

    /// The next round or mark; nil at the end, and when the task was cancelled.
    public mutating func next() async -> BufferedRound<Content>? {
      await next(isolation: nil)
    }

    /// The next round or mark; nil at the end, and when the task was cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> BufferedRound<Content>? {
      let element = await channel.next(isolation: actor)
      if element == nil { token.dispose() }
      return element
    }
  }
}

extension ListenerHub {
  /// The rounds of a topic from now on, to be awaited by a consumer that may be slow.
  ///
  /// A consumer that must miss nothing at all reads the log: `UserStore.changes(after:)`.
  ///
  /// - Parameters:
  ///   - topic: What to listen to.
  ///   - limit: How many rounds may wait; at least 1. One more can be on its way after a mark.
  /// - Returns: the sequence; each iteration registers by itself.
  public func values(of topic: Topic, bufferingUpTo limit: Int) -> BufferedRounds<Content> {
    precondition(limit >= 1, "a buffer has room for at least one round")
    return BufferedRounds(hub: self, topic: topic, limit: limit)
  }
}
