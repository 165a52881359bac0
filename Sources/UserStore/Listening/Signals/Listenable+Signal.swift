extension Listenable {
  /// The value over time: the present one first, then each change, and the failures that its source sends.
  ///
  /// Ends when nobody can change it any more: with its source, or its store.
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
