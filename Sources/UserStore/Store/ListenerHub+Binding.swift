extension ListenerHub {
  /// Calls `action` for every round from the next one on, until the name is bound again or unbound.
  ///
  /// - Parameters:
  ///   - name: Whoever binds the same name to the same topic again replaces this listener and takes its place.
  ///   - topic: What to listen to.
  ///   - place: Where `action` is called.
  ///   - action: Gets the part of each round that belongs to the topic, once a round, in commit order, under no lock.
  ///     It may write, bind and unbind. What it throws goes to the hub's error handler.
  /// - Returns: a token that unbinds; releasing it does nothing.
  @discardableResult
  public func bind(
    _ name: String, to topic: Topic, on place: DeliveryPlace = .inline,
    _ action: @escaping @Sendable (Content) throws -> Void
  ) -> Disposable {
    listen(name, to: topic, on: place, owner: nil, action)
  }

  /// The same on the main actor.
  ///
  /// - Parameters:
  ///   - name: Replaces the listener that has it in this topic.
  ///   - topic: What to listen to.
  ///   - place: `.main`.
  ///   - action: Called on the main actor.
  /// - Returns: a token that unbinds; releasing it does nothing.
  @discardableResult
  public func bind(
    _ name: String, to topic: Topic, on place: MainActorPlace,
    _ action: @escaping @MainActor @Sendable (Content) throws -> Void
  ) -> Disposable {
    listen(name, to: topic, on: .mainActor, owner: nil) { part in
      try MainActor.assumeIsolated { try action(part) }
    }
  }

  /// Binds for as long as `owner` lives; it is held weakly, and handed to the action.
  ///
  /// - Parameters:
  ///   - name: Replaces the listener that has it in this topic.
  ///   - topic: What to listen to.
  ///   - place: Where `action` is called.
  ///   - owner: The listener ends with it.
  ///   - action: Called with the owner and the part of the round.
  /// - Returns: a token that unbinds; releasing it does nothing.
  @discardableResult
  public func bind<Owner: AnyObject & Sendable>(
    _ name: String, to topic: Topic, on place: DeliveryPlace = .inline, owner: Owner,
    _ action: @escaping @Sendable (Owner, Content) throws -> Void
  ) -> Disposable {
    listen(name, to: topic, on: place, owner: owner) { [weak owner] part in
      if let owner { try action(owner, part) }
    }
  }

  /// Binds without a name, for as long as the token lives.
  ///
  /// - Parameters:
  ///   - topic: What to listen to.
  ///   - place: Where `action` is called.
  ///   - action: Called with the part of each round.
  /// - Returns: the token: releasing it unbinds.
  public func bind(
    to topic: Topic, on place: DeliveryPlace = .inline, _ action: @escaping @Sendable (Content) throws -> Void
  ) -> Disposable {
    listen(nil, to: topic, on: place, owner: nil, action)
  }

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

  /// Ends a named listener now, also for the round in flight.
  ///
  /// A name that nobody has is no error.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - topic: Where it is bound.
  @specialized(where Content == ChangeSet)
  public func unbind(_ name: String, from topic: Topic) {
    remove(name, from: topic)
  }

  /// Ends all listeners.
  public func unbindAll() {
    let removed = state.withLock { $0.registry.removeAll() }
    _ = removed
  }

  /// What all of them do.
  ///
  /// Compiled for the hub of a store: whoever binds has only the generic code of another module, which took ten times as
  /// long.
  @specialized(where Content == ChangeSet)
  private func listen(
    _ name: String?, to topic: Topic, on place: DeliveryPlace, owner: (any AnyObject & Sendable)?,
    _ action: @escaping @Sendable (Content) throws -> Void
  ) -> Disposable {
    register(name, to: topic, on: place, owner: owner, action)
  }
}
