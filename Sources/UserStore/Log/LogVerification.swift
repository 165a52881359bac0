extension LogOperations {
  /// Checks that the log continues after a cursor.
  ///
  /// A transaction is open.
  ///
  /// - Returns: the newest row.
  /// - Throws: `StoreError.Code.compacted`, `.diverged`, and what reading can throw.
  func verify(_ cursor: Cursor) throws(StoreError) -> Int64 {
    let revision = cursor.revision.rawValue
    let state = try logState(at: revision)
    guard state.epoch == cursor.epoch else {
      throw StoreError(
        .diverged, "the cursor is of another log: another database, or one that was restored or repaired")
    }
    guard revision >= state.horizon else {
      throw StoreError(
        .compacted, "the changes after revision \(revision) were forgotten; the log begins after \(state.horizon)")
    }
    guard state.nonce == cursor.nonce || revision == state.horizon && state.horizonNonce == cursor.nonce else {
      throw StoreError(.diverged, "the log does not go on from revision \(revision): it was rewound")
    }
    let end = max(state.last ?? state.horizon, state.horizon)
    try Revision.check(end)
    return end
  }
}
