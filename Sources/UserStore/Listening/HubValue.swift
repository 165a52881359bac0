/// The present value of a topic of a hub, kept current by the hub's rounds.
///
/// It hears each round before every listener, so that whoever is called finds the new value stored.
final class HubValue<Content: Routable, Value: Sendable>: ListenableSource {
  /// A value, and the last round that it knows of: later than the present one when it had to be read anew.
  struct Decoded: Sendable {
    let value: Value
    let through: Int64
  }

  /// The value that a round leaves; nil when the round says nothing of it.
  ///
  /// What it throws goes to the hub's error handler, and the fallback, if there is one, takes the value's place.
  typealias Decode = @Sendable (Content) throws -> Decoded?

  private let hub: ListenerHub<Content>
  private let topic: Content.Topic
  private let decode: Decode
  private let fallback: Value?
  private let stored: Stored

  /// The value as of a round; only ever replaced by what later rounds leave.
  private final class Stored: Sendable {
    struct Entry {
      let value: Value
      /// The round that gave it.
      let position: Int64
      /// The last round that it knows of.
      let through: Int64
    }

    /// What a round is to those who listen.
    enum Meaning {
      case value(Value)
      /// They have been given what it brings, with a value that was read anew.
      case known
      /// Not stored: nobody keeps the value any more, or others have followed.
      case unknown
    }

    let state: Lock<Entry?> = Lock(nil)

    func meaning(of position: Int64) -> Meaning {
      state.withLock { entry in
        guard let entry else { return .unknown }
        if entry.position == position { return .value(entry.value) }
        return entry.position < position && position <= entry.through ? .known : .unknown
      }
    }

    func store(_ value: Value, at position: Int64, through: Int64) {
      state.withLock { entry in
        if let entry, entry.through >= through, entry.through >= position { return }
        entry = Entry(value: value, position: position, through: through)
      }
    }
  }

  /// A cast tells an optional value from its absence no longer; that of an object holds.
  private final class Box: Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }

  private let registration: Disposable

  /// Joins the hub, then calls `read` for the value and its position: in this order no round is missed.
  init<Failure: Error>(
    hub: ListenerHub<Content>, topic: Content.Topic, fallback: Value?, decode: @escaping Decode,
    read: () throws(Failure) -> Decoded
  ) throws(Failure) {
    let stored = Stored()
    registration = hub.register(nil, to: topic, on: .inline, owner: nil, keepsValue: true) { content in
      do {
        guard let decoded = try decode(content) else { return }
        stored.store(decoded.value, at: content.position, through: max(content.position, decoded.through))
      } catch {
        // Told once, here; those who listen get the fallback.
        if let fallback { stored.store(fallback, at: content.position, through: content.position) }
        throw error
      }
    }
    self.hub = hub
    self.topic = topic
    self.decode = decode
    self.fallback = fallback
    self.stored = stored
    let first = try read()
    stored.store(first.value, at: first.through, through: first.through)
  }

  private var current: Stored.Entry {
    guard let current = stored.state.withLock({ $0 }) else {
      preconditionFailure("the initializer stores a value before anybody has the object")
    }
    return current
  }

  var value: Value { current.value }

  var names: [String] { hub.names(of: topic) }

  func bind(
    _ name: String?, _ terms: ListeningTerms, _ action: @escaping @Sendable (Value) throws -> Void
  ) -> Disposable {
    guard terms.fires else {
      return hub.register(
        name, to: topic, on: terms.place, owner: terms.owner, after: current.through, onEnd: terms.onEnd,
        onRound(action))
    }
    let first = firstValue(action)
    guard terms.isOnPlace else {
      return hub.register(
        name, to: topic, on: terms.place, owner: terms.owner, first: first, onEnd: terms.onEnd, onRound(action))
    }
    return hub.registerAtOnce(
      name, to: topic, on: terms.place.actor, owner: terms.owner.map { WeakReference(object: $0) }, first: first,
      onEnd: terms.onEnd, onRound(action))
  }

  func unbind(_ name: String) {
    hub.unbind(name, from: topic)
  }

  private func onRound(_ action: @escaping @Sendable (Value) throws -> Void) -> @Sendable (Content) throws -> Void {
    { [decode, fallback, stored] content in
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
  private func firstValue(_ action: @escaping @Sendable (Value) throws -> Void) -> ListenerHub<Content>.FirstValue {
    ListenerHub<Content>.FirstValue(
      read: {
        let entry = self.current
        return (Box(entry.value), entry.through)
      },
      handOver: { if let box = $0 as? Box { try action(box.value) } })
  }
}
