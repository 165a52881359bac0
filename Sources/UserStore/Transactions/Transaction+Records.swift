/// Whole records as they are to be stored, for tools that learn of types at run time.
///
/// All values are checked before the first is written: a record that is refused leaves nothing behind, and the write may
/// go on with the next one.
extension UserStore.Transaction where Mode == UserStore.Writing {
  /// Adds a user with all attributes.
  ///
  /// - Parameters:
  ///   - values: Each attribute at most once, `name` among them; null is the same as leaving it out.
  ///   - id: The id to have, at most 2⁶²; nil for a new one. It may be that of a user who was removed: then it is that
  ///     user who comes back.
  /// - Returns: the id.
  /// - Throws: `StoreError.Code.badValue`, `.conflict` when somebody has the id, and what writing can throw.
  @discardableResult
  public mutating func add(
    _ values: [(attribute: AttributeName, value: StoredValue)], as id: UserStore.User.ID? = nil
  ) throws(StoreError) -> UserStore.User.ID {
    let values = try Limits.checked(values)
    guard let name = Self.value(.name, in: values) else { throw StoreError(.badValue, "a user needs a name") }
    if let id { try requireFree(id) }
    let id = try session.insertUser(id, name: name, hairColor: Self.value(.hairColor, in: values) ?? .null)
    for (attribute, value) in values where ![.name, .hairColor].contains(attribute) && !value.isNull {
      try session.insert(attribute, of: id, value)
    }
    return id
  }

  /// Sets several attributes.
  ///
  /// - Parameters:
  ///   - values: Each attribute at most once; null unsets. Those that are not named are left alone.
  ///   - id: Whose.
  /// - Returns: whether any of it was a change.
  /// - Throws: `StoreError.Code.userNotFound`, `StoreError.Code.badValue`, and what writing can throw.
  @discardableResult
  public mutating func set(
    _ values: [(attribute: AttributeName, value: StoredValue)], of id: UserStore.User.ID
  ) throws(StoreError) -> Bool {
    let values = try Limits.checked(values)
    try requireUser(id)
    var hasChanged = false
    for (attribute, value) in values where try set(attribute, of: id, to: value) { hasChanged = true }
    return hasChanged
  }

  private mutating func requireFree(_ id: User.ID) throws(StoreError) {
    guard Limits.ids.contains(id.rawValue) else {
      throw StoreError(.badValue, "an id is at most \(Limits.ids.upperBound), not \(id)")
    }
    if try !storedValue(.name, of: id).isNull { throw StoreError(.conflict, "there is a user \(id) already") }
  }

  private static func value(_ attribute: AttributeName, in values: [(attribute: AttributeName, value: StoredValue)])
    -> StoredValue?
  {
    values.first { $0.attribute == attribute }?.value
  }
}
