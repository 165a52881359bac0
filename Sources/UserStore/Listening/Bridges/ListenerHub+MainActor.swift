extension ListenerHub {
  /// Binds on the main actor for as long as `owner` lives, a screen for instance: held weakly, handed to the action.
  ///
  /// - Parameters:
  ///   - name: Replaces the listener that has it in this topic.
  ///   - topic: What to listen to.
  ///   - place: `.main`.
  ///   - owner: The listener ends with it.
  ///   - action: Called on the main actor with the owner and the part of each round.
  /// - Returns: a token that unbinds; releasing it does nothing.
  @discardableResult
  public func bind<Owner: AnyObject & Sendable>(
    _ name: String, to topic: Topic, on place: MainActorPlace, owner: Owner,
    _ action: @escaping @MainActor @Sendable (Owner, Content) throws -> Void
  ) -> Disposable {
    bind(name, to: topic, on: .mainActor, owner: owner) { owner, part in
      try MainActor.assumeIsolated { try action(owner, part) }
    }
  }

  /// Binds on the main actor without a name, for as long as the token lives.
  ///
  /// - Parameters:
  ///   - topic: What to listen to.
  ///   - place: `.main`.
  ///   - action: Called on the main actor with the part of each round.
  /// - Returns: the token: releasing it unbinds.
  public func bind(
    to topic: Topic, on place: MainActorPlace, _ action: @escaping @MainActor @Sendable (Content) throws -> Void
  ) -> Disposable {
    bind(to: topic, on: .mainActor) { part in try MainActor.assumeIsolated { try action(part) } }
  }
}

extension Signal {
  /// Calls `action` on the main actor with values, failures and the end.
  ///
  /// The present value of a listenable comes before this returns, unless the signal is made from several.
  ///
  /// - Parameters:
  ///   - place: `.main`.
  ///   - action: Called on the main actor with the events, in order.
  /// - Returns: the token: releasing it ends the subscription.
  @MainActor public func subscribeToEvents(
    on place: MainActorPlace, _ action: @escaping @MainActor @Sendable (Event) throws -> Void
  ) -> Disposable {
    attach(ListeningTerms(place: .mainActor, isOnPlace: true)) { event in
      try MainActor.assumeIsolated { try action(event) }
    }
  }
}
