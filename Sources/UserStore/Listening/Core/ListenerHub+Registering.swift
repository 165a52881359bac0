/// A listener that a token can remove.
@usableFromInline struct ListenerRemoval: Sendable {
  let remover: ListenerRemover
  let registration: Registration
}

/// Removes listeners of a hub, which it holds weakly, so that tokens do not keep the hub.
///
/// All tokens of a hub share it: a weak reference in each of them would take more memory and time.
@usableFromInline final class ListenerRemover: Sendable {
  let remove: @Sendable (Registration) -> Void

  init(_ remove: @escaping @Sendable (Registration) -> Void) {
    self.remove = remove
  }
}

extension ListenerHub {
  typealias FirstValue = ListenerConditions.FirstValue

  /// Registers a listener for the next rounds, or for the rounds after a later position.
  @discardableResult
  func register(
    _ name: String?, to topic: Topic, on place: DeliveryPlace, owner: (any AnyObject & Sendable)?,
    keepsValue: Bool = false, after position: Int128 = .min,
    onEnd: ListenerConditions.OnEnd? = nil, _ action: Content.Action
  ) -> ListenerRemoval {
    if let actor = place.actorOfLatest {
      let latest = LatestDelivery(on: actor, owner: owner, name: name, handleError: handleError) { try action($0) }
      return register(
        name, to: topic, on: .inline, owner: owner, keepsValue: keepsValue, after: position,
        onEnd: onEnd.map { end in { @Sendable in latest.end(end) } }, Content.Action { latest.send($0) })
    }
    let options = Registry.Options(place: place, owner: owner, keepsValue: keepsValue, onEnd: onEnd)
    let (binding, isOver, remover) = state.withLock { state in
      let start = max(position, state.lastStarted)
      let binding = state.registry.bind(name, to: topic, options, startsAfter: start, action: action)
      return (binding, state.isOver, sharedRemover(&state))
    }
    if isOver { endIfOver(binding.registration) }
    if owner != nil { sweepIfDue() }
    return ListenerRemoval(remover: remover, registration: binding.registration)
  }

  /// Registers a listener, and delivers a first value in the order of the queue: no round comes before it, and none is missed.
  ///
  /// Where no round can run at the same time, on the delivering thread or on the listener's actor, it is delivered at once.
  func register(
    _ name: String?, to topic: Topic, _ terms: ListeningTerms, first: FirstValue, _ action: Content.Action
  ) -> ListenerRemoval {
    let startsAtOnce = terms.isOnPlace || (terms.place.actor == nil && DeliveryThread.current.isInside(self))
    let options = Registry.Options(
      place: terms.place, owner: terms.owner, first: startsAtOnce ? nil : first, onEnd: terms.onEnd)
    let (binding, ticket, remover) = state.withLock { state in
      let start = startsAtOnce ? state.lastStarted : .max
      let binding = state.registry.bind(name, to: topic, options, startsAfter: start, action: action)
      return (binding, startsAtOnce ? nil : state.queue.append(.first(binding.registration)), sharedRemover(&state))
    }
    if startsAtOnce { deliverAtOnce(first, to: binding.registration) } else { deliver(through: ticket) }
    if terms.owner != nil { sweepIfDue() }
    return ListenerRemoval(remover: remover, registration: binding.registration)
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
    guard let actor = terms.place.actorOfLatest else {
      return bind(name, to: topic, terms, after: position, FirstValue(read: read, action: action), onRound(action))
    }
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
    var inline = terms
    inline.place = .inline
    inline.onEnd = terms.onEnd.map { end in { @Sendable in latest.end(end) } }
    let send: SignalAction = { if case .success = $0.content { latest.send($0) } }
    let first = FirstValue(read: read, action: terms.isOnPlace ? inOrder : send)
    return bind(name, to: topic, inline, after: position, first, onRound(send))
  }

  private func bind(
    _ name: String?, to topic: Topic, _ terms: ListeningTerms, after position: Int128, _ first: FirstValue,
    _ action: Content.Action
  ) -> ListenerRemoval {
    if terms.fires { return register(name, to: topic, terms, first: first, action) }
    return register(
      name, to: topic, on: terms.place, owner: terms.owner, after: position, onEnd: terms.onEnd, action)
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

  /// Returns the remover of this hub, which is created on first use.
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
  var all: [(name: String?, topic: Topic, calls: Int)] {
    removeReleased()
    // Listeners on an actor stay in the registry until they have received there what was queued before the end.
    let slots = state.withLock { $0.isOver ? [] : $0.registry.inOrder.map(\.slot) }
    return slots.filter { !$0.listener.keepsValue }.map { ($0.listener.name, $0.listener.topic, $0.calls) }
  }
}
