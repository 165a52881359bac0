extension UserStore {
  /// Which users to read, in which order, and how much of them.
  ///
  ///     let adults = UserStore.Query(where: .age >= 18, sortedBy: [.ascending(.name)], limit: 50)
  ///     let users = try store.read { try $0.users(matching: adults) }
  ///     let next = try store.read { try $0.users(matching: adults.after(users[49])) }
  ///
  /// Users that are equal in all sort keys are in the order of their identifiers.
  public struct Query: Hashable, Sendable {
    /// The condition that users must meet.
    public var condition: Condition
    /// The attributes to sort by, the most important first; then by the identifier.
    public var order: [SortKey]
    /// The largest number of users; nil for all.
    public var limit: Int?
    /// The attributes to read, beside those that are sorted by; nil for all.
    public var shown: [AttributeName]?
    /// The place in the order after which the users start; nil to start with the first.
    public var start: Position?

    /// A place in the order of a query: that of a user with these values, who need not exist.
    public struct Position: Hashable, Sendable {
      /// The value of each sort key.
      public var values: [StoredValue]
      /// The identifier.
      public var id: User.ID

      /// Creates a place from the values of the sort keys, in the order of the keys, and an identifier.
      public init(values: [StoredValue], id: User.ID) {
        self.values = values
        self.id = id
      }
    }

    /// Creates a query.
    ///
    /// - Parameters:
    ///   - condition: The condition that users must meet.
    ///   - order: The attributes to sort by, the most important first; users that are equal in all of them are in the order of
    ///     their identifiers.
    ///   - limit: The largest number of users, 1 or more; nil for all.
    ///   - shown: The attributes to read, beside those that are sorted by; nil for all. A live list takes memory for these, and is
    ///     told only of their changes.
    public init(
      where condition: Condition = .always, sortedBy order: [SortKey] = [], limit: Int? = nil,
      showing shown: [AttributeName]? = nil
    ) {
      self.condition = condition
      self.order = order
      self.limit = limit
      self.shown = shown
    }

    /// Returns the query for the next page: the users after this one in the order.
    ///
    /// - Parameter user: The last user of the page, as the query returned it: with the values of the sort keys.
    public func after(_ user: User) -> Query { after(position(of: user)) }

    /// Returns the query for the users after a place in the order.
    public func after(_ position: Position) -> Query {
      var query = self
      query.start = position
      return query
    }

    /// Returns the place of a user that the query has returned.
    public func position(of user: User) -> Position {
      Position(values: order.map { user.storedValue($0.attribute) }, id: user.id)
    }
  }
}

extension UserStore.User {
  /// The value of an attribute, or of `id`; null if it is not set.
  func storedValue(_ attribute: AttributeName) -> StoredValue {
    attribute == .id ? .integer(id.rawValue) : storedValues[attribute] ?? .null
  }
}

extension AttributeName {
  /// The name of the identifier in conditions and sort keys; no attribute has it.
  static var id: AttributeName { "id" }
}

package typealias Query = UserStore.Query
