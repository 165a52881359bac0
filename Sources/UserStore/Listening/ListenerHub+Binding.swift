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
    register(name, to: topic, on: place, owner: nil, action)
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
    register(name, to: topic, on: .actor(MainActor.shared), owner: nil) { part in
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
    register(name, to: topic, on: place, owner: owner) { [weak owner] part in
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
    register(nil, to: topic, on: place, owner: nil, action)
  }

  /// Ends a named listener now, also for the round in flight.
  ///
  /// A name that nobody has is no error.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - topic: Where it is bound.
  public func unbind(_ name: String, from topic: Topic) {
    let removed = state.withLock { $0.registry.remove(name, from: topic) }
    _ = removed
  }

  /// Ends all listeners.
  public func unbindAll() {
    let removed = state.withLock { $0.registry.removeAll() }
    _ = removed
  }

  // MARK: Parts

  func register(
    _ name: String?, to topic: Topic, on place: DeliveryPlace, owner: (any AnyObject & Sendable)?,
    keepsValue: Bool = false, after position: Int64 = .min, onEnd: Registry.OnEnd? = nil,
    _ action: @escaping Registry.Action
  ) -> Disposable {
    let (reference, registration, replaced) = state.withLock { state in
      state.registry.bind(
        name, to: topic, on: place.actor, owner: owner.map { WeakReference(object: $0) },
        startsAfter: max(position, state.begun), keepsValue: keepsValue, onEnd: onEnd, action: action)
    }
    _ = replaced
    endIfOver(reference, registration)
    return token(reference, registration, endsWithToken: name == nil)
  }

  /// Registers, and hands over a first value: in the queue's order, so that no round comes before it or is missed.
  func register(
    _ name: String?, to topic: Topic, on place: DeliveryPlace, owner: (any AnyObject & Sendable)?,
    first: FirstValue, onEnd: Registry.OnEnd? = nil, _ action: @escaping Registry.Action
  ) -> Disposable {
    let owner = owner.map { WeakReference(object: $0) }
    if DeliveryThread.current.hubs.contains(ObjectIdentifier(self)), case .inline = place {
      return registerAtOnce(name, to: topic, on: nil, owner: owner, first: first, onEnd: onEnd, action)
    }
    let (reference, registration, replaced, ticket) = state.withLock { state in
      let (reference, registration, replaced) = state.registry.bind(
        name, to: topic, on: place.actor, owner: owner, startsAfter: .max, first: first, onEnd: onEnd, action: action)
      let ticket = state.queue.append(.first(reference, registration: registration))
      return (reference, registration, replaced, ticket)
    }
    _ = replaced
    deliver(through: ticket)
    return token(reference, registration, endsWithToken: name == nil)
  }

  /// Registers and calls right here.
  ///
  /// Only where no round can run at the same time: by the thread that delivers, or on the actor that the listener's
  /// calls are made on.
  func registerAtOnce(
    _ name: String?, to topic: Topic, on actor: (any Actor)?, owner: WeakReference?, first: FirstValue,
    onEnd: Registry.OnEnd? = nil, _ action: @escaping Registry.Action
  ) -> Disposable {
    let (reference, registration, replaced) = state.withLock { state in
      state.registry.bind(
        name, to: topic, on: actor, owner: owner, startsAfter: state.begun, onEnd: onEnd, action: action)
    }
    // After it has registered: what a round brings from here on is in the value, or is still to be called.
    let (value, position) = first.read()
    let call = state.withLock { state in
      state.registry.start(reference, registration: registration, after: position)
    }
    _ = replaced
    if let call {
      perform(call.traits, DeliveryThread.current.calling?.cascade ?? Cascade()) { try first.handOver(value) }
    }
    endIfOver(reference, registration)
    DeliveryThread.current.runDeferred()
    return token(reference, registration, endsWithToken: name == nil)
  }

  /// Who comes too late is told at once that nothing comes any more.
  func endIfOver(_ reference: Registry.Reference, _ registration: Int) {
    guard state.withLock({ $0.isOver }) else { return }
    endInPlace(reference, registration)
    DeliveryThread.current.runDeferred()
  }

  private func token(_ reference: Registry.Reference, _ registration: Int, endsWithToken: Bool) -> Disposable {
    // Listeners to topics of which nothing is heard any more would otherwise outlive their owners for ever.
    if state.withLock({ $0.registry.isSweepDue }) { removeOver() }
    return Disposable(endsWithToken: endsWithToken) { [weak self] in
      self?.remove(reference, registration: registration)
    }
  }
}

extension DeliveryPlace {
  var actor: (any Actor)? {
    switch self {
    case .inline: nil
    case .actor(let actor): actor
    }
  }
}
