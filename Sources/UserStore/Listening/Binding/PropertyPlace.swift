import Observation

/// A property of an object, or an element of an array in an object.
///
/// Changes of an `@Observable` object are noticed on the next turn of the main actor.
@MainActor final class PropertyPlace<Object: AnyObject, Value>: BindingPlace {
  let key: MemberKey
  let name: String
  private weak var object: Object?
  private let get: (Object) -> Value?
  private let set: (Object, Value) -> Void
  private let equality = ValueEquality.test(of: Value.self)
  private var changed: (@MainActor @Sendable (RoundCause?) -> Void)?
  /// The present wait for a change, and the number of waits so far: an earlier wait has no effect any more.
  private var wait: ObservationWait?
  private var waits = 0

  /// Makes the place.
  ///
  /// - Parameters:
  ///   - object: The object, held weakly.
  ///   - keyPath: Identifies the property.
  ///   - name: The name in messages.
  ///   - get: Reads the value; nil if there is nothing to read now.
  ///   - set: Writes the value.
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
    // The chain's own change needs no report; a change after it does.
    if wait?.hasFired == true { waitForChange() }
  }

  func isSame(_ left: Value, _ right: Value) -> Bool? { equality(left, right) }

  func connect(_ events: MemberEvents, sends: Bool) -> [SubscriptionToken] {
    guard sends, object is any Observable else { return [] }
    changed = events.changed
    waitForChange()
    return []
  }

  func disconnect() {
    changed = nil
    wait = nil
    waits += 1
  }

  private func waitForChange() {
    waits += 1
    let number = waits
    let begun = ObservationWait.begin({ _ = read() }) { [weak self] outcome in
      if case .changed(let cause) = outcome { self?.propertyChanged(cause, number) }
      return nil
    }
    wait = begun.wait
  }

  private func propertyChanged(_ cause: RoundCause?, _ number: Int) {
    guard number == waits, let changed else { return }
    waitForChange()
    changed(cause)
  }
}

extension KeyPath {
  /// The name as in `Field.text`.
  ///
  /// The name of a computed or observed property is not known at run time; the type of its value stands for it.
  var name: String {
    let text = "\(self)".drop { $0 == "\\" }
    return text.contains("<") ? "\(Root.self).(\(Value.self))" : String(text)
  }
}
