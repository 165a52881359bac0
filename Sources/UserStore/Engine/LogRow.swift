/// A row of the log: a change, a note, or the end of a write.
package struct LogRow {
  /// For a note, its values only.
  let change: Change
  let nonce: Int64
  /// Whether this row ends a write of the library.
  let isEnd: Bool
  /// Whether it ends a write of another program.
  ///
  /// SQLite has no such rows: there, rows between two writes of the library are foreign.
  let isForeign: Bool
  /// Whether it is a note, which is part of a set but no change of a record (`migrations/m0006_notes.sql`).
  let isNote: Bool
  private let operation: Int64
  private let hasUser: Bool
  private let hasOrigin: Bool

  /// Creates a row from its stored values.
  ///
  /// The operation is 0 for the end of a write, 1, 2 or 3 for a change, and 4 or more for a note. In the row of an end, the
  /// attribute is the origin, and the old value is the number of the write's first row.
  package init(
    sequence: Int64, operation: Int64, user: Int64?, attribute: String?, old: StoredValue, new: StoredValue,
    nonce: Int64, timestamp: Int64, isForeign: Bool = false
  ) {
    (self.nonce, self.isForeign) = (nonce, isForeign)
    isEnd = operation == 0
    isNote = operation >= Note.firstOperation
    self.operation = operation
    hasUser = user != nil
    hasOrigin = isEnd && attribute != nil
    let kind: Change.Kind =
      switch operation {
      case 1: .added
      case 2: .updated
      case 3: .removed
      default: .unknown
      }
    change = Change(
      kind: kind, user: User.ID(user ?? 0), attribute: AttributeName(attribute ?? ""), old: old, new: new,
      timestamp: timestamp, sequence: sequence)
  }

  var sequence: Int64 { change.sequence }

  /// The event; nil for another row, and for an event without a name, which only another program can insert.
  var event: Event? {
    guard operation == Note.eventOperation, let name = String(storedValue: change.old) else { return nil }
    return Event(
      name: name, payload: change.new, user: hasUser ? change.user : nil, timestamp: change.timestamp,
      sequence: sequence)
  }

  /// The user that was purged, if this is the note of a purge.
  var purged: User.ID? { operation == Note.purgedOperation && hasUser ? change.user : nil }

  /// Whether this is the note of a set that a replica has pulled.
  var isPulled: Bool { operation == Note.pulledOperation }

  /// The number of a replica's set, if this is the note of a set that a replica has sent.
  var pushed: Int64? {
    guard operation == Note.pushedOperation, case .integer(let number) = change.old else { return nil }
    return number
  }

  /// In the row of an end: the first row of the write, or the row itself if another program stored a larger number there.
  var firstOfSet: Int64 {
    if case .integer(let first) = change.old, first <= sequence { first } else { sequence }
  }

  /// The last row of the foreign set between the end of the previous set and the first row of a write; nil if there is none.
  static func foreignEnd(after start: Int64, before first: Int64) -> Int64? {
    first > start + 1 ? first - 1 : nil
  }

  /// In the row of an end: the origin that the writer gave, which may be empty.
  var origin: String? { hasOrigin ? change.attribute.text : nil }

  var byteCount: Int { 64 + change.old.byteCount + change.new.byteCount }
}

/// A row of the log that is no change of a record.
package enum Note: Sendable {
  /// The values of a removed user were removed from the log.
  case purged(User.ID)
  /// Something that happened, perhaps about a user.
  case event(name: String, payload: StoredValue, about: User.ID?)
  /// A replica has written the set that ends here: the server's through a cursor, or what a decision of the server has changed.
  case pulled(Cursor?)
  /// The writer of the set expected this value, or none; only in the log of a replica, whose server checks it.
  case expected(User.ID, AttributeName, StoredValue)
  /// The set that ends here was sent by a replica, whose log has this random number where it ends.
  case pushed(Int64)

  /// The smallest operation of a note in the log.
  package static let firstOperation: Int64 = 4
  package static let expectedOperation: Int64 = 4
  package static let purgedOperation: Int64 = 5
  package static let eventOperation: Int64 = 6
  /// What was the end of a set until a later end of the same transaction included its rows; it has no values.
  package static let joinedOperation: Int64 = 7
  /// The last row before the end of a set that a replica has pulled.
  package static let pulledOperation: Int64 = 8
  /// The last row before the end of a set that a replica has sent; the number is its old value.
  package static let pushedOperation: Int64 = 9
}

extension Sequence<LogRow> {
  /// The changes and the events among the rows; without those that end a write, and notes that this version does not know.
  var entries: ChangeSet.Entries {
    var entries = ChangeSet.Entries()
    for row in self where !row.isEnd {
      if !row.isNote {
        entries.changes.append(row.change)
      } else if let event = row.event {
        entries.events.append(event)
      } else {
        entries.hasNotes = true
        if row.isPulled { entries.isPulled = true }
      }
    }
    return entries
  }
}

/// The row that ends a write of the library.
package struct SetEnd {
  package let sequence: Int64
  /// The first row of the write, or this row if another program stored a wrong number.
  package let first: Int64
  package let nonce: Int64
  /// Also nil where values are not read.
  package let origin: String?
  /// Whether it ends a write of another program.
  package let isForeign: Bool

  package init(sequence: Int64, first: Int64, nonce: Int64, origin: String? = nil, isForeign: Bool = false) {
    (self.sequence, self.first, self.nonce) = (sequence, first, nonce)
    (self.origin, self.isForeign) = (origin, isForeign)
  }
}

/// Where the log starts and ends, and its content at one row.
package struct LogState {
  package let epoch: Int64
  package let horizon: Int64
  package let horizonNonce: Int64
  /// The newest row; nil for an empty log.
  package let last: Int64?
  /// The random number of the requested row; nil if there is no such row.
  package let nonce: Int64?
  /// Whether the log is a replica's, which may receive the requested row later.
  package let isReplica: Bool

  package init(epoch: Int64, horizon: Int64, horizonNonce: Int64, last: Int64?, nonce: Int64?, isReplica: Bool = false)
  {
    (self.epoch, self.horizon, self.horizonNonce) = (epoch, horizon, horizonNonce)
    (self.last, self.nonce, self.isReplica) = (last, nonce, isReplica)
  }
}
