extension ListenerHub {
  typealias FirstValue = ListenerConditions.FirstValue

  /// Registers a listener for the next rounds, or for the rounds after a later position.
  ///
  /// A first value is delivered in the order of the queue: no round comes before it, and none is missed. Where no round can run
  /// at the same time, on the delivering thread or on the listener's actor, it is delivered at once.
  @discardableResult
  func register(
    _ name: String?, to topic: Topic, on place: DeliveryPlace, owner: (any AnyObject & Sendable)?,
    keepsValue: Bool = false, after position: Int128 = .min, first: FirstValue? = nil, isOnPlace: Bool = false,
    onEnd: ListenerConditions.OnEnd? = nil, _ action: Content.Action
  ) -> ListenerRemoval {
    if let actor = place.actorOfLatest {
      let latest = LatestDelivery(on: actor, owner: owner, name: name, handleError: handleError) { try action($0) }
      return register(
        name, to: topic, on: .inline, owner: owner, keepsValue: keepsValue, after: position,
        onEnd: onEnd.map { end in { @Sendable in latest.end(end) } }, Content.Action { latest.send($0) })
    }
    let startsAtOnce =
      first != nil && (isOnPlace || (place.actor == nil && DeliveryThread.current.isInside(self)))
    let queued = startsAtOnce ? nil : first
    let (registration, replaced, ticket, isOver, remover) = state.withLock { state in
      let start = queued == nil ? max(position, state.lastStarted) : .max
      let (registration, replaced) = state.registry.bind(
        name, to: topic, on: place, owner: owner, keepsValue: keepsValue, first: queued, onEnd: onEnd,
        startsAfter: start, action)
      let ticket = queued == nil ? nil : state.queue.append(.first(registration))
      return (registration, replaced, ticket, state.isOver, sharedRemover(&state))
    }
    withExtendedLifetime(replaced) {}
    if let first, startsAtOnce {
      deliverAtOnce(first, to: registration)
    } else if queued != nil {
      deliver(through: ticket)
    } else if isOver {
      endIfOver(registration)
    }
    if owner != nil { sweepIfDue() }
    return ListenerRemoval(remover: remover, registration: registration)
  }

  /// Registers a listener of values.
  ///
  /// It starts after `position`, or receives the current value first, which `read` returns with its position. `onRound` makes the
  /// closure that calls an action with the values and the failures of rounds.
  func bind(
    _ name: String?, to topic: Topic, _ terms: ListeningTerms, after position: Int128 = .min,
    reading read: @escaping @Sendable () -> (value: ErasedValue, position: Int128),
    _ action: @escaping SignalAction, onRound: (@escaping SignalAction) -> Content.Action
  ) -> ListenerRemoval {
    var (place, end, send, first) = (terms.place, terms.onEnd, action, action)
    if let actor = place.actorOfLatest {
      // A first value that is delivered at once may be newer than one that waits for the actor.
      let last = Lock<Int128?>(nil)
      let inOrder: SignalAction = { round in
        let isLater = last.withLock { last in
          if let last, round.position <= last { return false }
          last = round.position
          return true
        }
        if isLater { try action(round) }
      }
      let latest = LatestDelivery(on: actor, owner: terms.owner, name: name, handleError: handleError, inOrder)
      place = .inline
      end = terms.onEnd.map { end in { @Sendable in latest.end(end) } }
      send = { if case .success = $0.content { latest.send($0) } }
      first = terms.isOnPlace ? inOrder : send
    }
    return register(
      name, to: topic, on: place, owner: terms.owner, after: terms.fires ? .min : position,
      first: terms.fires ? FirstValue(read: read, action: first) : nil, isOnPlace: terms.isOnPlace, onEnd: end,
      onRound(send))
  }

  private func deliverAtOnce(_ first: FirstValue, to registration: Registration) {
    // Read after the registration: later rounds are in the value already, or the listener is still called for them.
    let (value, position) = first.read()
    let listener = state.withLock { $0.registry.start(registration, after: position) }
    if let listener {
      call(listener, DeliveryThread.current.calling?.cascade) { try first.deliver(value, at: position) }
    }
    endIfOver(registration)
    DeliveryThread.current.runDeferred()
  }

  private func sharedRemover(_ state: inout State) -> ListenerRemover {
    if let remover = state.remover { return remover }
    let remover = ListenerRemover { [weak self] in self?.remove($0) }
    state.remover = remover
    return remover
  }

  /// Removes the listeners of released owners once there may be many: on topics that get no more rounds they would stay forever.
  private func sweepIfDue() {
    if state.withLock({ $0.registry.isSweepDue }) { removeReleased() }
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

  private func removeReleased() {
    for (registration, slot) in state.withLock({ $0.registry.occupied }) {
      if let owner = slot.listener.conditions?.owner, owner.object == nil { remove(registration) }
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

  var names: [String] { all.compactMap(\.name) }

  /// The names that are bound to a topic, in the order of calls.
  func names(of topic: Topic) -> [String] { all.filter { $0.topic == topic }.compactMap(\.name) }

  /// All listeners in the order of calls; none after the hub has ended.
  ///
  /// The number of calls includes those of listeners that had the name before.
  var all: [(name: String?, topic: Topic, calls: Int)] {
    removeReleased()
    // Listeners on an actor stay in the registry until they have received there what was queued before the end.
    let slots = state.withLock { $0.isOver ? [] : $0.registry.inOrder.map(\.slot) }
    return slots.filter { !$0.listener.keepsValue }.map { ($0.listener.name, $0.listener.topic, $0.calls) }
  }
}
