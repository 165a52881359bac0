extension UserStore {
  /// An attribute to sort by.
  ///
  /// In ascending order, users without the attribute come first, then numbers by their value, text by its bytes, and blobs by
  /// their bytes. For the order of a language, store a sort key as an attribute of its own.
  public struct SortKey: Hashable, Sendable {
    /// The name of the attribute; `id` for the identifier.
    public var attribute: AttributeName
    /// Whether the order is reversed.
    public var isDescending: Bool
    /// Whether users without the attribute come last in ascending order; in descending order, they always do.
    public var missingLast: Bool

    /// Creates a sort key from the name of an attribute.
    ///
    /// - Parameters:
    ///   - attribute: The name of the attribute; `id` for the identifier.
    ///   - isDescending: Whether the order is reversed.
    ///   - missingLast: Whether users without the attribute come last in ascending order.
    public init(_ attribute: AttributeName, descending isDescending: Bool = false, missingLast: Bool = false) {
      self.attribute = attribute
      self.isDescending = isDescending
      self.missingLast = missingLast || isDescending
    }

    /// Returns the sort key for the ascending order of an attribute.
    public static func ascending<Value>(_ attribute: Attribute<Value>, missingLast: Bool = false) -> SortKey {
      SortKey(attribute.name, missingLast: missingLast)
    }

    /// Returns the sort key for the descending order of an attribute; users without it come last.
    public static func descending<Value>(_ attribute: Attribute<Value>) -> SortKey {
      SortKey(attribute.name, descending: true)
    }
  }
}

package typealias SortKey = UserStore.SortKey
