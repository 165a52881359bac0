extension UserStore.Transaction where Mode == Writing {
  /// What is known of users that are to come back: their attributes stand after them in the log.
  private typealias Returning = [User.ID: [(attribute: AttributeName, value: StoredValue)]]

  /// Goes through the rows of a write from its end, and puts back what each took.
  mutating func undo(_ written: (first: Int64, end: Int64)) throws(StoreError) {
    var returning: Returning = [:]
    var position = written.end
    while position > written.first {
      let rows = try session.rowsBackwards(from: written.first, before: position)
      guard let last = rows.last else { break }
      for row in rows { try undo(row.change, &returning) }
      position = last.sequence
    }
  }

  private mutating func undo(_ change: Change, _ returning: inout Returning) throws(StoreError) {
    if change.isPurged {
      throw StoreError(.conflict, "the values of user \(change.user) were purged; nothing brings them back")
    }
    switch change.kind {
    case .updated:
      try expect(change.new, change)
      try putBack(change)
    case .added:
      try expect(change.new, change)
      // Logged before its hair colour: what follows the name was undone.
      if change.attribute == .name { try removeAdded(change) }
    case .removed where change.attribute == .name:
      try bringBack(change.user, name: change.old, returning.removeValue(forKey: change.user) ?? [])
    case .removed: returning[change.user, default: []].append((change.attribute, change.old))
    case .unknown:
      throw StoreError(.conflict, "row \(change.sequence) of the log is none that anybody could undo")
    }
  }

  private mutating func expect(_ value: StoredValue, _ change: Change) throws(StoreError) {
    let present = try storedValue(change.attribute, of: change.user)
    if present == value { return }
    let name = "the \(change.attribute) of user \(change.user)"
    guard try hasUser(change.user) else {
      throw StoreError(.conflict, "\(name) cannot be put back: the user was removed since")
    }
    throw StoreError(
      .conflict, "\(name) was changed since: it is \(present.forMessages), and the write left \(value.forMessages)")
  }

  private mutating func removeAdded(_ change: Change) throws(StoreError) {
    let further = try session.anyAttribute(of: change.user)
    if let further {
      throw StoreError(.conflict, "user \(change.user) was given an attribute since: “\(further)”")
    }
    try remove(change.user)
  }

  private mutating func bringBack(
    _ id: User.ID, name: StoredValue, _ values: [(attribute: AttributeName, value: StoredValue)]
  ) throws(StoreError) {
    guard try !hasUser(id) else { throw StoreError(.conflict, "user \(id) is there again") }
    let hairColor = values.first { $0.attribute == .hairColor }?.value ?? .null
    _ = try session.insertUser(id, name: name, hairColor: hairColor)
    for (attribute, value) in values.reversed() where attribute != .hairColor {
      try session.insert(attribute, of: id, value)
    }
  }

  private mutating func hasUser(_ id: User.ID) throws(StoreError) -> Bool {
    try !storedValue(.name, of: id).isNull
  }

  /// As it was stored, whatever `Limits` would say of it.
  private mutating func putBack(_ change: Change) throws(StoreError) {
    guard try session.put(change.attribute, of: change.user, change.old) != .noUser else {
      throw StoreError(
        .conflict, "the \(change.attribute) of user \(change.user) cannot be put back: the user was removed since")
    }
  }
}
