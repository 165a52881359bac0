extension UserStore.Transaction where Mode == UserStore.Writing {
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
  /// - Throws: `StoreError.Code.conflict` when a value is no longer the one that the write left, with what it is now;
  ///   `.revisionNotFound`, `.compacted` when the log does not have it any more; and what writing can throw.
  @discardableResult
  public mutating func undo(_ revision: UserStore.Revision? = nil) throws(StoreError) -> UserStore.Revision {
    let written = try writtenSet(endingAt: revision)
    try session.savepoint()
    do throws(StoreError) {
      try undo(written)
      try session.releaseSavepoint()
    } catch {
      if isOpen { try session.rollBackToSavepoint() }
      throw error
    }
    return Revision(rawValue: written.end)
  }

  // MARK: The write

  /// Finds the row that ends it.
  private mutating func writtenSet(endingAt revision: Revision?) throws(StoreError) -> (first: Int64, end: Int64) {
    let horizon = try session.horizon().revision.rawValue
    if let revision, revision.rawValue <= horizon {
      throw StoreError(.compacted, "the changes up to revision \(horizon) were forgotten; \(revision) cannot be undone")
    }
    let found =
      if let end = revision?.rawValue { try session.nextEnd(after: end - 1, through: end) } else {
        try session.lastEnd(after: horizon)
      }
    guard let found, found.first > 0, found.first < found.sequence else {
      throw StoreError(.revisionNotFound, try nothingEnds(at: revision))
    }
    if found.first <= horizon {
      throw StoreError(.compacted, "a part of the write that ended at revision \(found.sequence) was forgotten")
    }
    return (found.first, found.sequence)
  }

  private mutating func nothingEnds(at revision: Revision?) throws(StoreError) -> String {
    guard let revision else { return "the log has no write of this library that could be undone" }
    let next = try session.nextEnd(after: revision.rawValue, through: .max)
    guard let next, next.first <= revision.rawValue else {
      return
        "no write of this library ended at revision \(revision); what other programs wrote cannot be undone as a whole"
    }
    return "revision \(revision) lies within a write, which ends at \(next.sequence)"
  }
}
