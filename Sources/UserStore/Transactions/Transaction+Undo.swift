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
    let horizon = try ChangeLog.horizon(lease.connection).revision.rawValue
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
      return
        "no write of this library ended at revision \(revision); what other programs wrote cannot be undone as a whole"
    }
    return "revision \(revision) lies within a write, which ends at \(next.0)"
  }
}

/// The statements that find a write and go through it backwards.
enum UndoSQL {
  static let newest = Query("SELECT seq, old FROM changes WHERE seq > ?1 AND op = 0 ORDER BY seq DESC LIMIT 1")
  static let end = Query("SELECT seq, old FROM changes WHERE seq = ?1 AND op = 0")
  static let next = Query("SELECT seq, old FROM changes WHERE seq > ?1 AND op = 0 ORDER BY seq LIMIT 1")
  static let backwards = Query(
    """
    SELECT seq, op, user, attribute, old, new, nonce, at FROM changes
    WHERE seq >= ?1 AND seq < ?2 ORDER BY seq DESC LIMIT \(LogPage.rowLimit)
    """)
  static let anyAttribute = Query("SELECT name FROM attributes WHERE user_id = ?1 ORDER BY name LIMIT 1")
}
