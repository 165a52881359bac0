extension UserStore.Transaction where Mode == UserStore.Reading {
  /// The end of the log in this state of the store.
  ///
  /// Changes after it are those that come after what is read here.
  ///
  /// - Throws: what reading can throw.
  public var cursor: UserStore.Cursor {
    mutating get throws(StoreError) { try session.logEnd() }
  }
}

extension UserStore.Transaction {
  /// Reads a user.
  ///
  /// - Parameter id: The user's identifier.
  /// - Returns: the user; nil when there is no such user.
  /// - Throws: what reading can throw.
  public mutating func user(_ id: UserStore.User.ID) throws(StoreError) -> UserStore.User? { try session.user(id) }

  /// Calls `body` with every user, in the order of their ids, one at a time in memory.
  ///
  /// - Parameter body: What it throws ends the reading and is thrown on.
  /// - Throws: what reading can throw, and what `body` throws.
  public mutating func forEachUser(_ body: (UserStore.User) throws -> Void) throws {
    try iterateUsers { user in
      try body(user)
      return true
    }
  }

  /// Calls `body` with each user in the order of their ids until it returns false.
  ///
  /// - Parameter body: Returns whether to continue. An error that it throws ends the iteration and is rethrown.
  /// - Throws: what reading can throw, and what `body` throws.
  public mutating func iterateUsers(while body: (UserStore.User) throws -> Bool) throws {
    var failure: (any Error)?
    try session.eachUser { user in
      do { return try body(user) } catch { failure = error }
      return false
    }
    if let failure { throw failure }
  }

  /// All users, in the order of their ids.
  ///
  /// - Returns: all of them in memory; `forEachUser` is for a store of millions.
  /// - Throws: what reading can throw.
  public mutating func users() throws -> [UserStore.User] {
    var users: [User] = []
    try forEachUser { users.append($0) }
    return users
  }

  /// The users who have a name, compared byte by byte.
  ///
  /// - Parameter name: The name.
  /// - Returns: their ids, ascending.
  /// - Throws: what reading can throw.
  public mutating func users(named name: String) throws(StoreError) -> [UserStore.User.ID] {
    try session.users(named: name)
  }

  /// Names of users from one on, up to another one, compared byte by byte.
  ///
  /// Goes through users until it has so many: through all of them when there are fewer. No index has the names: it would
  /// double the cost of a rename.
  ///
  /// - Parameters:
  ///   - lower: The first name that is meant.
  ///   - upper: The first that is not.
  ///   - limit: How many are wanted.
  /// - Returns: as many, of whichever users, in the order of their bytes. A name that several users have comes several times.
  /// - Throws: what reading can throw.
  package mutating func userNames(
    from lower: String, below upper: String, limit: Int
  ) throws(StoreError) -> [String] {
    try session.userNames(from: lower, below: upper, limit: limit)
  }

  /// The first and the last of the names from one on, up to another one: what both begin with, all between them begin with.
  ///
  /// Goes through all users: a tenth of a second for a million.
  ///
  /// - Parameters:
  ///   - lower: The first name that is meant.
  ///   - upper: The first that is not.
  /// - Returns: both; nothing when there is none.
  /// - Throws: what reading can throw.
  package mutating func outermostUserNames(from lower: String, below upper: String) throws(StoreError) -> [String] {
    try session.outermostUserNames(from: lower, below: upper)
  }

  /// How many users there are.
  ///
  /// - Throws: what reading can throw.
  public var userCount: Int {
    mutating get throws(StoreError) { try session.userCount() }
  }

  /// The names of the further attributes that users have, each once, in the order of their bytes.
  ///
  /// Goes through all attributes: some tenths of a second for a million.
  ///
  /// - Throws: what reading can throw.
  public var attributeNames: [AttributeName] {
    mutating get throws(StoreError) { try session.attributeNames() }
  }

  /// Whether any user has a further attribute with this name.
  ///
  /// Goes through attributes until it finds one.
  package mutating func hasAttribute(_ name: AttributeName) throws(StoreError) -> Bool {
    try session.hasAttribute(name)
  }

  /// Reads one attribute.
  ///
  /// - Parameters:
  ///   - attribute: Which one.
  ///   - id: Whose.
  /// - Returns: the value; nil when it is not set, or nobody has the id.
  /// - Throws: `StoreError.Code.undecodable` when what is stored is not of the attribute's type, and what reading can throw.
  public mutating func value<Value>(_ attribute: Attribute<Value>, of id: UserStore.User.ID) throws(StoreError)
    -> Value?
  {
    try attribute.decode(storedValue(attribute.name, of: id), of: id)
  }

  /// Reads one attribute as it is stored.
  ///
  /// - Parameters:
  ///   - attribute: Its name.
  ///   - id: Whose.
  /// - Returns: the stored value; null when it is not set, or nobody has the id.
  /// - Throws: what reading can throw.
  public mutating func storedValue(_ attribute: AttributeName, of id: UserStore.User.ID) throws(StoreError)
    -> StoredValue
  {
    try session.value(attribute, of: id)
  }
}
