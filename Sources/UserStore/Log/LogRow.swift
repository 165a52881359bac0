/// A row of the log: a change, or the end of a write.
struct LogRow {
  let change: Change
  let nonce: Int64
  private let operation: Int64

  /// Reads a row of `seq, op, user, attribute, old, new, nonce, at`.
  init(_ row: borrowing Statement) {
    operation = row.integer(1)
    nonce = row.integer(6)
    change = Change(
      kind: Self.kind(operation), user: User.ID(row.integer(2)), attribute: row.text(3), old: row.value(4),
      new: row.value(5), milliseconds: row.integer(7), sequence: row.integer(0))
  }

  var sequence: Int64 { change.sequence }

  /// Whether this row ends a write of the library.
  var isEnd: Bool { operation == 0 }

  /// In the row of an end: the first row of the write.
  ///
  /// A number that cannot be is somebody's tampering; the row itself then.
  var firstOfSet: Int64 {
    if case .integer(let first) = change.old, first <= sequence { first } else { sequence }
  }

  /// Divides the rows up to the end of a write into sets: those before its first row are foreign, and a set of their own.
  ///
  /// The one rule of `LogPage` and `SetEnds`.
  ///
  /// - Parameters:
  ///   - start: The end of the set before.
  ///   - first: The first row of the write.
  /// - Returns: the last of the foreign rows; nil when there is none.
  static func foreignEnd(after start: Int64, before first: Int64) -> Int64? { first > start + 1 ? first - 1 : nil }

  /// In the row of an end: what the writer called itself.
  var origin: String? { change.attribute.isEmpty ? nil : change.attribute }

  /// Roughly what it takes in memory.
  var byteCount: Int { 64 + change.old.byteCount + change.new.byteCount }

  private static func kind(_ operation: Int64) -> Change.Kind {
    switch operation {
    case 1: .added
    case 2: .updated
    case 3: .removed
    default: .unknown
    }
  }
}

extension StoredValue {
  /// How many bytes a text or a blob has; 8 for a number.
  var byteCount: Int {
    switch self {
    case .null: 0
    case .integer, .real: 8
    case .text(let text): text.utf8.count
    case .blob(let bytes), .invalidText(let bytes): bytes.count
    }
  }
}
