/// The current value of a topic, which receives each round before all listeners, so that every listener reads the new value.
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
  private let stored: StoredValueOfTopic<Content>
  private let registration: SubscriptionToken

  /// Registers with the hub, then calls `read` for the value and its position; in this order no round is missed.
  init<Failure: Error>(
    hub: ListenerHub<Content>, topic: Content.Topic, fallback: ErasedValue?, decode: @escaping Decode,
    read: () throws(Failure) -> Decoded
  ) throws(Failure) {
    let stored = StoredValueOfTopic<Content>()
    let follow: @Sendable (Content) throws -> Void = { content in
      do { stored.store(try decode(content, false), at: content.position) } catch {
        // The error is reported once, here; the listeners receive the fallback.
        if let fallback { stored.store(Decoded(value: fallback, through: content.position), at: content.position) }
        throw error
      }
    }
    registration = SubscriptionToken(
      hub.register(
        nil, to: topic, on: .inline, owner: nil, keepsValue: true,
        Content.Action { content in
          if let content = stored.receive(content) { try follow(content) }
        }))
    self.hub = hub
    self.topic = topic
    self.decode = decode
    self.fallback = fallback
    self.stored = stored
    let first = try read()
    stored.store(first, at: first.through)
    while let rounds = stored.next() {
      for round in rounds { do { try follow(round) } catch { hub.handleError(nil, error) } }
    }
  }

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
      let position = content.position
      switch stored.meaning(of: content) {
      case .value(let value): try call(value, position)
      case .included: break
      case .unknown(let content, let isOutdated):
        let decoded: Decoded?
        do { decoded = try decode(content, isOutdated) } catch {
          decoded = fallback.map { Decoded(value: $0, through: position) }
          // `store` succeeds if no `HubValue` has received the round, because it was released: then the first listener reports
          // the error.
          if let decoded, stored.store(decoded, at: position) { handleError(nil, error) }
        }
        guard let decoded else { return }
        if decoded.through > position { stored.store(decoded, at: position) }
        try call(decoded.value, position)
      }
    }
  }
}

/// The value as of a round; replaced only by values of later rounds.
private final class StoredValueOfTopic<Content: Routable>: Sendable {
  typealias Decoded = HubValue<Content>.Decoded

  enum Meaning {
    case value(ErasedValue)
    /// The listeners have received the content of this round, in a value that was read.
    case included
    /// Not stored: the `HubValue` was released, or later rounds have replaced the value. The content is the part that was not read.
    case unknown(Content, isOutdated: Bool)
  }

  private struct State {
    var progress = CatchUp<Content>()
    /// The value, and the round that set it; nil before the first read.
    var entry: (value: ErasedValue, position: Int128)?
    /// The rounds for which the value was read, and the places of the reads, which may be within later rounds: one for the start,
    /// and one for each discontinuity after which others have written.
    var reads: [(position: Int128, through: Int128)] = []
  }

  private let state = Lock(State())

  /// The value, and the last round that it includes.
  var current: (value: ErasedValue, through: Int128) {
    let (entry, through) = state.withLock { ($0.entry, $0.progress.through) }
    guard let entry else { preconditionFailure("the initializer stores the first value") }
    return (entry.value, through)
  }

  func receive(_ content: Content) -> Content? { state.withLock { $0.progress.receive(content) } }

  func next() -> [Content]? { state.withLock { $0.progress.next() } }

  func meaning(of content: Content) -> Meaning {
    let position = content.position
    return state.withLock { state in
      guard let entry = state.entry else { return .unknown(content, isOutdated: false) }
      if entry.position == position { return .value(entry.value) }
      // A listener on an actor may be at a round before the last read.
      let read = state.reads.last { $0.position < position }
      let rest = read.map { content.dropping(through: $0.through) } ?? content
      guard let rest, position <= entry.position || position > state.progress.through else { return .included }
      return .unknown(rest, isOutdated: entry.position > position)
    }
  }

  /// Stores the value of a round, or that the round has none, unless the present value includes the round; returns whether it did.
  @discardableResult
  func store(_ decoded: Decoded?, at position: Int128) -> Bool {
    let through = max(position, decoded?.through ?? position)
    // Swapped, so that the old value is released under no lock: its deinitializer may read the current value.
    var other = decoded.map { (value: $0.value, position: position) }
    return state.withLock { state in
      if state.entry != nil, state.progress.through >= through { return false }
      if through > position || state.entry == nil { state.reads.append((position, through)) }
      state.progress.advance(through: through)
      if other != nil { swap(&state.entry, &other) }
      return true
    }
  }
}
