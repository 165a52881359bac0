/// A typed key of a user's values.
///
/// A new attribute is a declaration in your program, and needs no migration:
///
///     extension Attribute where Value == Int {
///       static var age: Attribute { Attribute("age") }
///     }
public struct Attribute<Value: AttributeValue>: Hashable, Sendable {
  /// The name in the database.
  public let name: AttributeName

  /// Creates a key; the store checks its name when it writes a value.
  public init(_ name: AttributeName) {
    self.name = name
  }

  /// The typed form of a stored value; nil for null.
  func decode(_ stored: StoredValue, of id: User.ID) throws(StoreError) -> Value? {
    if stored.isNull { return nil }
    if let value = Value(storedValue: stored) { return value }
    let expected = if case .invalidText = stored { "valid UTF-8" } else { "of type \(Value.self)" }
    throw StoreError(.undecodable, "the \(name) of user \(id) is not \(expected)")
  }
}

extension Attribute where Value == String {
  /// The name of a user: 1 to 1,000 Unicode scalars without control characters; cannot be unset.
  public static var name: Attribute { Attribute(.name) }
}

extension Attribute where Value == UserStore.Color {
  /// The color of a user's hair.
  public static var hairColor: Attribute { Attribute(.hairColor) }
}
