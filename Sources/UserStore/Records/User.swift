extension UserStore {
  /// A record: a name, a hair color, and further attributes.
  ///
  /// A user is a value in memory, as the store had it when it was read. Values are decoded when you access them, so that a
  /// malformed value of a foreign writer affects no other.
  public struct User: Identifiable, Hashable, Sendable {
    /// The identifier of a user; never used again after the user was removed.
    public struct ID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
      /// The number in the database.
      public let rawValue: Int64

      /// Creates an identifier from its raw value.
      public init(rawValue: Int64) {
        self.rawValue = rawValue
      }

      /// Creates an identifier from a number.
      public init(_ number: Int64) {
        rawValue = number
      }

      /// Whether the left number is less than the right one.
      public static func < (left: ID, right: ID) -> Bool { left.rawValue < right.rawValue }

      /// The number as text.
      public var description: String { String(rawValue) }
    }

    /// The identifier.
    public let id: ID
    /// `name`; nil if the user is the result of a query that does not show it.
    ///
    /// Most users have no other values than these two, and building a dictionary takes longer than reading the row.
    private var nameValue: StoredValue?
    /// `hair_color`; nil if it is not set.
    private var hairColorValue: StoredValue?
    private var otherValues: [AttributeName: StoredValue] = [:]

    /// All values as they are stored, by attribute name, including `name` and, if set, `hair_color`; of a user that a query has
    /// read, those that it shows.
    public var storedValues: [AttributeName: StoredValue] {
      var values = otherValues
      values[.name] = nameValue
      values[.hairColor] = hairColorValue
      return values
    }

    /// About how many bytes of memory the user takes, for programs that limit what their clients can make them hold.
    public var byteCount: Int {
      let values = [nameValue, hairColorValue].compactMap(\.self)
      return otherValues.values.reduce(values.reduce(StoredValue.overhead) { $0 + $1.memory }) { $0 + $1.memory }
    }

    package init(id: ID, name: StoredValue? = nil, hairColor: StoredValue? = nil) {
      self.id = id
      (nameValue, hairColorValue) = (name, hairColor)
    }

    init(id: ID, storedValues: [AttributeName: StoredValue]) {
      self.id = id
      if storedValues.isEmpty { return }
      otherValues = storedValues
      nameValue = otherValues.removeValue(forKey: .name)
      hairColorValue = otherValues.removeValue(forKey: .hairColor)
    }

    /// The value of an attribute as it is stored; nil if it is not set, or not shown by the query that read the user.
    package subscript(stored attribute: AttributeName) -> StoredValue? {
      get {
        switch attribute {
        case .name: nameValue
        case .hairColor: hairColorValue
        default: otherValues[attribute]
        }
      }
      set {
        switch attribute {
        case .name: nameValue = newValue
        case .hairColor: hairColorValue = newValue
        default: otherValues[attribute] = newValue
        }
      }
    }

    /// The name.
    ///
    /// - Throws: `StoreError.Code.undecodable` if a foreign writer stored text that is not valid UTF-8, and if the user was read by
    ///   a query that does not show the name.
    public var name: String {
      get throws(StoreError) {
        guard let name = try self[.name] else {
          throw StoreError(.undecodable, "user \(id) has no name")
        }
        return name
      }
    }

    /// The hair color; nil if it is not set.
    ///
    /// - Throws: `StoreError.Code.undecodable` if a foreign writer stored a value that is not a color.
    public var hairColor: Color? {
      get throws(StoreError) { try self[.hairColor] }
    }

    /// The value of an attribute; nil if it is not set.
    ///
    /// - Throws: `StoreError.Code.undecodable` if the stored value is not of the attribute's type.
    public subscript<Value>(attribute: Attribute<Value>) -> Value? {
      get throws(StoreError) { try attribute.decode(self[stored: attribute.name] ?? .null, of: id) }
    }
  }
}

package typealias User = UserStore.User
