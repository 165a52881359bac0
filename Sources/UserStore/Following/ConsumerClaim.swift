/// One holder's claim to a consumer's name, which is a row in the database.
///
/// A new claim replaces the fencing token in the row, and a holder acts only while its own token is there. So the previous
/// holder, perhaps in a process that hangs, need not be asked or notified.
struct ConsumerClaim: Sendable {
  let name: String
  private let fencingToken = Int64.random(in: .min ... .max)

  /// Claims the name, even if another consumer holds it; a new name starts at `start`.
  init(_ name: String, from start: Consumer.Start, in transaction: inout WriteTransaction) throws(StoreError) {
    self.name = name
    let session = try transaction.session
    if try session.claimConsumer(name, fencingToken: fencingToken, at: nil) { return }
    _ = try session.claimConsumer(name, fencingToken: fencingToken, at: start.cursor(in: &transaction))
  }

  /// The last acknowledged position in the database; throws `StoreError.Code.superseded`.
  func position<Mode>(in transaction: inout Transaction<Mode>) throws(StoreError) -> Cursor {
    let row = try transaction.session.consumer(name)
    let shown = StoredValue.text(name).forMessages
    guard let row else { throw StoreError(.superseded, "the consumer \(shown) was removed") }
    guard row.fencingToken == fencingToken else {
      throw StoreError(.superseded, "another consumer took the name \(shown)")
    }
    return row.cursor
  }

  /// Whether an acknowledgment would advance the position, which never moves backward or to another log.
  ///
  /// - Throws: `StoreError.Code.diverged`, `.compacted`, and `.superseded`.
  func isBefore<Mode>(_ cursor: Cursor, in transaction: inout Transaction<Mode>) throws(StoreError) -> Bool {
    // Checked before the row is read: after a restore, the row may have another holder, but the cause is that the log diverged.
    _ = try transaction.session.verify(cursor)
    let position = try position(in: &transaction)
    guard position.epoch == cursor.epoch else {
      let shown = StoredValue.text(name).forMessages
      throw StoreError(.diverged, "the position of consumer \(shown) is in another log than the change set")
    }
    return position.revision < cursor.revision
  }

  /// The cursor at a row of a set, a change or an event; the cursor of the set, if it is nil, or nothing was delivered after it.
  ///
  /// - Throws: `StoreError.Code.badValue`, `.diverged`, `.compacted`.
  func cursor<Mode>(
    at sequence: Int64?, in set: ChangeSet, _ transaction: inout Transaction<Mode>
  ) throws(StoreError) -> Cursor {
    guard let sequence else { return set.cursor }
    let end = set.revision.rawValue
    guard sequence > 0, sequence <= end else {
      throw StoreError(.badValue, "the row \(sequence) is not in the change set that ends at \(end)")
    }
    // Topics may hide the rest of the set: then the whole set is processed.
    if sequence == end || set.lastHeldEntry == sequence { return set.cursor }
    let session = try transaction.session
    _ = try session.verify(set.cursor)
    // Otherwise, only the row that ends the set would be left, and be delivered as a set without changes.
    if try session.nextEnd(after: sequence, through: sequence + 1) != nil { return set.cursor }
    guard let cursor = try session.cursor(at: sequence) else {
      throw StoreError(.compacted, "the changes through revision \(sequence) were deleted")
    }
    return cursor
  }

  /// Acknowledges the changes through a cursor; throws as `isBefore`, and the codes that every write can throw.
  func advance(to cursor: Cursor, in transaction: inout WriteTransaction) throws(StoreError) {
    guard try isBefore(cursor, in: &transaction) else { return }
    try transaction.session.moveConsumer(name, fencingToken: fencingToken, to: cursor)
  }

  /// Moves to a cursor of the current log, forward, backward, or from another log; throws as `advance`.
  func move(to cursor: Cursor, in transaction: inout WriteTransaction) throws(StoreError) {
    _ = try transaction.session.verify(cursor)
    _ = try position(in: &transaction)
    try transaction.session.moveConsumer(name, fencingToken: fencingToken, to: cursor)
  }
}

extension UserStore.Consumer.Start {
  fileprivate func cursor(in transaction: inout WriteTransaction) throws(StoreError) -> Cursor {
    switch self {
    // On a server, the position after the transaction's own changes must first become final.
    case .now: return try transaction.session.finalPosition(of: transaction.cursor)
    case .oldest: return try transaction.session.horizon()
    case .after(let cursor):
      _ = try transaction.session.verify(cursor)
      return cursor
    }
  }
}
