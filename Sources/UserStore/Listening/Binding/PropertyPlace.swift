import Observation

/// A property of an object, or an element of an array in an object.
@MainActor final class PropertyPlace<Object: AnyObject, Value>: BindingPlace {
  let key: MemberKey
  let name: String
  let areEqual = ValueEquality.test(of: Value.self)
  private weak var object: Object?
  private let keyPath: ReferenceWritableKeyPath<Object, Value>
  private let exists: (Object) -> Bool
  private weak var member: (any ChainMember)?
  /// The wait for the next change, and the number of waits so far: the outcome of an earlier wait is ignored.
  private var wait: ObservationWait?
  private var waits = 0

  /// Creates a place; it is read and written only while `exists` returns true.
  init(
    _ object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>, name: String,
    exists: @escaping (Object) -> Bool = { _ in true }
  ) {
    key = MemberKey(object: ObjectIdentifier(object), property: keyPath)
    self.name = name
    self.object = object
    self.keyPath = keyPath
    self.exists = exists
  }

  var isAlive: Bool { object != nil }

  func read() -> Value? { object.flatMap { exists($0) ? $0[keyPath: keyPath] : nil } }

  func write(_ value: Value) {
    guard let object else { return }
    if exists(object) { object[keyPath: keyPath] = value }
    // The chain's own change is not reported; a change after it is.
    if wait?.hasFired == true { waitForChange() }
  }

  func observe(_ isObserved: Bool, for member: any ChainMember) {
    let isWaiting = self.member != nil
    self.member = isObserved && object is any Observable ? member : nil
    // Another wait would ignore a change that was not reported yet.
    if self.member != nil, !isWaiting { waitForChange() }
  }

  private func waitForChange() {
    waits += 1
    wait =
      ObservationWait.begin({ _ = read() }) { [weak self, waits] outcome in
        guard let self, waits == self.waits, let member, case .changed(let cause) = outcome else { return nil }
        waitForChange()
        member.placeChanged(cause)
        return nil
      }.wait
  }
}

extension KeyPath {
  /// The name as in `Field.text`; the types and the place of the call for a computed or observed property, which has no name at
  /// run time.
  func name(at fileID: String, _ line: Int, element index: Int? = nil) -> String {
    let text = "\(self)".drop { $0 == "\\" }
    let element = index.map { "[\($0)]" } ?? ""
    if !text.contains("<") { return text + element }
    return "\(Root.self).(\(Value.self))\(element) (bound at \(fileID):\(line))"
  }
}
