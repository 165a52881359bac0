extension UserStore.Transaction where Mode == UserStore.Writing {
  /// Undoes an earlier write: every value that it changed becomes what it was before.
  ///
  /// An undo is a write like any other: it is logged and delivered, and can be undone. Pass the origin `undo` to `write` so
  /// that listeners can recognize it. A user that was added is removed; a user that was removed is added again with its id,
  /// which no other user ever has. Values are restored as they were stored, even values that `set` refuses. If it throws,
  /// it changes nothing.
  ///
  /// - Parameter revision: The revision at which a write of this library ends; nil for the newest. Writes by other programs
  ///   cannot be undone: the log does not record where they end.
  /// - Returns: The revision at which the undone write ends.
  /// - Throws: `StoreError.Code.conflict` if a value has changed since the write (the message contains the current value), or
  ///   if a user that was removed has an id above 2⁶², which can be assigned but not chosen;
  ///   `.revisionNotFound` if no such write ends there; `.compacted` if the log no longer has the write; and any other
  ///   `StoreError` if writing fails.
  @discardableResult
  public mutating func undo(_ revision: UserStore.Revision? = nil) throws(StoreError) -> UserStore.Revision {
    let written = try writtenSet(endingAt: revision)
    try undoingOnError { transaction throws(StoreError) in try transaction.undo(written) }
    return Revision(rawValue: written.end)
  }

  /// Undoes an earlier write, as `undo(_:)` does, after a check of each of its changes.
  ///
  /// - Parameters:
  ///   - revision: The revision at which a write of this library ends.
  ///   - check: Called with each change of the write, the newest first, before any is undone. What it throws, this method throws.
  /// - Returns: The revision at which the undone write ends.
  /// - Throws: The errors of `undo(_:)`, and those of `check`.
  @discardableResult
  public mutating func undo(
    _ revision: UserStore.Revision, checking check: (UserStore.Change) throws -> Void
  ) throws -> UserStore.Revision {
    let written = try writtenSet(endingAt: revision)
    var last = written.end - 1
    while let changes = try changes(of: written, through: &last) { try changes.forEach(check) }
    try undoingOnError { transaction throws(StoreError) in try transaction.undo(written) }
    return Revision(rawValue: written.end)
  }

  /// Runs `body`; if it throws, undoes everything that it wrote.
  mutating func undoingOnError<Result>(
    _ body: (inout Self) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    do { return try undoingOnAnyError { try body(&$0) } } catch { throw StoreError(error) }
  }

  /// Writes what `body` writes; if it throws any error, nothing of it.
  package mutating func undoingOnAnyError<Result>(_ body: (inout Self) throws -> Result) throws -> Result {
    try session.savepoint()
    do {
      let result = try body(&self)
      try session.releaseSavepoint()
      return result
    } catch {
      if isOpen { try session.rollBackToSavepoint() }
      throw error
    }
  }

  // MARK: Finding the write

  private mutating func writtenSet(endingAt revision: Revision?) throws(StoreError) -> (first: Int64, end: Int64) {
    let horizon = try session.horizon().revision.rawValue
    if let revision, revision.rawValue <= horizon {
      throw StoreError(
        .compacted, "cannot undo revision \(revision): the changes through revision \(horizon) were deleted")
    }
    let found =
      if let end = revision?.rawValue { try session.nextEnd(after: end - 1, through: end) } else {
        try newestEnd(after: horizon)
      }
    guard let found, !found.isForeign, found.first > 0, found.first < found.sequence else {
      throw StoreError(.revisionNotFound, try noWriteMessage(for: revision))
    }
    if found.first <= horizon {
      throw StoreError(
        .compacted, "cannot undo revision \(found.sequence): some changes of this write were deleted from the log")
    }
    // The newest one was chosen because it has a change.
    if revision != nil, try !hasChange(found, after: horizon) {
      throw StoreError(
        .revisionNotFound, "the write that ends at revision \(found.sequence) has only events: nothing can be undone")
    }
    return (found.first, found.sequence)
  }

  /// The newest write of the library that has changed a record.
  private mutating func newestEnd(after horizon: Int64) throws(StoreError) -> SetEnd? {
    var last = Int64.max
    while true {
      let rows = try session.rows(after: horizon, through: last, newestFirst: true)
      guard let oldest = rows.last else { return nil }
      last = oldest.sequence - 1
      if let row = rows.first(where: { $0.isEnd && !$0.isForeign }) {
        let end = SetEnd(sequence: row.sequence, first: row.firstOfSet, nonce: row.nonce)
        // On a replica, nobody who undoes the newest write means one of the server's.
        if try hasChange(end, after: horizon), try !session.hasPulled(endingAt: end.sequence) { return end }
        last = row.sequence - 1
      }
    }
  }

  /// Whether a write has more than notes in the rest of the log.
  private mutating func hasChange(_ end: SetEnd, after horizon: Int64) throws(StoreError) -> Bool {
    var last = end.sequence - 1
    while last >= end.first {
      let rows = try session.rows(after: max(horizon, end.first - 1), through: last, newestFirst: true)
      if rows.contains(where: { !$0.isNote }) { return true }
      guard let oldest = rows.last else { return false }
      last = oldest.sequence - 1
    }
    return false
  }

  private mutating func noWriteMessage(for revision: Revision?) throws(StoreError) -> String {
    guard let revision else { return "the log has no write of this library to undo" }
    let next = try session.nextEnd(after: revision.rawValue, through: .max)
    guard let next, !next.isForeign, next.first <= revision.rawValue else {
      return "no write of this library ends at revision \(revision); writes by other programs cannot be undone"
    }
    return "revision \(revision) is within a write that ends at revision \(next.sequence)"
  }

  // MARK: Writing the inverse

  private struct Removals {
    /// The attributes of users to add again; they follow the name in the log, so an undo reads them first.
    var attributes: [User.ID: [(attribute: AttributeName, value: StoredValue)]] = [:]
    /// The users that were added again: a trigger of another program can remove an attribute in the middle of the removal.
    var added: Set<User.ID> = []
  }

  private mutating func undo(_ written: (first: Int64, end: Int64)) throws(StoreError) {
    var removed = Removals()
    var last = written.end - 1
    while let changes = try changes(of: written, through: &last) {
      for change in changes { try undo(change, &removed) }
    }
  }

  /// A page of the changes of a write, the newest first, and moves `last` before them; nil after the first change.
  private mutating func changes(
    of written: (first: Int64, end: Int64), through last: inout Int64
  ) throws(StoreError) -> [Change]? {
    guard last >= written.first else { return nil }
    let rows = try session.rows(after: written.first - 1, through: last, newestFirst: true)
    guard let oldest = rows.last else { return nil }
    last = oldest.sequence - 1
    return rows.filter { !$0.isNote }.map(\.change)
  }

  private mutating func undo(_ change: Change, _ removed: inout Removals) throws(StoreError) {
    if change.isPurged { throw StoreError(.conflict, "cannot undo: the values of user \(change.user) were purged") }
    switch change.kind {
    case .updated:
      try checkNewValue(of: change)
      // Not with `set`, which refuses some values that other programs store.
      let result = try session.put(change.attribute, of: change.user, change.old)
      if result == .noUser { throw Self.userRemoved(since: change) }
    case .added:
      try checkNewValue(of: change)
      // The name is logged before the hair color, so all other changes have been undone by now.
      if change.attribute == .name { try removeAdded(change.user) }
    case .removed where change.attribute == .name:
      try addAgain(change.user, name: change.old, removed.attributes.removeValue(forKey: change.user) ?? [])
      removed.added.insert(change.user)
    case .removed where removed.added.contains(change.user):
      _ = try session.put(change.attribute, of: change.user, change.old)
    case .removed: removed.attributes[change.user, default: []].append((change.attribute, change.old))
    case .unknown: throw StoreError(.conflict, "cannot undo row \(change.sequence) of the log: unknown kind of change")
    }
  }

  private mutating func checkNewValue(of change: Change) throws(StoreError) {
    let current = try storedValue(change.attribute, of: change.user)
    if current == change.new { return try session.noteExpectation(change.attribute, of: change.user, current) }
    guard try hasUser(change.user) else { throw Self.userRemoved(since: change) }
    throw StoreError(
      .conflict,
      "cannot undo: the \(change.attribute) of user \(change.user) is \(current.forMessages), but the write set it to "
        + change.new.forMessages)
  }

  private mutating func removeAdded(_ id: User.ID) throws(StoreError) {
    if let attribute = try furtherAttribute(of: id) {
      throw StoreError(.conflict, "cannot undo: user \(id) now has an attribute “\(attribute)”")
    }
    try remove(id)
  }

  private mutating func furtherAttribute(of id: User.ID) throws(StoreError) -> AttributeName? {
    try session.user(id)?.storedValues.keys.filter { $0 != .name && $0 != .hairColor }.min()
  }

  private mutating func addAgain(
    _ id: User.ID, name: StoredValue, _ values: [(attribute: AttributeName, value: StoredValue)]
  ) throws(StoreError) {
    guard try !hasUser(id) else { throw StoreError(.conflict, "cannot undo: user \(id) exists again") }
    // SQLite can assign such an id, but a caller cannot choose it.
    guard Limits.ids.contains(id.rawValue) else {
      throw StoreError(
        .conflict,
        "cannot undo: user \(id) cannot be added again, because an id must be at most \(Limits.ids.upperBound)")
    }
    let hairColor = values.first { $0.attribute == .hairColor }?.value ?? .null
    _ = try session.insertUser(id, name: name, hairColor: hairColor)
    for (attribute, value) in values.reversed() where attribute != .hairColor {
      try session.insert(attribute, of: id, value)
    }
  }

  private static func userRemoved(since change: Change) -> StoreError {
    StoreError(.conflict, "cannot undo the \(change.attribute) of user \(change.user): the user no longer exists")
  }
}
