/// Holds a hub for its receivers, and ends it when the last one is released.
///
///     Listenable, Signal, Observers, tokens ──▶ SignalReceiver ──▶ hub ◀── SignalSource
///
/// A source must not keep what its listeners hold alive. It could hold the hub weakly instead, but a weak reference took a third
/// of the time of a call of one listener.
@usableFromInline final class SignalReceiver: Sendable {
  @usableFromInline let hub: SignalHub

  @usableFromInline init(_ hub: SignalHub) { self.hub = hub }

  @usableFromInline convenience init(reportingTo onError: ListenerErrors.Handler?) {
    self.init(SignalHub(onError: onError ?? ListenerErrors.print))
  }

  deinit {
    // No one can read the value any more. It is released under no lock.
    let kept = hub.state.withLock { $0.kept.take() }
    withExtendedLifetime(kept) {}
    // Named listeners receive what was sent before.
    hub.end(waits: false)
  }

  /// Registers a listener without a name, whose token holds the receiver.
  @usableFromInline func listen(_ terms: ListeningTerms, _ action: @escaping SignalAction) -> SubscriptionToken {
    let removal = hub.register(
      nil, to: .all, on: terms.place, owner: nil, onEnd: terms.onEnd, SignalRound.Action(action))
    return SubscriptionToken { [registration = removal.registration] in self.hub.remove(registration) }
  }
}
