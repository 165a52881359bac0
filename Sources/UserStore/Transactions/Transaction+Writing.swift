extension UserStore.Transaction where Mode == UserStore.Writing {
  /// The end of the log before this write: its own change set will be the next one after it.
  ///
  /// - Throws: what reading can throw.
  public var cursor: UserStore.Cursor {
    mutating get throws(StoreError) {
      if let start { return start }
      return try session.logEnd()
    }
  }

  /// Adds a user.
  ///
  /// - Parameters:
  ///   - name: 1 to 1,000 Unicode scalars without control characters. Several users may have the same.
  ///   - hairColor: The colour of the hair, if known.
  /// - Returns: the new id; ids of removed users are not given again.
  /// - Throws: `StoreError.Code.badValue`, and what writing can throw.
  @discardableResult
  public mutating func add(name: String, hairColor: UserStore.Color? = nil) throws(StoreError) -> UserStore.User.ID {
    let name = try Limits.checked(name.storedValue, for: "name")
    return try session.insertUser(nil, name: name, hairColor: hairColor?.storedValue ?? .null)
  }

  /// Changes a user's name.
  ///
  /// - Parameters:
  ///   - id: Whose.
  ///   - name: 1 to 1,000 Unicode scalars without control characters.
  /// - Returns: whether it was another one before.
  /// - Throws: `StoreError.Code.userNotFound`, `StoreError.Code.badValue`, and what writing can throw.
  @discardableResult
  public mutating func rename(_ id: UserStore.User.ID, to name: String) throws(StoreError) -> Bool {
    try set("name", of: id, to: name.storedValue)
  }

  /// Sets an attribute, or unsets it with nil.
  ///
  /// - Parameters:
  ///   - attribute: Which one.
  ///   - id: Whose.
  ///   - value: The new value; nil is refused for the name.
  /// - Returns: whether that was a change; one in nothing but the storage class (1 → 1.0) is one.
  /// - Throws: `StoreError.Code.userNotFound`, `StoreError.Code.badValue`, and what writing can throw.
  @discardableResult
  public mutating func set<Value>(
    _ attribute: Attribute<Value>, of id: UserStore.User.ID, to value: Value?
  ) throws(StoreError) -> Bool {
    try set(attribute.name, of: id, to: value?.storedValue ?? .null)
  }

  /// Sets an attribute if it has the value that is expected: compare and set.
  ///
  /// - Parameters:
  ///   - attribute: Which one.
  ///   - id: Whose.
  ///   - value: The new value; nil unsets.
  ///   - expected: What it must be now; nil for not set. Text is compared by its bytes.
  /// - Returns: whether that was a change.
  /// - Throws: `StoreError.Code.conflict` when it is something else; otherwise as `set`.
  @discardableResult
  public mutating func set<Value>(
    _ attribute: Attribute<Value>, of id: UserStore.User.ID, to value: Value?, expecting expected: Value?
  ) throws(StoreError) -> Bool {
    try set(attribute.name, of: id, to: value?.storedValue ?? .null, expecting: expected?.storedValue ?? .null)
  }

  /// Sets an attribute by its name, as it is to be stored, for tools that learn of types at run time.
  ///
  /// - Parameters:
  ///   - attribute: The name; `name` wants text, `hair_color` a colour.
  ///   - id: Whose.
  ///   - value: The new value; null unsets.
  /// - Returns: whether that was a change.
  /// - Throws: `StoreError.Code.userNotFound`, `StoreError.Code.badValue`, and what writing can throw.
  @discardableResult
  public mutating func set(_ attribute: AttributeName, of id: UserStore.User.ID, to value: StoredValue)
    throws(StoreError)
    -> Bool
  {
    let value = try Limits.checked(value, for: attribute)
    switch try session.put(attribute, of: id, value) {
    case .changed: return true
    case .unchanged: return false
    case .noUser: throw Self.noUser(id)
    }
  }

  /// Compare and set, by name and as stored.
  ///
  /// - Parameters:
  ///   - attribute: The name.
  ///   - id: Whose.
  ///   - value: The new value; null unsets.
  ///   - expected: What it must be now; null for not set.
  /// - Returns: whether that was a change.
  /// - Throws: `StoreError.Code.conflict` when it is something else; otherwise as `set`.
  @discardableResult
  public mutating func set(
    _ attribute: AttributeName, of id: UserStore.User.ID, to value: StoredValue, expecting expected: StoredValue
  ) throws(StoreError) -> Bool {
    let present = try storedValue(attribute, of: id)
    guard present == expected else {
      try requireUser(id)
      throw StoreError(
        .conflict, "the \(attribute) of user \(id) is \(present.forMessages), not \(expected.forMessages)")
    }
    return try set(attribute, of: id, to: value)
  }

  /// Takes an attribute away.
  ///
  /// - Parameters:
  ///   - attribute: Which one; not the name.
  ///   - id: Whose.
  /// - Returns: whether it was set.
  /// - Throws: `StoreError.Code.userNotFound`, `StoreError.Code.badValue`, and what writing can throw.
  @discardableResult
  public mutating func unset<Value>(_ attribute: Attribute<Value>, of id: UserStore.User.ID) throws(StoreError) -> Bool
  {
    try set(attribute.name, of: id, to: .null)
  }

  /// Removes a user with all attributes.
  ///
  /// - Parameter id: Whom.
  /// - Throws: `StoreError.Code.userNotFound`, and what writing can throw.
  public mutating func remove(_ id: UserStore.User.ID) throws(StoreError) {
    if try !session.removeUser(id) { throw Self.noUser(id) }
  }

  /// What this write has changed so far, in order.
  ///
  /// A set that is rolled back never existed; this is for showing what would be.
  ///
  /// - Throws: what reading can throw.
  public var changes: [UserStore.Change] {
    mutating get throws(StoreError) {
      guard let start else { return [] }
      var rows: [LogRow] = []
      while true {
        let last = rows.last?.sequence ?? start.revision.rawValue
        let more = try session.rows(withoutGapAfter: last, through: .max)
        if more.isEmpty { return rows.filter { !$0.isEnd }.map(\.change) }
        rows += more
      }
    }
  }

  mutating func requireUser(_ id: User.ID) throws(StoreError) {
    if try storedValue(.name, of: id).isNull { throw Self.noUser(id) }
  }

  private static func noUser(_ id: User.ID) -> StoreError { StoreError(.userNotFound, "there is no user \(id)") }
}
