extension UserStore {
  /// An attribute to sort by.
  ///
  /// Values are sorted in this order: not set, numbers by their value, text and blobs by their bytes. For the order of a
  /// language, store a sort key as an attribute of its own.
  public struct SortKey: Hashable, Sendable {
    /// The name of the attribute; `id` for the identifier.
    public var attribute: AttributeName
    /// Whether the order is reversed.
    public var isDescending: Bool
    /// Whether users without the attribute are last in ascending order too; in descending order they always are.
    public var missingLast: Bool

    /// Creates a key from the name of an attribute.
    public init(_ attribute: AttributeName, descending isDescending: Bool = false, missingLast: Bool = false) {
      self.attribute = attribute
      self.isDescending = isDescending
      self.missingLast = missingLast || isDescending
    }

    /// Returns the ascending order of an attribute.
    public static func ascending<Value>(_ attribute: Attribute<Value>, missingLast: Bool = false) -> SortKey {
      SortKey(attribute.name, missingLast: missingLast)
    }

    /// Returns the descending order of an attribute; users without it are last.
    public static func descending<Value>(_ attribute: Attribute<Value>) -> SortKey {
      SortKey(attribute.name, descending: true)
    }
  }
}

package typealias SortKey = UserStore.SortKey
