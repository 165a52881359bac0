extension UserStore.Transaction where Mode == UserStore.Writing {
  /// The end of the log before this write: the change set of this write will be the next one after it.
  ///
  /// On PostgreSQL, other programs can commit before this write does. Then their change sets come first, and after another write in
  /// the same transaction, this cursor is not one of the log: keep that of the change set instead.
  ///
  /// - Throws: `StoreError` if reading fails.
  public var cursor: UserStore.Cursor {
    mutating get throws(StoreError) { try session.writingEnd() }
  }

  /// The revision at which the change set of this write will end, with the changes so far.
  ///
  /// Without changes, it is that of `cursor`, which may be the end of another program's write: then `pendingChanges` is empty.
  ///
  /// Further changes in this write move the end. After the last one, it is the `revision` of the set that listeners and feeds
  /// receive once the write is committed; `cursor(at:)` in a `read` returns the cursor of the set.
  ///
  /// - Throws: `StoreError` if reading fails.
  public var revision: UserStore.Revision {
    mutating get throws(StoreError) {
      let (start, last) = (try cursor, try session.logEnd())
      if last.revision <= start.revision { return start.revision }
      // A row of its own ends the set.
      return Revision(rawValue: try session.finalPosition(of: last).revision.rawValue + 1)
    }
  }

  /// Adds a user.
  ///
  /// - Parameters:
  ///   - name: 1 to 1,000 Unicode scalars without control characters. Several users can have the same name.
  ///   - hairColor: The hair color, if known.
  /// - Returns: The identifier of the new user, which no other user has had before.
  /// - Throws: `StoreError.Code.badValue`, and any other `StoreError` if writing fails.
  @discardableResult
  public mutating func add(name: String, hairColor: UserStore.Color? = nil) throws(StoreError) -> UserStore.User.ID {
    let name = try Limits.checked(name.storedValue, for: "name")
    return try session.insertUser(nil, name: name, hairColor: hairColor?.storedValue ?? .null)
  }

  /// Adds a user with all attributes, as they are to be stored.
  ///
  /// All values are checked first: if one is refused, nothing is written, and the write can continue.
  ///
  /// - Parameters:
  ///   - values: Each attribute at most once, including `name`; null has the same effect as leaving the attribute out.
  ///   - id: The identifier, at most 2⁶²; nil for a new one. The identifier of a removed user means the same user again.
  /// - Returns: The identifier.
  /// - Throws: `StoreError.Code.badValue`, `.conflict` if there is a user with this identifier, and any other `StoreError` if
  ///   writing fails.
  @discardableResult
  public mutating func add(
    _ values: [(attribute: AttributeName, value: StoredValue)], as id: UserStore.User.ID? = nil
  ) throws(StoreError) -> UserStore.User.ID {
    try add(values, as: id, verbatim: [])
  }

  /// Adds a user as `add` does; the values of the attributes in `verbatim` can be any that another program can store.
  ///
  /// A database that cannot hold such a value throws `badValue`. Then nothing is written, and the write can continue.
  package mutating func add(
    _ values: [(attribute: AttributeName, value: StoredValue)], as id: UserStore.User.ID?, verbatim: Set<AttributeName>
  ) throws(StoreError) -> UserStore.User.ID {
    let values = try Limits.checked(values, verbatim: verbatim)
    if verbatim.isEmpty { return try insert(values, as: id) }
    return try undoingOnError { transaction throws(StoreError) in try transaction.insert(values, as: id) }
  }

  private mutating func insert(
    _ values: [(attribute: AttributeName, value: StoredValue)], as id: UserStore.User.ID?
  ) throws(StoreError) -> UserStore.User.ID {
    let name = values.first { $0.attribute == .name }?.value
    guard let name else { throw StoreError(.badValue, "a user needs a name") }
    let hairColor = values.first { $0.attribute == .hairColor }?.value ?? .null
    if let id { try requireFree(id) }
    try requireUnique(values.filter { !AttributeName.builtIn.contains($0.attribute) }, of: id)
    let id = try session.insertUser(id, name: name, hairColor: hairColor)
    for (attribute, value) in values where ![.name, .hairColor].contains(attribute) && !value.isNull {
      try session.insert(attribute, of: id, value)
    }
    return id
  }

  /// Renames a user; a name has 1 to 1,000 Unicode scalars and no control characters.
  ///
  /// - Throws: `StoreError.Code.userNotFound`, `.badValue`, and any other `StoreError` if writing fails.
  public mutating func rename(_ id: UserStore.User.ID, to name: String) throws(StoreError) {
    try set(.name, of: id, to: name.storedValue)
  }

  /// Sets an attribute, or unsets it with nil.
  ///
  /// If the attribute has this value already, nothing is written; a write that changes nothing creates no change set.
  /// `pendingChanges` shows whether it has changed anything. The integer 1 and the real number 1.0 are different values.
  ///
  /// - Throws: `StoreError.Code.userNotFound`; `.badValue`, for example if it unsets the name; and any other `StoreError` if
  ///   writing fails.
  public mutating func set<Value>(
    _ attribute: Attribute<Value>, of id: UserStore.User.ID, to value: Value?
  ) throws(StoreError) {
    try set(attribute.name, of: id, to: value?.storedValue ?? .null)
  }

  /// Sets an attribute if it has the expected value, where nil means not set (compare and set).
  ///
  /// - Throws: `StoreError.Code.conflict` if it has another value (text is compared byte by byte); and the same errors as
  ///   without an expected value.
  public mutating func set<Value>(
    _ attribute: Attribute<Value>, of id: UserStore.User.ID, to value: Value?, expecting expected: Value?
  ) throws(StoreError) {
    try set(attribute.name, of: id, to: value?.storedValue ?? .null, expecting: expected?.storedValue ?? .null)
  }

  /// Sets an attribute by name to a value as it is to be stored, or unsets it with null.
  ///
  /// - Throws: `StoreError.Code.userNotFound`; `.badValue`, for example if `name` is not text or `hair_color` is no color; and
  ///   any other `StoreError` if writing fails.
  public mutating func set(
    _ attribute: AttributeName, of id: UserStore.User.ID, to value: StoredValue
  ) throws(StoreError) {
    _ = try update(attribute, of: id, to: value)
  }

  /// Sets an attribute as `set` does, and returns whether that changed the stored value or its storage class (1 → 1.0).
  package mutating func update(
    _ attribute: AttributeName, of id: UserStore.User.ID, to value: StoredValue
  ) throws(StoreError) -> Bool {
    try put(attribute, of: id, try Limits.checked(value, for: attribute))
  }

  private mutating func put(
    _ attribute: AttributeName, of id: UserStore.User.ID, _ value: StoredValue
  ) throws(StoreError) -> Bool {
    switch try session.put(attribute, of: id, value) {
    case .changed: return true
    case .unchanged: return false
    case .noUser: throw .noUser(id)
    }
  }

  /// Sets an attribute by name if it has the expected stored value, where null means not set.
  ///
  /// - Throws: `StoreError.Code.conflict` if it has another value; and the same errors as without an expected value.
  public mutating func set(
    _ attribute: AttributeName, of id: UserStore.User.ID, to value: StoredValue, expecting expected: StoredValue
  ) throws(StoreError) {
    _ = try update(attribute, of: id, to: value, expecting: expected)
  }

  /// Sets an attribute as `set` does if it has the expected value, and returns whether that changed it.
  package mutating func update(
    _ attribute: AttributeName, of id: UserStore.User.ID, to value: StoredValue, expecting expected: StoredValue
  ) throws(StoreError) -> Bool {
    let current = try storedValue(attribute, of: id)
    guard current == expected else {
      try requireUser(id)
      throw Self.conflict(attribute, of: id, current, expected)
    }
    try session.noteExpectation(attribute, of: id, expected)
    return try update(attribute, of: id, to: value)
  }

  /// Sets several attributes, as they are to be stored.
  ///
  /// All values are checked first: if one is refused, nothing is written, and the write can continue.
  ///
  /// - Parameters:
  ///   - values: Each attribute at most once; null unsets it. Other attributes do not change.
  ///   - id: The user's identifier.
  /// - Throws: `StoreError.Code.userNotFound`, `.badValue`, and any other `StoreError` if writing fails.
  public mutating func set(
    _ values: [(attribute: AttributeName, value: StoredValue)], of id: UserStore.User.ID
  ) throws(StoreError) {
    _ = try update(values, of: id)
  }

  /// Sets several attributes as `set` does, and returns whether any stored value changed.
  ///
  /// The values of the attributes in `verbatim` can be any that another program can store. A database that cannot hold such a
  /// value throws `badValue`. Then nothing is written, and the write can continue.
  package mutating func update(
    _ values: [(attribute: AttributeName, value: StoredValue)], of id: UserStore.User.ID,
    verbatim: Set<AttributeName> = []
  ) throws(StoreError) -> Bool {
    let values = try Limits.checked(values, verbatim: verbatim)
    try requireUser(id)
    if verbatim.isEmpty { return try put(values, of: id) }
    return try undoingOnError { transaction throws(StoreError) in try transaction.put(values, of: id) }
  }

  private mutating func put(
    _ values: [(attribute: AttributeName, value: StoredValue)], of id: UserStore.User.ID
  ) throws(StoreError) -> Bool {
    if values.count > 1 { try requireUnique(values, of: id) }
    var hasChanged = false
    for (attribute, value) in values where try put(attribute, of: id, value) { hasChanged = true }
    return hasChanged
  }

  /// Unsets an attribute; has no effect if it is not set.
  ///
  /// - Throws: `StoreError.Code.userNotFound`, `.badValue` for the name, and any other `StoreError` if writing fails.
  public mutating func unset<Value>(_ attribute: Attribute<Value>, of id: UserStore.User.ID) throws(StoreError) {
    try set(attribute.name, of: id, to: .null)
  }

  /// Removes a user with all attributes.
  ///
  /// The rows of your own tables that refer to the user are handled as their foreign keys say: `ON DELETE CASCADE` removes them.
  ///
  /// - Throws: `StoreError.Code.userNotFound`; `.stillReferenced` if a foreign key forbids it, where on SQLite the write can
  ///   continue; and any other `StoreError` if writing fails.
  public mutating func remove(_ id: UserStore.User.ID) throws(StoreError) {
    if try !session.removeUser(id) { throw .noUser(id) }
  }

  /// Posts an event: it is delivered in order with the changes of this write, when the write is committed.
  ///
  /// An event alone is a change set without changes. Lists, attributes and observable users ignore events, and so does `undo`.
  ///
  /// - Parameters:
  ///   - name: 1 to 200 Unicode scalars without control characters; listeners choose events by it (`Topic.event`).
  ///   - payload: Any value of up to 16 MiB; null for none.
  ///   - id: The user that the event is about; `purge` of this user removes the payload from the log.
  /// - Throws: `StoreError.Code.badValue`, `.userNotFound` if there is no user with this identifier, and any other `StoreError` if
  ///   writing fails. After the first two, the write can continue.
  public mutating func post(
    _ name: String, _ payload: StoredValue = .null, about id: UserStore.User.ID? = nil
  ) throws(StoreError) {
    try Limits.checkEvent(name, payload)
    try session.append(.event(name: name, payload: payload, about: id))
  }

  /// Posts an event as `post` does, with a payload of JSON.
  ///
  /// - Parameters:
  ///   - name: The name of the event.
  ///   - payload: Encoded as a property of a profile is: as JSON text, in which the members of an object are sorted.
  ///   - id: The user that the event is about.
  /// - Throws: What `post` throws, and what the payload throws while it is encoded.
  public mutating func post(_ name: String, json payload: some Encodable, about id: UserStore.User.ID? = nil) throws {
    try post(name, .text(EncodedValue.json(of: payload)), about: id)
  }

  /// The changes of this write so far, in order, for example to show what it would change before rolling it back.
  ///
  /// - Throws: `StoreError` if reading fails.
  public var pendingChanges: [UserStore.Change] {
    mutating get throws(StoreError) { try pending.changes }
  }

  /// The changes and events of this write so far, in order.
  package var pendingEntries: [UserStore.Entry] {
    mutating get throws(StoreError) { try pending.merged }
  }

  private var pending: ChangeSet.Entries {
    mutating get throws(StoreError) {
      let start = try cursor
      var rows: [LogRow] = []
      while true {
        let last = rows.last?.sequence ?? start.revision.rawValue
        let more = try session.rows(withoutGapAfter: last, through: .max)
        if more.isEmpty { return rows.entries }
        rows += more
      }
    }
  }

  static func conflict(
    _ attribute: AttributeName, of id: User.ID, _ current: StoredValue, _ expected: StoredValue
  ) -> StoreError {
    StoreError(.conflict, "the \(attribute) of user \(id) is \(current.forMessages), not \(expected.forMessages)")
  }

  /// Throws `notUnique` if another user has one of several values, before the first of them is written: it would be refused itself.
  private mutating func requireUnique(
    _ values: [(attribute: AttributeName, value: StoredValue)], of id: User.ID?
  ) throws(StoreError) {
    for (attribute, value) in values where !value.isNull {
      guard let holder = try session.holder(of: value, attribute, besides: id) else { continue }
      throw .notUnique(attribute, value, of: id, holder: holder)
    }
  }

  private mutating func requireUser(_ id: User.ID) throws(StoreError) {
    if try !hasUser(id) { throw .noUser(id) }
  }

  private mutating func requireFree(_ id: User.ID) throws(StoreError) {
    guard Limits.ids.contains(id.rawValue) else {
      throw StoreError(.badValue, "an id must be at most \(Limits.ids.upperBound), not \(id)")
    }
    if try hasUser(id) { throw StoreError(.conflict, "user \(id) already exists") }
  }

}

extension StoreError {
  package static func noUser(_ id: User.ID) -> StoreError { StoreError(.userNotFound, "there is no user \(id)") }

  package static func stillReferenced(_ id: User.ID, _ cause: any Error, reason: String? = nil) -> StoreError {
    let detail = reason.map { " (\($0))" } ?? ""
    return StoreError(
      .stillReferenced, "user \(id) cannot be removed: another table refers to it\(detail)", cause: cause)
  }
}
