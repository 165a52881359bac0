/// The current value of a topic, updated by each round of the hub.
///
/// It receives each round before all listeners, so that every listener reads the new value.
final class HubValue<Content: Routable>: Sendable {
  /// A value, and the last round that it includes: a later round than the one that is delivered if the value was read again.
  struct Decoded: Sendable {
    let value: ErasedValue
    let through: Int128
  }

  /// Gets the value from a round; nil if the round does not change it.
  ///
  /// `isOutdated` is whether a later round, which will be delivered too, has replaced the value: then there is no need to read it
  /// again. An error goes to the hub's error handler, and the fallback, if there is one, becomes the value.
  typealias Decode = @Sendable (Content, _ isOutdated: Bool) throws -> Decoded?

  private let hub: ListenerHub<Content>
  private let topic: Content.Topic
  private let decode: Decode
  private let fallback: ErasedValue?
  private let stored: StoredValueOfTopic
  private let registration: SubscriptionToken

  /// Registers with the hub, then calls `read` for the value and its position; in this order no round is missed.
  init<Failure: Error>(
    hub: ListenerHub<Content>, topic: Content.Topic, fallback: ErasedValue?, decode: @escaping Decode,
    read: () throws(Failure) -> Decoded
  ) throws(Failure) {
    let stored = StoredValueOfTopic()
    let update = Content.Action { content in
      do {
        guard let decoded = try decode(content, false) else { return }
        stored.store(decoded.value, at: content.position, through: max(content.position, decoded.through))
      } catch {
        // The error is reported once, here; the listeners receive the fallback.
        if let fallback { stored.store(fallback, at: content.position, through: content.position) }
        throw error
      }
    }
    registration = SubscriptionToken(
      hub.register(nil, to: topic, on: .inline, owner: nil, keepsValue: true, update))
    self.hub = hub
    self.topic = topic
    self.decode = decode
    self.fallback = fallback
    self.stored = stored
    let first = try read()
    stored.store(first.value, at: first.through, through: first.through)
  }

  /// The functions of a listenable for this value.
  var backing: ListenableBacking {
    ListenableBacking(
      value: { self.stored.current.value },
      names: { self.hub.names(of: self.topic) },
      handleError: hub.handleError,
      bind: { self.bind($0, $1, $2) },
      unbind: { self.hub.remove($0, from: self.topic) })
  }

  private func bind(_ name: String?, _ terms: ListeningTerms, _ action: @escaping SignalAction) -> ListenerRemoval {
    // The closure holds this object until the first value is delivered.
    hub.bind(
      name, to: topic, terms, after: stored.current.through,
      reading: {
        let entry = self.stored.current
        return (entry.value, entry.through)
      }, action, onRound: onRound)
  }

  private func onRound(_ action: @escaping SignalAction) -> Content.Action {
    let call: @Sendable (ErasedValue, Int128) throws -> Void = {
      try action(SignalRound(position: $1, content: .success($0)))
    }
    return Content.Action { [decode, fallback, stored, handleError = hub.handleError] content in
      switch stored.meaning(of: content.position) {
      case .value(let value): try call(value, content.position)
      case .included: break
      case .unknown(let isOutdated):
        let decoded: Decoded?
        do { decoded = try decode(content, isOutdated) } catch {
          // `store` succeeds if no `HubValue` has received the round, because it was released: then the first listener reports
          // the error.
          if let fallback, stored.store(fallback, at: content.position, through: content.position) {
            handleError(nil, error)
          }
          decoded = fallback.map { Decoded(value: $0, through: content.position) }
        }
        guard let decoded else { return }
        if decoded.through > content.position {
          stored.store(decoded.value, at: content.position, through: decoded.through)
        }
        try call(decoded.value, content.position)
      }
    }
  }
}

/// The value as of a round; replaced only by values of later rounds.
private final class StoredValueOfTopic: Sendable {
  struct Entry {
    let value: ErasedValue
    /// The round that set it.
    let position: Int128
    /// The last round that it includes.
    let through: Int128
  }

  /// What a round is for the listeners.
  enum Meaning {
    case value(ErasedValue)
    /// The listeners have received the content of this round, in a value that was read again.
    case included
    /// Not stored: the `HubValue` was released, or later rounds have replaced the value.
    case unknown(isOutdated: Bool)
  }

  private let state: Lock<Entry?> = Lock(nil)

  var current: Entry {
    guard let current = state.withLock({ $0 }) else {
      preconditionFailure("the initializer stores the first value")
    }
    return current
  }

  func meaning(of position: Int128) -> Meaning {
    state.withLock { entry in
      guard let entry else { return .unknown(isOutdated: false) }
      if entry.position == position { return .value(entry.value) }
      if entry.position < position, position <= entry.through { return .included }
      return .unknown(isOutdated: entry.position > position)
    }
  }

  /// Stores a value, unless the present one includes its rounds, and returns whether it did.
  @discardableResult
  func store(_ value: ErasedValue, at position: Int128, through: Int128) -> Bool {
    // Swapped, so that the old value is released under no lock: its deinitializer may read the current value.
    var other: Entry? = Entry(value: value, position: position, through: through)
    return state.withLock { entry in
      if let entry, entry.through >= through, entry.through >= position { return false }
      swap(&entry, &other)
      return true
    }
  }
}
