/// A type of values that an attribute can have and SQLite can store.
public protocol AttributeValue: Sendable {
  /// The value as it is stored.
  ///
  /// The store refuses NaN, and stores −0.0 as 0.0, because SQL cannot tell these two zeros apart.
  var storedValue: StoredValue { get }

  /// Creates a value from a stored one, which any program may have written; nil if that is not a value of this type.
  init?(storedValue: StoredValue)
}

/// The default for enumerations: one whose raw values are `AttributeValue`s only has to declare the conformance.
extension AttributeValue where Self: RawRepresentable, RawValue: AttributeValue {
  /// The raw value as it is stored.
  public var storedValue: StoredValue { rawValue.storedValue }

  /// Creates a value from a stored raw value; nil if there is none with it.
  public init?(storedValue: StoredValue) {
    guard let raw = RawValue(storedValue: storedValue) else { return nil }
    self.init(rawValue: raw)
  }
}

extension String: AttributeValue {
  /// The value as it is stored.
  public var storedValue: StoredValue { .text(self) }

  /// Creates a string from stored text.
  public init?(storedValue: StoredValue) {
    guard case .text(let text) = storedValue else { return nil }
    self = text
  }
}

extension Int64: AttributeValue {
  /// The value as it is stored.
  public var storedValue: StoredValue { .integer(self) }

  /// Creates an integer from a stored one.
  public init?(storedValue: StoredValue) {
    guard case .integer(let integer) = storedValue else { return nil }
    self = integer
  }
}

extension Int: AttributeValue {
  /// The value as it is stored.
  public var storedValue: StoredValue { .integer(Int64(self)) }

  /// Creates an integer from a stored one.
  public init?(storedValue: StoredValue) {
    guard case .integer(let integer) = storedValue else { return nil }
    self.init(exactly: integer)
  }
}

extension Double: AttributeValue {
  /// The value as it is stored.
  public var storedValue: StoredValue { .real(self) }

  /// Creates a number from a stored one, or from an integer that a `Double` can represent exactly: scripts write 1 for 1.0.
  public init?(storedValue: StoredValue) {
    switch storedValue {
    case .real(let real): self = real
    case .integer(let integer): self.init(exactly: integer)
    default: return nil
    }
  }
}

extension Bool: AttributeValue {
  /// The value as it is stored: the integer 1 or 0.
  public var storedValue: StoredValue { .integer(self ? 1 : 0) }

  /// Creates a Boolean value from the integer 1 or 0.
  public init?(storedValue: StoredValue) {
    guard case .integer(let integer) = storedValue, integer == 0 || integer == 1 else { return nil }
    self = integer == 1
  }
}

extension [UInt8]: AttributeValue {
  /// The value as it is stored.
  public var storedValue: StoredValue { .blob(self) }

  /// Creates an array from a stored blob.
  public init?(storedValue: StoredValue) {
    guard case .blob(let bytes) = storedValue else { return nil }
    self = bytes
  }
}
