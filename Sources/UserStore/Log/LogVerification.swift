extension LogOperations {
  /// Checks, in an open transaction, that the log continues after a cursor, and returns the newest row.
  ///
  /// - Throws: `StoreError.Code.compacted`, `.diverged`, `.behind`, and the errors of reading.
  func verify(_ cursor: Cursor) throws(StoreError) -> Int64 {
    let revision = cursor.revision.rawValue
    let state = try logState(at: revision, of: cursor.epoch)
    guard state.epoch == cursor.epoch else {
      throw StoreError(
        .diverged, "the cursor is from another log: another database, or one that was restored or repaired")
    }
    guard revision >= state.horizon else {
      throw StoreError(
        .compacted, "the changes after revision \(revision) were deleted; the log starts after \(state.horizon)")
    }
    let end = max(state.last ?? state.horizon, state.horizon)
    guard state.nonce == cursor.nonce || revision == state.horizon && state.horizonNonce == cursor.nonce else {
      // Only the primary knows that the row will not come.
      if state.isReplica, revision > end { throw .behind(at: end, awaiting: revision) }
      throw StoreError(.diverged, "the log does not continue after revision \(revision): it was rewound")
    }
    try Revision.check(end)
    return end
  }

  /// Returns the cursor at a row; nil if the row is after the end of the log, or before its start.
  func cursor(at revision: Int64) throws(StoreError) -> Cursor? {
    let state = try logState(at: revision, of: nil)
    try Revision.check(max(state.last ?? state.horizon, state.horizon))
    // Rows through the start may still exist: they are deleted step by step.
    if revision < state.horizon { return nil }
    let nonce = revision == state.horizon ? state.horizonNonce : state.nonce
    return nonce.map { Cursor(epoch: state.epoch, revision: revision, nonce: $0) }
  }

  /// Whether a row of the log is a change, so that a position there may be within a set.
  ///
  /// The set of another program in a file ends with a change.
  func isChange(_ revision: Int64) throws(StoreError) -> Bool {
    if try revision <= horizon().revision.rawValue { return false }
    return try nextEnd(after: revision - 1, through: revision) == nil
  }

  /// Up to one page of rows; throws `StoreError.Code.diverged` for a gap between them.
  func rows(withoutGapAfter start: Int64, through end: Int64) throws(StoreError) -> [LogRow] {
    let rows = try rows(after: start, through: end)
    for index in rows.indices where rows[index].sequence != start + Int64(index) + 1 {
      throw StoreError(.diverged, "the log has a gap before revision \(rows[index].sequence)")
    }
    return rows
  }

  /// The changes in one page of rows after a place, and the last row of the page; nil if there are no rows through `end`.
  func changes(after start: Int64, through end: Int64) throws(StoreError) -> (changes: [Change], last: Int64)? {
    let rows = try rows(withoutGapAfter: start, through: end)
    return rows.last.map { (rows.entries.changes, $0.sequence) }
  }
}
