extension Listenable {
  /// The present value, then each new value, and the failures that the source sends.
  ///
  /// Ends when no new value can come: when its source is released, or its store is closed or released.
  public var signal: Signal<Value> {
    Signal(rank: 0, onError: backing.handleError) { terms, observer in
      var terms = terms
      terms.fires = true
      terms.onEnd = { try observer(.end) }
      terms.onFailure = { try observer(.failure($0)) }
      let token = self.subscribe(terms) { try observer(.value($0)) }
      return SubscriptionToken {
        token.dispose()
        withExtendedLifetime(self) {}
      }
    }
  }
}
