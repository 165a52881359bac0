/// A typed key of a user's values.
///
/// A new one is a line of the embedding program, and no migration:
///
///     extension Attribute where Value == Int {
///       static var age: Attribute { Attribute("age") }
///     }
public struct Attribute<Value: AttributeValue>: Hashable, Sendable {
  /// The name in the database.
  public let name: AttributeName

  /// Makes a key.
  ///
  /// What its name must be is checked when it is used for writing.
  ///
  /// - Parameter name: The name in the database.
  public init(_ name: AttributeName) {
    self.name = name
  }

  /// The typed form of a stored value; nil for null.
  func decode(_ stored: StoredValue, of id: User.ID) throws(StoreError) -> Value? {
    if stored.isNull { return nil }
    if let value = Value(storedValue: stored) { return value }
    if case .invalidText = stored {
      throw StoreError(.undecodable, "the \(name) of user \(id) is not valid UTF-8")
    }
    throw StoreError(.undecodable, "the \(name) of user \(id) is not of type \(Value.self)")
  }
}

extension Attribute where Value == String {
  /// The name of a user: 1 to 1,000 Unicode scalars without control characters.
  ///
  /// Never unset.
  public static var name: Attribute { Attribute(.name) }
}

extension Attribute where Value == UserStore.Color {
  /// The colour of a user's hair.
  public static var hairColor: Attribute { Attribute(.hairColor) }
}
