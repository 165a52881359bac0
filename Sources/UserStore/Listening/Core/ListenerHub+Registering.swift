extension ListenerHub {
  typealias FirstValue = ListenerConditions.FirstValue

  @discardableResult
  func register(
    _ name: String?, to topic: Topic, on place: DeliveryPlace, owner: (any AnyObject & Sendable)?,
    keepsValue: Bool = false, after position: Int128 = .min, holdsHub: Bool = false,
    onEnd: ListenerConditions.OnEnd? = nil,
    _ action: Content.Action
  ) -> ListenerRemoval {
    let options = Registry.Options(
      place: place.actor, owner: owner.map { WeakReference(object: $0) }, keepsValue: keepsValue, onEnd: onEnd)
    let (binding, isOver) = state.withLock { state in
      let start = max(position, state.begun)
      return (state.registry.bind(name, to: topic, options, startsAfter: start, action: action), state.isOver)
    }
    if isOver { endIfOver(binding) }
    return removal(of: binding, isOwned: owner != nil, holdsHub: holdsHub)
  }

  /// Registers a listener, and delivers a first value in the order of the queue: no round comes before it, and none is missed.
  @discardableResult
  func register(
    _ name: String?, to topic: Topic, on place: DeliveryPlace, owner: (any AnyObject & Sendable)?,
    first: FirstValue, onEnd: ListenerConditions.OnEnd? = nil, _ action: Content.Action
  ) -> ListenerRemoval {
    let owner = owner.map { WeakReference(object: $0) }
    if DeliveryThread.current.isInside(self), case .inline = place {
      return registerAtOnce(name, to: topic, on: nil, owner: owner, first: first, onEnd: onEnd, action)
    }
    let options = Registry.Options(place: place.actor, owner: owner, first: first, onEnd: onEnd)
    let (binding, ticket) = state.withLock { state in
      let binding = state.registry.bind(name, to: topic, options, startsAfter: .max, action: action)
      return (binding, state.queue.append(.first(binding.reference, registration: binding.registration)))
    }
    deliver(through: ticket)
    return removal(of: binding, isOwned: owner != nil)
  }

  /// Registers a listener, and delivers its first value on the calling thread.
  ///
  /// Only where no round can run at the same time: on the thread that delivers, or on the actor that the listener is called
  /// on.
  func registerAtOnce(
    _ name: String?, to topic: Topic, on actor: (any Actor)?, owner: WeakReference?, first: FirstValue,
    onEnd: ListenerConditions.OnEnd? = nil, _ action: Content.Action
  ) -> ListenerRemoval {
    let options = Registry.Options(place: actor, owner: owner, onEnd: onEnd)
    let binding = state.withLock { state in
      state.registry.bind(name, to: topic, options, startsAfter: state.begun, action: action)
    }
    // Read after the registration: later rounds are in the value already, or the listener is still called for them.
    let (value, position) = first.read()
    let listener = state.withLock { state in
      state.registry.start(binding.reference, registration: binding.registration, after: position)
    }
    if let listener {
      call(listener, DeliveryThread.current.calling?.cascade) { try first.deliver(value) }
    }
    endIfOver(binding)
    DeliveryThread.current.runDeferred()
    return removal(of: binding, isOwned: owner != nil)
  }

  /// Ends a listener at once that was registered after the hub had ended.
  func endIfOver(_ reference: SlotReference, _ registration: Int) {
    guard state.withLock({ $0.isOver }) else { return }
    endInPlace(reference, registration)
    DeliveryThread.current.runDeferred()
  }

  private func endIfOver(_ binding: Registry.Binding) { endIfOver(binding.reference, binding.registration) }

  private func removal(
    of binding: Registry.Binding, isOwned: Bool, holdsHub: Bool = false
  ) -> ListenerRemoval {
    // Without this, listeners of topics that get no more rounds would stay for ever after their owners.
    if isOwned, state.withLock({ $0.registry.isSweepDue }) { removeOver() }
    let (reference, registration) = (binding.reference, binding.registration)
    if holdsHub { return { self.remove(reference, registration: registration) } }
    return { [weak self] in self?.remove(reference, registration: registration) }
  }
}

extension ListenerHub {
  /// Moves the named listeners to another hub, in the order of calls.
  ///
  /// Only for hubs whose named listeners are called inline and have no owner.
  ///
  /// - Parameters:
  ///   - other: Its listeners with other names stay.
  ///   - replaces: Whether a moved listener replaces one that has its name and topic there; otherwise it ends.
  func moveNamedListeners(to other: ListenerHub, replacing replaces: Bool) {
    for listener in state.withLock({ $0.registry.inOrder.map(\.slot.listener) }) {
      guard let name = listener.name else { continue }
      assert(listener.conditions == nil, "only a listener that is called inline and has no owner can move")
      let isBound = other.names(of: listener.topic).contains(name)
      remove(name, from: listener.topic)
      if replaces || !isBound { other.register(name, to: listener.topic, on: .inline, owner: nil, listener.action) }
    }
  }
}

/// Removes a listener, unless it was replaced or removed before.
@usableFromInline typealias ListenerRemoval = @Sendable () -> Void
