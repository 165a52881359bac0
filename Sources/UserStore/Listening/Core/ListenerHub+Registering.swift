/// Removes a listener, unless it was replaced or removed before.
@usableFromInline typealias ListenerRemoval = @Sendable () -> Void

extension ListenerHub {
  typealias FirstValue = ListenerConditions.FirstValue

  /// Registers a listener for the next rounds, or for the rounds after a later position.
  @discardableResult
  func register(
    _ name: String?, to topic: Topic, on place: DeliveryPlace, owner: (any AnyObject & Sendable)?,
    keepsValue: Bool = false, after position: Int128 = .min, holdsHub: Bool = false,
    onEnd: ListenerConditions.OnEnd? = nil, _ action: Content.Action
  ) -> ListenerRemoval {
    if let actor = place.actorOfLatest {
      let latest = LatestDelivery(on: actor, owner: owner, name: name, handleError: handleError) { try action($0) }
      return register(
        name, to: topic, on: .inline, owner: owner, keepsValue: keepsValue, after: position, holdsHub: holdsHub,
        onEnd: onEnd.map { end in { @Sendable in latest.end(end) } }, Content.Action { latest.send($0) })
    }
    let options = Registry.Options(
      place: place, owner: owner.map { WeakReference(object: $0) }, keepsValue: keepsValue, onEnd: onEnd)
    let (binding, isOver) = state.withLock { state in
      let start = max(position, state.lastStarted)
      return (state.registry.bind(name, to: topic, options, startsAfter: start, action: action), state.isOver)
    }
    if isOver { endIfOver(binding.registration) }
    return removal(of: binding.registration, isOwned: owner != nil, holdsHub: holdsHub)
  }

  /// Registers a listener, and delivers a first value in the order of the queue: no round comes before it, and none is missed.
  ///
  /// Where no round can run at the same time, on the delivering thread or on the listener's actor, it is delivered at once.
  func register(
    _ name: String?, to topic: Topic, _ terms: ListeningTerms, first: FirstValue, _ action: Content.Action
  ) -> ListenerRemoval {
    let startsAtOnce = terms.isOnPlace || (terms.place.actor == nil && DeliveryThread.current.isInside(self))
    let options = Registry.Options(
      place: terms.place, owner: terms.owner.map { WeakReference(object: $0) }, first: startsAtOnce ? nil : first,
      onEnd: terms.onEnd)
    let (binding, ticket) = state.withLock { state in
      let start = startsAtOnce ? state.lastStarted : .max
      let binding = state.registry.bind(name, to: topic, options, startsAfter: start, action: action)
      return (binding, startsAtOnce ? nil : state.queue.append(.first(binding.registration)))
    }
    if startsAtOnce { deliverAtOnce(first, to: binding.registration) } else { deliver(through: ticket) }
    return removal(of: binding.registration, isOwned: terms.owner != nil)
  }

  private func deliverAtOnce(_ first: FirstValue, to registration: Registration) {
    // Read after the registration: later rounds are in the value already, or the listener is still called for them.
    let (value, position) = first.read()
    let listener = state.withLock { $0.registry.start(registration, after: position) }
    if let listener {
      call(listener, DeliveryThread.current.calling?.cascade) { try first.deliver(value) }
    }
    endIfOver(registration)
    DeliveryThread.current.runDeferred()
  }

  private func removal(of registration: Registration, isOwned: Bool, holdsHub: Bool = false) -> ListenerRemoval {
    // Without this, listeners of topics that get no more rounds would stay forever after their owners.
    if isOwned, state.withLock({ $0.registry.isSweepDue }) { removeReleased() }
    if holdsHub { return { self.remove(registration) } }
    return { [weak self] in self?.remove(registration) }
  }

  // MARK: Removing

  /// Removes a listener if it is still registered, and releases it under no lock.
  func remove(_ registration: Registration) {
    let removed = state.withLock { $0.registry.remove(registration) }
    withExtendedLifetime(removed) {}
  }

  /// Removes a named listener if it exists, and releases it under no lock.
  func remove(_ name: String, from topic: Topic) {
    let removed = state.withLock { $0.registry.remove(name, from: topic) }
    withExtendedLifetime(removed) {}
  }

  /// Removes all listeners, and releases them under no lock.
  func removeAll() {
    let removed = state.withLock { $0.registry.removeAll() }
    withExtendedLifetime(removed) {}
  }

  /// Removes the listeners whose owner was released.
  private func removeReleased() {
    for (registration, listener) in state.withLock({ $0.registry.withOwner })
    where listener.conditions?.owner?.object == nil {
      remove(registration)
    }
    state.withLock { $0.registry.recordSweep() }
  }

  /// Moves the named listeners to another hub, in the order of calls; they must be called inline and have no owner.
  ///
  /// If `replaces` is true, a moved listener replaces the one that has its name and topic there; otherwise it is removed.
  func moveNamedListeners(to other: ListenerHub, replacing replaces: Bool) {
    for listener in state.withLock({ $0.registry.inOrder.map(\.slot.listener) }) {
      guard let name = listener.name else { continue }
      assert(listener.conditions == nil, "only a listener that is called inline and has no owner can move")
      let isBound = other.names(of: listener.topic).contains(name)
      remove(name, from: listener.topic)
      if replaces || !isBound { other.register(name, to: listener.topic, on: .inline, owner: nil, listener.action) }
    }
  }

  // MARK: Listing

  /// The number of listeners; those whose owner was released are not counted.
  var count: Int { all.count }

  /// The names of all listeners, in the order of calls.
  var names: [String] { all.compactMap(\.name) }

  /// The names that are bound to a topic, in the order of calls.
  func names(of topic: Topic) -> [String] { all.filter { $0.topic == topic }.compactMap(\.name) }

  /// All listeners in the order of calls; none after the hub has ended.
  ///
  /// The number of calls includes those of listeners that had the name before.
  var all: [(name: String?, topic: Topic, calls: Int, lastPosition: Int128?)] {
    removeReleased()
    // Listeners on an actor stay in the registry until they have received there what was queued before the end.
    let slots = state.withLock { $0.isOver ? [] : $0.registry.inOrder.map(\.slot) }
    return slots.filter { !$0.listener.keepsValue }.map {
      ($0.listener.name, $0.listener.topic, $0.calls, $0.lastPosition)
    }
  }
}
