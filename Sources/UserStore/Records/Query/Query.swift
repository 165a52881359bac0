extension UserStore {
  /// Selects users: the condition that they meet, their order, and what to read of them.
  ///
  ///     let adults = UserStore.Query(where: .age >= 18, sortedBy: [.ascending(.name)], limit: 50)
  ///     let users = try store.read { try $0.users(matching: adults) }
  ///     if let last = users.last {
  ///       let next = try store.read { try $0.users(matching: adults.after(last)) }
  ///     }
  ///
  /// Users who are equal in all sort keys are in the order of their identifiers. `UserStore.list(_:)` follows the users of a query.
  public struct Query: Hashable, Sendable {
    /// The condition that users must meet.
    public var `where`: Condition
    /// The attributes to sort by, the most important first; then by the identifier.
    public var sortedBy: [SortKey]
    /// The largest number of users; nil for all.
    public var limit: Int?
    /// The attributes to read, in addition to those that are sorted by; nil for all.
    ///
    /// The name is read only if it is among them.
    public var showing: [AttributeName]?
    /// The position after which the users start; nil to start with the first user.
    public var start: Position?

    /// A position in the order of a query, made of values and an identifier; no user needs to be there.
    public struct Position: Hashable, Codable, Sendable {
      /// The values of the sort keys, in the order of the keys; null for an attribute that is not set.
      public var values: [StoredValue]
      /// The identifier of the user.
      public var id: User.ID

      /// Creates a position from the values of the sort keys, in the order of the keys, and an identifier.
      public init(values: [StoredValue], id: User.ID) {
        self.values = values
        self.id = id
      }
    }

    /// Creates a query.
    ///
    /// - Parameters:
    ///   - condition: The condition that users must meet.
    ///   - order: The attributes to sort by, the most important first. Users who are equal in all of them are in the order of
    ///     their identifiers.
    ///   - limit: The largest number of users, 1 or more; nil for all.
    ///   - shown: The attributes to read, in addition to those that are sorted by; nil for all. A live list takes memory for these,
    ///     and has no new version when others change. Include the name if you read it.
    public init(
      where condition: Condition = .always, sortedBy order: [SortKey] = [], limit: Int? = nil,
      showing shown: [AttributeName]? = nil
    ) {
      self.where = condition
      sortedBy = order
      self.limit = limit
      showing = shown
    }

    /// Returns the query for the next page: the users after a user in the order.
    ///
    /// - Parameter user: The last user of the page, as the query returned it, with the values of the sort keys.
    /// - Returns: The same query with this start.
    public func after(_ user: User) -> Query { after(position(of: user)) }

    /// Returns the query for the users after a position in the order.
    public func after(_ position: Position) -> Query {
      var query = self
      query.start = position
      return query
    }

    /// Returns the position of a user that the query has returned.
    public func position(of user: User) -> Position {
      Position(values: sortedBy.map { user.storedValue($0.attribute) }, id: user.id)
    }
  }
}

extension UserStore.User {
  /// The value of an attribute, or of `id`; null if it is not set.
  func storedValue(_ attribute: AttributeName) -> StoredValue {
    attribute == .id ? .integer(id.rawValue) : self[stored: attribute] ?? .null
  }
}

extension AttributeName {
  /// The name of the identifier in conditions and sort keys; no attribute has it.
  package static var id: AttributeName { "id" }
}

package typealias Query = UserStore.Query
