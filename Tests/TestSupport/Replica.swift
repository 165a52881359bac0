/// The records, rebuilt from the log alone; rejects every row that is inconsistent with the rows before it.
package struct Replica {
  package struct User: Equatable {
    package var name: PlainValue
    package var hairColor: PlainValue
    package var attributes: [[UInt8]: PlainValue] = [:]

    package init(name: PlainValue, hairColor: PlainValue = .null) {
      (self.name, self.hairColor) = (name, hairColor)
    }
  }

  /// Which row must follow: an addition and a removal are several rows each, with no other row in between.
  private enum Expected: Equatable {
    case anything
    case addedHairColor(of: Int64)
    case removedHairColor(of: Int64)
    case removedAttributes(of: Int64)
  }

  package private(set) var users: [Int64: User] = [:]
  private var expected = Expected.anything

  package init() {}

  package mutating func apply(_ change: LoggedChange) throws(Mismatch) {
    try finishRemoval(before: change)
    switch change.op {
    case 1: try add(change)
    case 2: try update(change)
    case 3: try remove(change)
    default: throw Mismatch("an unknown op")
    }
  }

  /// Checks, at the end of a transaction, that no addition or removal is incomplete.
  package mutating func finish() throws(Mismatch) {
    try finishRemoval(before: nil)
    guard expected == .anything else { throw Mismatch("the log ends inside an addition or a removal") }
  }

  private mutating func add(_ change: LoggedChange) throws(Mismatch) {
    guard change.old == .null else { throw Mismatch("an addition has an old value") }
    switch change.field {
    case .name:
      guard expected == .anything, users[change.user] == nil else { throw Mismatch("the user exists already") }
      users[change.user] = User(name: change.new)
      expected = .addedHairColor(of: change.user)
    case .hairColor:
      guard expected == .addedHairColor(of: change.user) else { throw Mismatch("hair color added without a name") }
      users[change.user]?.hairColor = change.new
      expected = .anything
    case .attribute: throw Mismatch("attributes are never added with op 1")
    }
  }

  private mutating func update(_ change: LoggedChange) throws(Mismatch) {
    guard expected == .anything, let user = users[change.user] else { throw Mismatch("an update of an unknown user") }
    guard change.old != change.new else { throw Mismatch("an update that changes nothing") }
    guard user[change.field] == change.old else { throw Mismatch("the old value was \(user[change.field])") }
    users[change.user]?[change.field] = change.new
  }

  private mutating func remove(_ change: LoggedChange) throws(Mismatch) {
    guard let user = users[change.user] else { throw Mismatch("a removal of an unknown user") }
    guard user[change.field] == change.old else { throw Mismatch("the old value was \(user[change.field])") }
    guard change.new == .null else { throw Mismatch("a removal has a new value") }
    switch change.field {
    case .name:
      guard expected == .anything else { throw Mismatch("a removal inside another removal") }
      expected = .removedHairColor(of: change.user)
    case .hairColor:
      guard expected == .removedHairColor(of: change.user) else { throw Mismatch("hair color removed before the name") }
      expected = .removedAttributes(of: change.user)
    case .attribute:
      guard expected == .removedAttributes(of: change.user) else { throw Mismatch("attribute removed before the user") }
      users[change.user]?[change.field] = .null
    }
  }

  /// Ends a removal where another change starts; by then the user must have no attributes.
  private mutating func finishRemoval(before next: LoggedChange?) throws(Mismatch) {
    guard case .removedAttributes(let id) = expected else { return }
    if let next, next.op == 3, next.user == id, case .attribute = next.field { return }
    guard users[id]?.attributes.isEmpty == true else { throw Mismatch("user \(id) is removed, its attributes are not") }
    users[id] = nil
    expected = .anything
  }
}

extension Replica.User {
  /// The value of a field; null if the field is not set.
  package subscript(field: LoggedChange.Field) -> PlainValue {
    get {
      switch field {
      case .name: name
      case .hairColor: hairColor
      case .attribute(let name): attributes[name] ?? .null
      }
    }
    set {
      switch field {
      case .name: name = newValue
      case .hairColor: hairColor = newValue
      case .attribute(let name): attributes[name] = newValue == .null ? nil : newValue
      }
    }
  }
}

/// The reason why a log does not match the tables.
package struct Mismatch: Error, CustomStringConvertible {
  package var description: String

  package init(_ description: String) {
    self.description = description
  }
}
