public import UserStore

/// A `Codable` type whose values an attribute can have, as JSON text with sorted keys.
///
///     struct Address: JSONAttributeValue {
///       var street: String
///       var city: String
///     }
///     extension Attribute where Value == Address {
///       static var address: Attribute { Attribute("address") }
///     }
///     try users.set(.address, of: zoe, to: Address(street: "Main Street 1", city: "Bonn"))
///
/// A property of a `UserStore.Profile` needs only `Codable`, and is stored in the same form. A type that encodes one string, number, or
/// Boolean value is stored as that. In JSON text, a `Date`, a `UUID`, and a `URL` are the text that they are as attributes, and
/// `Data` is `{"base64":"AP8="}`. Members that the type does not know are lost when a value is set.
///
/// A type that has its own `storedValue` is an `AttributeValue` instead. The store refuses values that cannot be encoded, such as
/// those with NaN.
public protocol JSONAttributeValue: AttributeValue, Codable {}

extension JSONAttributeValue {
  /// The value as JSON text.
  public var storedValue: StoredValue {
    // A requirement that cannot throw: the store refuses NaN, which is nearly always the reason.
    (try? StoredValue(encoding: self)) ?? .real(.nan)
  }

  /// Creates a value from stored JSON text; nil if that is no value of this type.
  public init?(storedValue: StoredValue) {
    guard let value = try? storedValue.decodeMembers(of: Self.self) else { return nil }
    self = value
  }
}
