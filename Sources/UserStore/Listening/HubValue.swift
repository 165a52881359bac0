/// The present value of a topic of a hub, kept current by the hub's rounds.
///
/// It hears each round before every listener, so that whoever is called finds the new value stored.
final class HubValue<Content: Routable, Value: Sendable>: ListenableSource {
  /// The value that a round leaves; nil when the round says nothing of it.
  ///
  /// What it throws goes to the hub's error handler, and the fallback takes the value's place.
  typealias Decode = @Sendable (Content) throws -> Value?

  private let hub: ListenerHub<Content>
  private let topic: Content.Topic
  private let decode: Decode
  private let fallback: Value
  private let stored: Stored

  /// A value and the position that it belongs to; only ever replaced by a later one.
  private final class Stored: Sendable {
    struct Entry {
      let value: Value
      let position: Int64
    }

    let state: Lock<Entry?> = Lock(nil)

    func value(at position: Int64) -> Value? {
      state.withLock { $0?.position == position ? $0?.value : nil }
    }

    func store(_ value: Value, _ position: Int64) {
      state.withLock { state in
        if let old = state, old.position >= position { return }
        state = Entry(value: value, position: position)
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
    hub: ListenerHub<Content>, topic: Content.Topic, fallback: Value, decode: @escaping Decode,
    read: () throws(Failure) -> (value: Value, position: Int64)
  ) throws(Failure) {
    let stored = Stored()
    registration = hub.register(nil, to: topic, on: .inline, owner: nil, keepsValue: true) { content in
      do {
        if let value = try decode(content) { stored.store(value, content.position) }
      } catch {
        // Told once, here; those who listen get the fallback.
        stored.store(fallback, content.position)
        throw error
      }
    }
    self.hub = hub
    self.topic = topic
    self.decode = decode
    self.fallback = fallback
    self.stored = stored
    let first = try read()
    stored.store(first.value, first.position)
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
    _ name: String, on place: DeliveryPlace, owner: (any AnyObject & Sendable)?, fires: Bool,
    _ action: @escaping @Sendable (Value) throws -> Void
  ) -> Disposable {
    guard fires else {
      return hub.register(
        name, to: topic, on: place, owner: owner, after: current.position, onRound(action))
    }
    return hub.register(name, to: topic, on: place, owner: owner, first: firstValue(action), onRound(action))
  }

  @MainActor func bindOnMainActor(
    _ name: String, _ action: @escaping @MainActor @Sendable (Value) throws -> Void
  ) -> Disposable {
    let onMain: @Sendable (Value) throws -> Void = { value in
      try MainActor.assumeIsolated { try action(value) }
    }
    return hub.registerAtOnce(
      name, to: topic, on: MainActor.shared, owner: nil, first: firstValue(onMain), onRound(onMain))
  }

  func unbind(_ name: String) {
    hub.unbind(name, from: topic)
  }

  private func onRound(_ action: @escaping @Sendable (Value) throws -> Void) -> @Sendable (Content) throws -> Void {
    { [decode, fallback, stored] content in
      // Decoded once for all, as long as this object is there to do it.
      if let value = stored.value(at: content.position) { return try action(value) }
      let value: Value?
      do { value = try decode(content) } catch { value = fallback }
      if let value { try action(value) }
    }
  }

  /// Keeps this object alive until the first value was handed over.
  private func firstValue(_ action: @escaping @Sendable (Value) throws -> Void) -> ListenerHub<Content>.FirstValue {
    ListenerHub<Content>.FirstValue(
      read: {
        let entry = self.current
        return (Box(entry.value), entry.position)
      },
      handOver: { if let box = $0 as? Box { try action(box.value) } })
  }
}
