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
  private var changed: (@MainActor @Sendable (RoundCause?) -> Void)?
  /// The present wait for a change, and how many there were: an earlier one means nothing any more.
  private var wait: ObservationWait?
  private var waits = 0

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
    // The chain's own change is no news; a change after it is.
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
  /// As in `Field.text`; of a computed property, or an observed one, the name is not known at run time, and the type of
  /// its value stands for it.
  var name: String {
    let text = "\(self)".drop { $0 == "\\" }
    return text.contains("<") ? "\(Root.self).(\(Value.self))" : String(text)
  }
}
