/// What an attribute's value can be: anything that has a form among SQLite's storage classes.
public protocol AttributeValue: Sendable {
  /// How it is stored. Not-a-number is refused by the store; −0.0 is stored as 0.0, because SQL cannot tell them apart.
  var storedValue: StoredValue { get }

  /// Reads it back.
  ///
  /// - Parameter storedValue: What was stored, possibly by somebody else; nil is returned when it is none of these.
  init?(storedValue: StoredValue)
}

extension String: AttributeValue {
  /// How it is stored.
  public var storedValue: StoredValue { .text(self) }

  /// Reads it back; nil for a value of another kind.
  public init?(storedValue: StoredValue) {
    guard case .text(let text) = storedValue else { return nil }
    self = text
  }
}

extension Int64: AttributeValue {
  /// How it is stored.
  public var storedValue: StoredValue { .integer(self) }

  /// Reads it back; nil for a value of another kind.
  public init?(storedValue: StoredValue) {
    guard case .integer(let integer) = storedValue else { return nil }
    self = integer
  }
}

extension Int: AttributeValue {
  /// How it is stored.
  public var storedValue: StoredValue { .integer(Int64(self)) }

  /// Reads it back; nil for a value of another kind.
  public init?(storedValue: StoredValue) {
    guard case .integer(let integer) = storedValue else { return nil }
    self.init(exactly: integer)
  }
}

extension Double: AttributeValue {
  /// How it is stored.
  public var storedValue: StoredValue { .real(self) }

  /// Takes an integer too, when a `Double` can hold it exactly: shells and scripts write 1 for 1.0.
  public init?(storedValue: StoredValue) {
    switch storedValue {
    case .real(let real): self = real
    case .integer(let integer): self.init(exactly: integer)
    default: return nil
    }
  }
}

extension Bool: AttributeValue {
  /// How it is stored.
  public var storedValue: StoredValue { .integer(self ? 1 : 0) }

  /// Reads it back; nil for a value of another kind.
  public init?(storedValue: StoredValue) {
    guard case .integer(let integer) = storedValue, integer == 0 || integer == 1 else { return nil }
    self = integer == 1
  }
}

extension [UInt8]: AttributeValue {
  /// How it is stored.
  public var storedValue: StoredValue { .blob(self) }

  /// Reads it back; nil for a value of another kind.
  public init?(storedValue: StoredValue) {
    guard case .blob(let bytes) = storedValue else { return nil }
    self = bytes
  }
}
