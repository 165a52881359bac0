extension Transaction where Mode == Writing {
  /// Writes the inverse of an earlier write: every value becomes what it was before.
  ///
  /// It is a write like any other, told and logged, and can be undone itself; give `write` the origin `undo`, so that
  /// others can tell. A user that was added is removed; one that was removed comes back with its id, which is the
  /// same user's and nobody else's. Values are put back as they were stored, also those that `set` would refuse. All of
  /// it happens, or, when it throws, nothing.
  ///
  /// - Parameter revision: The end of a write of this library; nil for the newest one. What foreign writers wrote has no
  ///   end of its own.
  /// - Returns: which write was undone.
  /// - Throws: `StoreError.conflict` when a value is no longer the one that the write left, with what it is now;
  ///   `.revisionNotFound`, `.compacted` when the log does not have it any more; and what writing can throw.
  @discardableResult
  public mutating func undo(_ revision: Revision? = nil) throws(StoreError) -> Revision {
    let written = try writtenSet(endingAt: revision)
    try perform("undo a write") { connection throws(SQLiteError) in try connection.run(TransactionSQL.savepoint) }
    do throws(StoreError) {
      try undo(written)
      try perform("undo a write") { connection throws(SQLiteError) in try connection.run(TransactionSQL.release) }
    } catch {
      if lease.connection.isInTransaction {
        try perform("take an undo back") { connection throws(SQLiteError) in
          try connection.run(TransactionSQL.rollbackToSavepoint)
          try connection.run(TransactionSQL.release)
        }
      }
      throw error
    }
    return Revision(rawValue: written.end)
  }

  // MARK: The write

  /// Finds the row that ends it.
  private mutating func writtenSet(endingAt revision: Revision?) throws(StoreError) -> (first: Int64, end: Int64) {
    let horizon = try ChangeLog.horizon(&lease.connection).revision.rawValue
    if let revision, revision.rawValue <= horizon {
      throw StoreError(.compacted, "the changes up to revision \(horizon) were forgotten; \(revision) cannot be undone")
    }
    let found = try perform("find revision \(revision?.description ?? "")") { connection throws(SQLiteError) in
      let query = revision == nil ? UndoSQL.newest : UndoSQL.end
      return try connection.first(query, .integer(revision?.rawValue ?? horizon)) {
        (first: $0.integer(1), end: $0.integer(0))
      }
    }
    guard let found, found.first > 0, found.first < found.end else {
      throw StoreError(.revisionNotFound, try nothingEnds(at: revision))
    }
    if found.first <= horizon {
      throw StoreError(.compacted, "a part of the write that ended at revision \(found.end) was forgotten")
    }
    return found
  }

  private mutating func nothingEnds(at revision: Revision?) throws(StoreError) -> String {
    guard let revision else { return "the log has no write of this library that could be undone" }
    let next = try perform("find revision \(revision)") { connection throws(SQLiteError) in
      try connection.first(UndoSQL.next, .integer(revision.rawValue)) { ($0.integer(0), first: $0.integer(1)) }
    }
    guard let next, next.first <= revision.rawValue else {
      return "no write of this library ended at revision \(revision); what other programs wrote cannot be undone as a whole"
    }
    return "revision \(revision) lies within a write, which ends at \(next.0)"
  }

  // MARK: Backwards

  /// What is known of users that are to come back: their attributes stand after them in the log.
  private typealias Returning = [User.ID: [(attribute: String, value: StoredValue)]]

  private mutating func undo(_ written: (first: Int64, end: Int64)) throws(StoreError) {
    var returning: Returning = [:]
    var position = written.end
    while position > written.first {
      let rows = try perform("read the log") { connection throws(SQLiteError) in
        try connection.withStatement(UndoSQL.backwards) { statement throws(SQLiteError) in
          try statement.bind(written.first, at: 1)
          try statement.bind(position, at: 2)
          var rows: [LogRow] = []
          var bytes = 0
          while bytes < LogPage.byteLimit, try statement.step() {
            rows.append(LogRow(statement))
            bytes += rows[rows.count - 1].byteCount
          }
          return rows
        }
      }
      guard let last = rows.last else { break }
      for row in rows { try undo(row.change, &returning) }
      position = last.sequence
    }
  }

  private mutating func undo(_ change: Change, _ returning: inout Returning) throws(StoreError) {
    switch change.kind {
    case .updated:
      try expect(change.new, change)
      try putBack(change)
    case .added:
      try expect(change.new, change)
      // Logged before its hair colour: what follows the name was undone.
      if change.attribute == "name" { try removeAdded(change) }
    case .removed where change.attribute == "name":
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
    let further = try perform("read user \(change.user)") { connection throws(SQLiteError) in
      try connection.first(UndoSQL.anyAttribute, .integer(change.user.rawValue)) { $0.text(0) }
    }
    if let further {
      throw StoreError(.conflict, "user \(change.user) was given an attribute since: “\(further)”")
    }
    try remove(change.user)
  }

  private mutating func bringBack(
    _ id: User.ID, name: StoredValue, _ values: [(attribute: String, value: StoredValue)]
  ) throws(StoreError) {
    guard try !hasUser(id) else { throw StoreError(.conflict, "user \(id) is there again") }
    let hairColor = values.first { $0.attribute == "hair_color" }?.value ?? .null
    try perform("bring user \(id) back") { connection throws(SQLiteError) in
      try connection.run(UndoSQL.insertUser, .integer(id.rawValue), name, hairColor)
      for (attribute, value) in values.reversed() where attribute != "hair_color" {
        try connection.run(RecordSQL.insertAttribute, .integer(id.rawValue), .text(attribute), value)
      }
    }
  }

  private mutating func hasUser(_ id: User.ID) throws(StoreError) -> Bool {
    try !storedValue("name", of: id).isNull
  }

  /// As it was stored, whatever `Limits` would say of it.
  private mutating func putBack(_ change: Change) throws(StoreError) {
    let (key, name) = (StoredValue.integer(change.user.rawValue), StoredValue.text(change.attribute))
    try perform("set the \(change.attribute) of user \(change.user)") { connection throws(SQLiteError) in
      switch change.attribute {
      case "name": try connection.run(RecordSQL.updateName, key, change.old)
      case "hair_color": try connection.run(RecordSQL.updateHairColor, key, change.old)
      case _ where change.old.isNull: try connection.run(RecordSQL.deleteAttribute, key, name)
      case _ where change.new.isNull: try connection.run(RecordSQL.insertAttribute, key, name, change.old)
      default: try connection.run(RecordSQL.updateAttribute, key, name, change.old)
      }
    }
  }
}

/// The statements that find a write and go through it backwards.
private enum UndoSQL {
  static let newest = Query("SELECT seq, old FROM changes WHERE seq > ?1 AND op = 0 ORDER BY seq DESC LIMIT 1")
  static let end = Query("SELECT seq, old FROM changes WHERE seq = ?1 AND op = 0")
  static let next = Query("SELECT seq, old FROM changes WHERE seq > ?1 AND op = 0 ORDER BY seq LIMIT 1")
  static let backwards = Query(
    """
    SELECT seq, op, user, attribute, old, new, nonce, at FROM changes
    WHERE seq >= ?1 AND seq < ?2 ORDER BY seq DESC LIMIT \(LogPage.rowLimit)
    """)
  static let insertUser = Query("INSERT INTO users (id, name, hair_color) VALUES (?1, ?2, ?3)")
  static let anyAttribute = Query("SELECT name FROM attributes WHERE user_id = ?1 ORDER BY name LIMIT 1")
}
