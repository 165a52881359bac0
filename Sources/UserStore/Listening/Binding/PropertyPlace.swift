import Observation

/// A property of an object, or an element of an array in one.
///
/// Changes of an `@Observable` object are noticed by themselves.
@MainActor final class PropertyPlace<Object: AnyObject, Value>: BindingPlace {
  let key: MemberKey
  let name: String
  private weak var object: Object?
  private let get: (Object) -> Value?
  private let set: (Object, Value) -> Void
  private let equality = ValueEquality.test(of: Value.self)
  private var observation: PropertyObservation?

  /// Makes the place.
  ///
  /// - Parameters:
  ///   - object: Whose.
  ///   - keyPath: What tells the property from others.
  ///   - name: For messages.
  ///   - get: Reads; nil where there is nothing to read now.
  ///   - set: Writes.
  init(
    _ object: Object, _ keyPath: AnyKeyPath, name: String, get: @escaping (Object) -> Value?,
    set: @escaping (Object, Value) -> Void
  ) {
    key = MemberKey(object: ObjectIdentifier(object), property: keyPath)
    self.name = name
    self.object = object
    self.get = get
    self.set = set
  }

  convenience init(_ object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>) {
    self.init(
      object, keyPath, name: keyPath.name, get: { $0[keyPath: keyPath] }, set: { $0[keyPath: keyPath] = $1 })
  }

  var isAlive: Bool { object != nil }

  func read() -> Value? { object.flatMap(get) }

  func write(_ value: Value) {
    guard let object else { return }
    set(object, value)
    observation?.forgetOwnChange()
  }

  func isSame(_ left: Value, _ right: Value) -> Bool? { equality(left, right) }

  func connect(_ events: MemberEvents, sends: Bool) -> [SubscriptionToken] {
    guard sends, object is any Observable else { return [] }
    let observation = PropertyObservation(read: { [weak self] in _ = self?.read() }, changed: events.changed)
    self.observation = observation
    return [SubscriptionToken { observation.end() }]
  }
}

/// Notices that an observed property has changed, on the next turn of the main actor.
///
/// Observation calls once, and before the change: only on the next turn the new value can be read, and is listened again.
@MainActor private final class PropertyObservation {
  /// One wait for a change.
  private final class Arming: Sendable {
    let hasFired = Lock(false)
  }

  private let read: () -> Void
  private let changed: @MainActor (ChainCause?) -> Void
  private var arming: Arming?
  private let hasEnded = Lock(false)

  init(read: @escaping () -> Void, changed: @escaping @MainActor (ChainCause?) -> Void) {
    self.read = read
    self.changed = changed
    arm()
  }

  /// May be called on any thread: a token ends where it is released.
  nonisolated func end() { hasEnded.withLock { $0 = true } }

  /// What the chain itself has written is no news; what comes after it is.
  func forgetOwnChange() {
    if arming?.hasFired.withLock({ $0 }) == true { arm() }
  }

  private func arm() {
    let arming = Arming()
    self.arming = arming
    withObservationTracking(read) { [weak self] in
      arming.hasFired.withLock { $0 = true }
      // Here, and not on the next turn: what a custom block changes is its answer to a round.
      let cause = ChainCause.current
      Task { @MainActor [weak self] in self?.fired(arming, cause) }
    }
  }

  private func fired(_ arming: Arming, _ cause: ChainCause?) {
    guard arming === self.arming, !hasEnded.withLock({ $0 }) else { return }
    arm()
    changed(cause)
  }
}

extension KeyPath {
  /// As in `Field.text`; of a computed property, or an observed one, the name is not known at run time, and the type of
  /// its value stands for it.
  var name: String {
    let text = "\(self)".drop { $0 == "\\" }
    return text.contains("<") ? "\(Root.self).(\(Value.self))" : String(text)
  }
}
