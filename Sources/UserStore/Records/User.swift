extension UserStore {
  /// A record: a name, a hair colour, and any further attribute.
  ///
  /// A value in memory, as the tables stood when it was read. Values are kept as they are stored and decoded when asked
  /// for, so that one bad value of a foreign writer spoils nothing else.
  public struct User: Identifiable, Hashable, Sendable {
    /// The key of a user; never used again after a removal.
    public struct ID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
      /// The number in the database.
      public let rawValue: Int64

      /// Makes one of its raw value.
      public init(rawValue: Int64) {
        self.rawValue = rawValue
      }

      /// Makes an id of a number.
      ///
      /// - Parameter number: The number in the database.
      public init(_ number: Int64) {
        rawValue = number
      }

      /// Whether the left one comes first.
      public static func < (left: ID, right: ID) -> Bool { left.rawValue < right.rawValue }

      /// The text that stands for it.
      public var description: String { String(rawValue) }
    }

    /// The key.
    public let id: ID
    /// All values as they are stored, by attribute name; `name` and, if set, `hair_color` among them.
    public internal(set) var storedValues: [AttributeName: StoredValue]

    /// The name.
    ///
    /// - Throws: `StoreError.Code.undecodable` when a foreign writer stored what is no UTF-8.
    public var name: String {
      get throws(StoreError) {
        guard let name = try self[.name] else {
          throw StoreError(.undecodable, "user \(id) has no name")
        }
        return name
      }
    }

    /// The hair colour; nil when it is not set.
    ///
    /// - Throws: `StoreError.Code.undecodable` when a foreign writer stored what is no colour.
    public var hairColor: Color? {
      get throws(StoreError) { try self[.hairColor] }
    }

    /// The value of an attribute; nil when it is not set.
    ///
    /// - Throws: `StoreError.Code.undecodable` when what is stored is not of the attribute's type.
    public subscript<Value>(attribute: Attribute<Value>) -> Value? {
      get throws(StoreError) { try attribute.decode(storedValues[attribute.name] ?? .null, of: id) }
    }
  }
}

package typealias User = UserStore.User
