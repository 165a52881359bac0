extension UserStore.Transaction {
  /// Returns the profile of a user, or nil if there is no such user.
  ///
  /// - Parameters:
  ///   - type: The type of the profile.
  ///   - id: The user's identifier.
  /// - Returns: The profile.
  /// - Throws: `StoreError.Code.undecodable` if a value is not of the property's type, or is missing without a default; `.badValue`
  ///   for a type of Foundation that is not an attribute value; `StoreError` if reading fails.
  public mutating func profile<Profile: UserStore.Profile>(
    _ type: Profile.Type = Profile.self, of id: UserStore.User.ID
  ) throws(StoreError) -> Profile? {
    guard let user = try user(id) else { return nil }
    return try user.profile(type)
  }
}

extension UserStore.Transaction where Mode == UserStore.Writing {
  /// Adds a user with a profile.
  ///
  /// A property that has the value of `defaults` is not stored, except the name. All values are checked first: if one is refused,
  /// nothing is written, and the write can continue.
  ///
  /// - Parameter profile: The profile, which needs a name: a property with the coding key `name`.
  /// - Returns: The identifier of the new user, which no other user has had before.
  /// - Throws: `StoreError.Code.badValue`, also for a type of Foundation that is not an attribute value; and any other `StoreError` if
  ///   writing fails.
  @discardableResult
  public mutating func add(_ profile: some UserStore.Profile) throws(StoreError) -> UserStore.User.ID {
    try add(profile.attributesToAdd())
  }

  /// Changes a profile of a user: reads it, calls a closure with it, and sets the properties that differ then.
  ///
  /// Other attributes do not change. All values are checked first: if one is refused, nothing is written, and the write can
  /// continue.
  ///
  /// - Parameters:
  ///   - type: The type of the profile.
  ///   - id: The user's identifier.
  ///   - change: Changes the profile. An error that it throws is rethrown, and nothing is written.
  /// - Throws: `StoreError.Code.userNotFound`; `.undecodable` if the profile does not decode; `.badValue`; any other `StoreError` if
  ///   reading or writing fails; and what `change` throws.
  public mutating func update<Profile: UserStore.Profile>(
    _ type: Profile.Type, of id: UserStore.User.ID, _ change: (inout Profile) throws -> Void
  ) throws {
    guard let user = try user(id) else { throw StoreError.noUser(id) }
    _ = try update(type, of: user, change)
  }

  /// Changes a profile of all users who meet a condition, one after the other in the order of their identifiers.
  ///
  /// All changes are one change set, however many users there are. Only some of them are in memory at a time. If it throws, it
  /// changes nothing, and the write can continue.
  ///
  ///     try store.write { users in
  ///       try users.update(Account.self, where: .exists("plan")) { account in
  ///         account.role = .customer
  ///         account.plan = nil
  ///       }
  ///     }
  ///
  /// - Parameters:
  ///   - type: The type of the profile.
  ///   - condition: The condition that users must meet; `.always` for all users.
  ///   - change: Changes the profile of one user. An error that it throws is rethrown, and ends the operation.
  /// - Returns: The number of users who have changed.
  /// - Throws: `StoreError.Code.undecodable` if a profile does not decode; `.badValue`, also for a condition that cannot be
  ///   evaluated; any other `StoreError` if reading or writing fails; and what `change` throws.
  @discardableResult
  public mutating func update<Profile: UserStore.Profile>(
    _ type: Profile.Type, where condition: UserStore.Condition, _ change: (inout Profile) throws -> Void
  ) throws -> Int {
    try undoingOnAnyError { transaction in
      var (changed, query) = (0, Query(where: condition))
      while true {
        let users = try transaction.page(of: query)
        guard let last = users.last else { return changed }
        for user in users where try transaction.update(type, of: user, change) { changed += 1 }
        query = query.after(last)
      }
    }
  }

  /// Sets what a form has changed of a profile, unless somebody else has changed the same properties meanwhile.
  ///
  ///     let original = try store.profile(Account.self, of: id)  // shown in the form
  ///     try store.write { try $0.save(edited, over: original, of: id) }
  ///
  /// The properties that differ between both are set, if those of the stored profile equal the original's. Others do not change,
  /// whatever they are now. If it throws, it changes nothing, and the write can continue.
  ///
  /// - Parameters:
  ///   - edited: The profile to save.
  ///   - original: The profile as it was read before it was edited.
  ///   - id: The user's identifier.
  /// - Throws: `StoreError.Code.conflict` if a property that was edited has another value than the original's; `.userNotFound`;
  ///   `.undecodable` if the stored profile does not decode; `.badValue`; any other `StoreError` if reading or writing fails.
  public mutating func save<Profile: UserStore.Profile>(
    _ edited: Profile, over original: Profile, of id: UserStore.User.ID
  ) throws(StoreError) {
    let expected = try original.encodedAttributes()
    let differences = try edited.encodedAttributes().differences(from: expected)
    guard let user = try user(id) else { throw StoreError.noUser(id) }
    if differences.isEmpty { return }
    // Compared as values of the profile: another program may have stored the same date in another format.
    let current = try user.profile(Profile.self).encodedAttributes()
    for (attribute, _) in differences {
      let (current, expected) = (current[attribute] ?? .null, expected[attribute] ?? .null)
      if current != expected { throw Self.conflict(attribute, of: id, current, expected) }
    }
    try set(differences, of: id)
  }

  /// Gives an attribute another name, for all users who have it: after you have renamed a coding key, for example.
  ///
  /// The values stay as they are stored. All changes are one change set, however many users there are: for each, the new attribute
  /// is set, and the old one is unset. If it throws, it changes nothing, and the write can continue. An index stays on the old name.
  ///
  /// - Parameters:
  ///   - old: The name that users have now; not `name` or `hair_color`, which cannot be renamed.
  ///   - new: The new name.
  /// - Returns: The number of users whose attribute was renamed.
  /// - Throws: `StoreError.Code.conflict` if users who have the old attribute also have the new one, `.badValue` for the names, and any
  ///   other `StoreError` if reading or writing fails.
  @discardableResult
  public mutating func renameAttribute(
    _ old: AttributeName, to new: AttributeName
  ) throws(StoreError) -> Int {
    for name in [old, new] {
      try name.check()
      if name == .id { throw StoreError(.badValue, "the id of a user never changes") }
      if AttributeName.builtIn.contains(name) {
        throw StoreError(
          .badValue, "the \(name) is a column of its own: no other attribute can have its name or its place")
      }
    }
    if old == new { return 0 }
    let both = try count(where: .exists(old) && .exists(new))
    guard both == 0 else {
      let users = both == 1 ? "1 user has" : "\(both) users have"
      throw StoreError(
        .conflict, "\(StoredValue.text(old.text).forMessages) cannot be renamed: \(users) both attributes",
        hint: "unset one of them first")
    }
    return try undoingOnError { transaction throws(StoreError) in
      var (renamed, query) = (0, Query(where: .exists(old), showing: [old]))
      while true {
        let users = try transaction.pageOfStoredUsers(query)
        guard let last = users.last else { return renamed }
        // Not with `set`, which refuses some values that other programs store.
        for user in users {
          guard let value = user[stored: old] else { continue }
          _ = try transaction.session.put(new, of: user.id, value)
          _ = try transaction.session.put(old, of: user.id, .null)
          renamed += 1
        }
        query = query.after(last)
      }
    }
  }

  /// Sets what a closure changes of a profile, and returns whether that changed any stored value.
  private mutating func update<Profile: UserStore.Profile>(
    _ type: Profile.Type, of user: User, _ change: (inout Profile) throws -> Void
  ) throws -> Bool {
    var profile = try user.profile(type)
    let old = try profile.encodedAttributes()
    try change(&profile)
    let differences = try profile.encodedAttributes().differences(from: old)
    return try !differences.isEmpty && update(differences, of: user.id)
  }

  /// The first users of a query, as many as fit into some memory.
  ///
  /// A page is read before its users are changed, because a session runs one operation at a time.
  private mutating func page(of query: Query) throws -> [User] {
    var (users, byteCount): ([User], Int) = ([], 0)
    try iterateUsers(matching: query) { user in
      users.append(user)
      byteCount += user.byteCount
      return users.count < PagedChanges.rowLimit && byteCount < PagedChanges.byteLimit
    }
    return users
  }

  private mutating func pageOfStoredUsers(_ query: Query) throws(StoreError) -> [User] {
    do { return try page(of: query) } catch { throw StoreError(error) }
  }
}
