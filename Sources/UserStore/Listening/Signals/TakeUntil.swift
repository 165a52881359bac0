extension Signal {
  /// Emits values until another signal emits its first value.
  ///
  /// - **Rounds**: a value in the same round as the other signal's first value is emitted, whichever of the two is delivered
  ///   first. If the other signal has a value immediately, as a listenable does, nothing is emitted.
  /// - **Failures** of both signals are emitted, and do not end the signal.
  /// - **End**: with this signal, or with the other signal's first value; both subscriptions end then. The end of the other
  ///   signal has no effect.
  ///
  /// - Parameter other: The other signal.
  /// - Returns: The new signal.
  public func take<Other>(until other: Signal<Other>) -> Signal {
    let rank = max(rank, other.rank) + 1
    return Signal(rank: rank, onError: onError) { source in
      let isReached = Lock(false)
      let limit = other.attach(ListeningTerms()) { event in
        switch event {
        case .value:
          isReached.withLock { $0 = true }
          source.relayEnd(rank: rank)
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
