/// A consumer's row in the database, as one holder of the name sees it.
///
/// Whoever takes the name draws a number, and acts only as long as that stands in the row: nothing has to be asked of,
/// or told to, the holder before, who may be in a process that hangs.
struct ConsumerSeat: Sendable {
  let name: String
  /// Drawn when the name is taken; only the holder whose token is in the row may move the position.
  private let fencingToken = Int64.random(in: .min ... .max)

  /// Takes the name from whoever has it; a new name begins at `start`.
  static func take(
    _ name: String, from start: Consumer.Start, in transaction: inout WriteTransaction
  ) throws(StoreError) -> ConsumerSeat {
    let seat = ConsumerSeat(name: name)
    let session = try transaction.session
    if try !session.setFencingToken(seat.fencingToken, of: name) {
      try session.insertConsumer(name, fencingToken: seat.fencingToken, at: start.cursor(in: &transaction))
    }
    return seat
  }

  /// - Returns: whether there was one.
  static func remove(_ name: String, in transaction: inout WriteTransaction) throws(StoreError) -> Bool {
    try transaction.session.removeConsumer(name)
  }

  /// What was last acknowledged.
  ///
  /// - Throws: `StoreError.Code.superseded`.
  func position<Mode>(in transaction: inout Transaction<Mode>) throws(StoreError) -> Cursor {
    let row = try transaction.session.consumer(name)
    let shown = StoredValue.text(name).forMessages
    guard let row else { throw StoreError(.superseded, "the consumer \(shown) was removed") }
    guard row.fencingToken == fencingToken else {
      throw StoreError(.superseded, "another consumer took the name \(shown)")
    }
    return row.cursor
  }

  /// Whether an acknowledgement would move the position; it never goes back, and never to another log.
  ///
  /// - Throws: `StoreError.Code.diverged`, `StoreError.Code.compacted`, `StoreError.Code.superseded`.
  func isBefore<Mode>(_ cursor: Cursor, in transaction: inout Transaction<Mode>) throws(StoreError) -> Bool {
    // First: in a restored backup the row may be another holder's, and that is not what is the matter.
    _ = try transaction.session.verify(cursor)
    let position = try position(in: &transaction)
    guard position.epoch == cursor.epoch else {
      throw StoreError(
        .diverged, "the consumer \(StoredValue.text(name).forMessages) stands in another log than what it acknowledges")
    }
    return position.revision < cursor.revision
  }

  /// Acknowledges what comes up to a cursor.
  ///
  /// - Throws: as `isBefore`, and what writing can throw.
  func advance(to cursor: Cursor, in transaction: inout WriteTransaction) throws(StoreError) {
    if try isBefore(cursor, in: &transaction) { try write(cursor, in: &transaction) }
  }

  /// Goes to a cursor of the present log, wherever it stood.
  ///
  /// - Throws: as `isBefore`, and what writing can throw.
  func move(to cursor: Cursor, in transaction: inout WriteTransaction) throws(StoreError) {
    _ = try transaction.session.verify(cursor)
    _ = try position(in: &transaction)
    try write(cursor, in: &transaction)
  }

  private func write(_ cursor: Cursor, in transaction: inout WriteTransaction) throws(StoreError) {
    try transaction.session.moveConsumer(name, fencingToken: fencingToken, to: cursor)
  }
}

extension UserStore.Consumer.Start {
  fileprivate func cursor(in transaction: inout WriteTransaction) throws(StoreError) -> Cursor {
    switch self {
    case .now: return try transaction.cursor
    case .oldest: return try transaction.session.horizon()
    case .after(let cursor):
      _ = try transaction.session.verify(cursor)
      return cursor
    }
  }
}
