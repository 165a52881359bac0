/// The present value of a topic of a hub, kept current by the hub's rounds.
///
/// It hears each round before every listener, so that whoever is called finds the new value stored.
final class HubValue<Content: Routable>: Sendable {
  /// A value, and the last round that it knows of: later than the present one when it had to be read anew.
  struct Decoded: Sendable {
    let value: ErasedValue
    let through: Int128
  }

  /// The value that a round leaves; nil when the round says nothing of it.
  ///
  /// What it throws goes to the hub's error handler, and the fallback, if there is one, takes the value's place.
  typealias Decode = @Sendable (Content) throws -> Decoded?

  typealias Action = @Sendable (ErasedValue) throws -> Void

  /// Makes of an action on values one on rounds that have theirs ready: quicker than asking for what is stored.
  ///
  /// A round that is a failure goes to the other action.
  typealias Adapter = @Sendable (@escaping Action, ListeningTerms.OnFailure?) -> @Sendable (Content) throws -> Void

  private let hub: ListenerHub<Content>
  private let topic: Content.Topic
  private let decode: Decode
  private let fallback: ErasedValue?
  private let adapt: Adapter?
  private let stored: StoredValueOfTopic
  private let registration: SubscriptionToken

  /// Joins the hub, then calls `read` for the value and its position: in this order no round is missed.
  init<Failure: Error>(
    hub: ListenerHub<Content>, topic: Content.Topic, fallback: ErasedValue?, decode: @escaping Decode,
    adapt: Adapter? = nil, read: () throws(Failure) -> Decoded
  ) throws(Failure) {
    let stored = StoredValueOfTopic()
    let remove = hub.register(nil, to: topic, on: .inline, owner: nil, keepsValue: true) { content in
      do {
        guard let decoded = try decode(content) else { return }
        stored.store(decoded.value, at: content.position, through: max(content.position, decoded.through))
      } catch {
        // Told once, here; those who listen get the fallback.
        if let fallback { stored.store(fallback, at: content.position, through: content.position) }
        throw error
      }
    }
    registration = SubscriptionToken(remove)
    self.hub = hub
    self.topic = topic
    self.decode = decode
    self.fallback = fallback
    self.adapt = adapt
    self.stored = stored
    let first = try read()
    stored.store(first.value, at: first.through, through: first.through)
  }

  /// What a listenable needs of it.
  var backing: ListenableBacking {
    ListenableBacking(
      value: { self.stored.current.value },
      names: { self.hub.names(of: self.topic) },
      handleError: hub.handleError,
      bind: { self.bind($0, $1, $2) },
      unbind: { self.hub.remove($0, from: self.topic) })
  }

  private func bind(
    _ name: String?, _ terms: ListeningTerms, _ action: @escaping Action
  ) -> ListenerRemoval {
    guard terms.fires else {
      return hub.register(
        name, to: topic, on: terms.place, owner: terms.owner, after: stored.current.through, onEnd: terms.onEnd,
        onRound(action, terms))
    }
    let first = firstValue(action)
    guard terms.isOnPlace else {
      return hub.register(
        name, to: topic, on: terms.place, owner: terms.owner, first: first, onEnd: terms.onEnd,
        onRound(action, terms))
    }
    return hub.registerAtOnce(
      name, to: topic, on: terms.place.actor, owner: terms.owner.map { WeakReference(object: $0) }, first: first,
      onEnd: terms.onEnd, onRound(action, terms))
  }

  private func onRound(
    _ action: @escaping Action, _ terms: ListeningTerms
  ) -> @Sendable (Content) throws -> Void {
    if let adapt { return adapt(action, terms.onFailure) }
    return { [decode, fallback, stored] content in
      switch stored.meaning(of: content.position) {
      case .value(let value): try action(value)
      case .known: break
      case .unknown:
        let decoded: Decoded?
        do { decoded = try decode(content) } catch {
          decoded = fallback.map { Decoded(value: $0, through: content.position) }
        }
        guard let decoded else { return }
        if decoded.through > content.position {
          stored.store(decoded.value, at: content.position, through: decoded.through)
        }
        try action(decoded.value)
      }
    }
  }

  /// Keeps this object alive until the first value was handed over.
  private func firstValue(_ action: @escaping Action) -> ListenerHub<Content>.FirstValue {
    ListenerHub<Content>.FirstValue(
      read: {
        let entry = self.stored.current
        return (entry.value, entry.through)
      },
      deliver: action)
  }
}

/// The value as of a round; only ever replaced by what later rounds leave.
private final class StoredValueOfTopic: Sendable {
  struct Entry {
    let value: ErasedValue
    /// The round that gave it.
    let position: Int128
    /// The last round that it knows of.
    let through: Int128
  }

  /// What a round is to those who listen.
  enum Meaning {
    case value(ErasedValue)
    /// They have been given what it brings, with a value that was read anew.
    case known
    /// Not stored: nobody keeps the value any more, or others have followed.
    case unknown
  }

  private let state: Lock<Entry?> = Lock(nil)

  var current: Entry {
    guard let current = state.withLock({ $0 }) else {
      preconditionFailure("the initializer stores a value before anybody has the object")
    }
    return current
  }

  func meaning(of position: Int128) -> Meaning {
    state.withLock { entry in
      guard let entry else { return .unknown }
      if entry.position == position { return .value(entry.value) }
      return entry.position < position && position <= entry.through ? .known : .unknown
    }
  }

  func store(_ value: ErasedValue, at position: Int128, through: Int128) {
    // Swapped, so that the value before it is released under no lock: its deinitializer may ask for the present one.
    var other: Entry? = Entry(value: value, position: position, through: through)
    state.withLock { entry in
      if let entry, entry.through >= through, entry.through >= position { return }
      swap(&entry, &other)
    }
  }
}
