extension Signal {
  /// The values until another signal has one.
  ///
  /// - **Rounds**: what comes in the same round as the other's first value still comes, in whichever order the two are told.
  ///   If the other has a value at once, a listenable's for instance, nothing comes.
  /// - **Failures** of both pass through, and end nothing.
  /// - **End**: with this signal, or the other's first value; both are let go then. The other's end means nothing.
  ///
  /// - Parameter other: The other signal.
  /// - Returns: the new signal.
  public func take<Other>(until other: Signal<Other>) -> Signal {
    let rank = max(rank, other.rank) + 1
    return Signal(rank: rank, onError: onError) { source in
      let isReached = Lock(false)
      let limit = other.attach(ListeningTerms()) { event in
        switch event {
        case .value:
          isReached.withLock { $0 = true }
          DeliveryThread.current.defer(rank: rank) { source.relay(.end) }
          DeliveryThread.current.runDeferred()
        case .failure(let error): source.relay(.failure(error))
        case .end: break
        }
      }
      if isReached.withLock({ $0 }) { return limit }
      let token = attach(ListeningTerms()) { source.relay($0) }
      return SubscriptionToken {
        limit.dispose()
        token.dispose()
      }
    }
  }
}
