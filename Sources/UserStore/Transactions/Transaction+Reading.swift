extension UserStore.Transaction where Mode == UserStore.Reading {
  /// The end of the log in this snapshot.
  ///
  /// A feed that starts at this cursor delivers exactly the changes that this snapshot does not include.
  ///
  /// - Throws: `StoreError` if reading fails.
  public var cursor: UserStore.Cursor {
    mutating get throws(StoreError) { try session.logEnd() }
  }

  /// The start of the log in this snapshot.
  ///
  /// A feed that starts at this cursor delivers everything that the log has.
  ///
  /// - Throws: `StoreError` if reading fails.
  public var oldestCursor: UserStore.Cursor {
    mutating get throws(StoreError) { try session.horizon() }
  }

  /// Returns the cursor at a revision, for example at one that `revision` of a write has returned.
  ///
  /// A revision is the number of a row in the log. If a change set ends there, this is the cursor of the set. If the revision is
  /// within a set, a feed that starts at the cursor delivers the rest of the set, which is continued (`ChangeSet.isContinued`).
  ///
  /// - Parameter revision: The revision.
  /// - Returns: The cursor; nil if the revision is after the end of the log in this snapshot, or before its start.
  /// - Throws: `StoreError` if reading fails.
  public mutating func cursor(at revision: UserStore.Revision) throws(StoreError) -> UserStore.Cursor? {
    try session.cursor(at: revision.rawValue)
  }
}

extension UserStore.Transaction {
  /// Returns the user with the given identifier, or nil if there is none.
  ///
  /// - Throws: `StoreError` if reading fails.
  public mutating func user(_ id: UserStore.User.ID) throws(StoreError) -> UserStore.User? { try session.user(id) }

  /// Returns the identifiers of the users with the given name, ascending; names are compared byte by byte.
  ///
  /// - Throws: `StoreError` if reading fails.
  public mutating func ids(named name: String) throws(StoreError) -> [UserStore.User.ID] {
    // The text may be one that no write accepts as a name.
    try ids(of: RowRequest(condition: Attribute.name == name, order: [], columns: []))
  }

  /// Returns up to `limit` names of any users from `lower` up to, but not including, `upper`, in the order of their bytes.
  ///
  /// A name that several users have is returned several times. Reads users until enough are found.
  package mutating func userNames(from lower: String, below upper: String, limit: Int) throws(StoreError) -> [String] {
    // Not sorted by the database, which would sort the names of all users before it applies the limit.
    try names(from: lower, below: upper, limit: limit).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Returns the first and the last name from `lower` up to, but not including, `upper`: a prefix of both is a prefix of all.
  ///
  /// Without an index of the names, reads all users twice: a fifth of a second for a million. Returns an empty array if there is
  /// no name in the range.
  package mutating func outermostUserNames(from lower: String, below upper: String) throws(StoreError) -> [String] {
    try names(from: lower, below: upper, order: [SortKey(.name)], limit: 1)
      + names(from: lower, below: upper, order: [SortKey(.name, descending: true)], limit: 1)
  }

  private mutating func names(
    from lower: String, below upper: String, order: [SortKey] = [], limit: Int
  ) throws(StoreError) -> [String] {
    var names: [String] = []
    let condition = Attribute.name >= lower && Attribute.name < upper
    try session.eachRow(RowRequest(condition: condition, order: order, limit: limit, columns: [.name])) { _, values in
      if case .text(let name)? = values.first { names.append(name) }
      return true
    }
    return names
  }

  /// The names of all attributes that users have, except `name` and `hair_color`, in the order of their bytes.
  ///
  /// Reads all attributes: some tenths of a second for a million.
  ///
  /// - Throws: `StoreError` if reading fails.
  public var attributeNames: [AttributeName] {
    mutating get throws(StoreError) { try session.attributeNames() }
  }

  /// Returns whether any user has an attribute with this name, except `name` and `hair_color`; reads until it finds one.
  package mutating func hasAttribute(_ name: AttributeName) throws(StoreError) -> Bool {
    // A request holds only checked names; no attribute has one with a zero byte, at which SQL would end.
    if name.text.utf8.contains(0) { return false }
    return try !ids(of: RowRequest(condition: .exists(name), order: [], limit: 1, columns: [])).isEmpty
  }

  /// Returns the value of an attribute, or nil if it is not set or there is no such user.
  ///
  /// - Throws: `StoreError.Code.undecodable` if the stored value is not of the attribute's type; `StoreError` if reading fails.
  public mutating func value<Value>(_ attribute: Attribute<Value>, of id: UserStore.User.ID) throws(StoreError)
    -> Value?
  {
    try attribute.decode(storedValue(attribute.name, of: id), of: id)
  }

  /// Returns the value of an attribute as it is stored, or null if it is not set or there is no such user.
  ///
  /// - Throws: `StoreError` if reading fails.
  public mutating func storedValue(_ attribute: AttributeName, of id: UserStore.User.ID) throws(StoreError)
    -> StoredValue
  {
    try session.value(attribute, of: id)
  }

  mutating func hasUser(_ id: User.ID) throws(StoreError) -> Bool {
    try !storedValue(.name, of: id).isNull
  }
}
