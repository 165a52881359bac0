extension UserStore.Transaction {
  /// Returns the users who meet a condition, by default all, in the order of the sort keys and then of their identifiers.
  ///
  /// For millions of users, use `forEachUser`, which needs less memory.
  ///
  /// - Throws: `StoreError.Code.badValue` for a query that cannot be run; `StoreError` if reading fails.
  public mutating func users(
    where condition: UserStore.Condition = .always, sortedBy order: [UserStore.SortKey] = [], limit: Int? = nil
  ) throws -> [UserStore.User] {
    try users(matching: Query(where: condition, sortedBy: order, limit: limit))
  }

  /// Returns the users that a query selects, in its order.
  ///
  /// They have the attributes that the query shows, and those that it sorts by; all of them if it shows all. Without an index
  /// (`addIndex` of the store), all users are read to find them: some tenths of a second for a million.
  ///
  /// - Throws: `StoreError.Code.badValue` for a query that cannot be run; `StoreError` if reading fails.
  public mutating func users(matching query: UserStore.Query) throws -> [UserStore.User] {
    var users: [User] = []
    try forEachUser(matching: query) { users.append($0) }
    return users
  }

  /// Calls `body` with every user that a query selects, by default all, in its order; one user at a time is in memory.
  ///
  /// - Throws: `StoreError.Code.badValue` for a query that cannot be run; `StoreError` if reading fails. An error that `body`
  ///   throws ends the iteration and is rethrown.
  public mutating func forEachUser(
    matching query: UserStore.Query = UserStore.Query(), _ body: (UserStore.User) throws -> Void
  ) throws {
    try iterateUsers(matching: query) { user in
      try body(user)
      return true
    }
  }

  /// Calls `body` with each user that a query selects, by default all, in its order, until it returns false.
  ///
  /// - Throws: `StoreError.Code.badValue` for a query that cannot be run; `StoreError` if reading fails. An error that `body`
  ///   throws ends the iteration and is rethrown.
  public mutating func iterateUsers(
    matching query: UserStore.Query = UserStore.Query(), while body: (UserStore.User) throws -> Bool
  ) throws {
    var failure: (any Error)?
    func deliver(_ user: User) -> Bool {
      do { return try body(user) } catch { failure = error }
      return false
    }
    if let columns = query.columns {
      try session.eachRow(Self.request(of: query, columns: columns)) { id, values in deliver(User(id, columns, values))
      }
    } else {
      try session.eachUser(Self.request(of: query, columns: []), while: deliver)
    }
    if let failure { throw failure }
  }

  /// Returns the identifiers of the users that a query selects, in its order.
  ///
  /// - Throws: `StoreError.Code.badValue` for a query that cannot be run; `StoreError` if reading fails.
  public mutating func ids(matching query: UserStore.Query) throws(StoreError) -> [UserStore.User.ID] {
    try ids(of: Self.request(of: query, columns: []))
  }

  mutating func ids(of request: RowRequest) throws(StoreError) -> [User.ID] {
    var ids: [User.ID] = []
    try session.eachRow(request) { id, _ in
      ids.append(id)
      return true
    }
    return ids
  }

  /// Returns the number of users who meet a condition, by default of all users.
  ///
  /// - Throws: `StoreError.Code.badValue` for a condition that cannot be evaluated; `StoreError` if reading fails.
  public mutating func count(where condition: UserStore.Condition = .always) throws(StoreError) -> Int {
    try Limits.check(condition)
    return try session.userCount(where: condition)
  }

  /// The attributes that have an index, in the order of their names' bytes.
  ///
  /// - Throws: `StoreError` if reading fails.
  public var indexes: [AttributeName] {
    mutating get throws(StoreError) { try session.indexes().filter { !$0.isUnique }.map(\.attribute) }
  }

  /// The unique attributes, in the order of their names' bytes, and whether each ignores the case of the letters A to Z.
  ///
  /// - Throws: `StoreError` if reading fails.
  public var uniqueAttributes: [(attribute: AttributeName, ignoresCase: Bool)] {
    mutating get throws(StoreError) { try session.indexes().filter(\.isUnique).map { ($0.attribute, $0.ignoresCase) } }
  }

  /// Returns the user who has a value of a unique attribute, or nil if there is none.
  ///
  /// The value is compared as the attribute is unique: with `ignoringCase`, “Zoe@x.de” finds “zoe@x.de”.
  ///
  /// - Parameters:
  ///   - attribute: An attribute that `addUnique` of the store has made unique.
  ///   - value: The value of the attribute.
  /// - Returns: The user.
  /// - Throws: `StoreError.Code.badValue` if the attribute is not unique; `StoreError` if reading fails.
  public mutating func user<Value>(
    where attribute: Attribute<Value>, is value: Value
  ) throws(StoreError) -> UserStore.User? {
    try user(where: attribute.name, is: value.storedValue)
  }

  /// Returns the user who has a value of a unique attribute, as it is stored, or nil if there is none.
  ///
  /// - Throws: What `user(where:is:)` throws for a typed attribute.
  public mutating func user(
    where attribute: AttributeName, is value: StoredValue
  ) throws(StoreError) -> UserStore.User? {
    if let id = try session.holder(of: value, attribute, besides: nil) { return try session.user(id) }
    guard try session.indexes().contains(where: { $0.isUnique && $0.attribute == attribute }) else {
      throw StoreError(
        .badValue, "“\(attribute.text.excerpt)” is not a unique attribute", hint: "addUnique(on:) makes it one")
    }
    return nil
  }

  /// Returns the values of an attribute that several users have, each with these users, in the order of the index that `addUnique`
  /// creates.
  ///
  /// - Parameters:
  ///   - attribute: The name of the attribute.
  ///   - ignoresCase: Whether the letters A to Z equal a to z.
  /// - Returns: The values; equal ones are one, in the form that the first user has.
  /// - Throws: `StoreError.Code.badValue` for a name that no attribute can have, and for `id`; `StoreError` if reading fails.
  public mutating func duplicates(
    of attribute: AttributeName, ignoringCase ignoresCase: Bool = false
  ) throws(StoreError) -> [(value: StoredValue, users: [UserStore.User.ID])] {
    try Limits.checkIndex(on: attribute)
    var duplicates: [(value: StoredValue, users: [User.ID])] = []
    try session.eachDuplicate(of: AttributeIndex(uniqueOn: attribute, ignoringCase: ignoresCase)) { value, users in
      duplicates.append((value, users))
      return true
    }
    return duplicates
  }

  private static func request(of query: Query, columns: [AttributeName]) throws(StoreError) -> RowRequest {
    try Limits.check(query)
    return RowRequest(
      condition: query.where, order: query.sortedBy, start: query.start, limit: query.limit, columns: columns)
  }
}

extension Query {
  /// The attributes of the users that the query returns, each once; nil for all.
  fileprivate var columns: [AttributeName]? {
    guard let showing else { return nil }
    let all = sortedBy.isEmpty ? showing : showing + sortedBy.map(\.attribute)
    if all.count > 8 {
      var names: Set<AttributeName> = [.id]
      return all.filter { names.insert($0).inserted }
    }
    // Searching a few is faster than hashing.
    var few: [AttributeName] = []
    few.reserveCapacity(all.count)
    for attribute in all where attribute != .id && !few.contains(attribute) { few.append(attribute) }
    return few
  }
}

extension UserStore.User {
  fileprivate init(_ id: ID, _ attributes: [AttributeName], _ values: [StoredValue]) {
    self.init(id: id)
    for (attribute, value) in zip(attributes, values) where !value.isNull { self[stored: attribute] = value }
  }
}
