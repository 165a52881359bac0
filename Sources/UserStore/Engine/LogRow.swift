/// A row of the log: a change, or the end of a write.
struct LogRow {
  let change: Change
  let nonce: Int64
  private let operation: Int64

  /// Makes a row of what is stored.
  ///
  /// The operation is 0 for the end of a write, and 1, 2 or 3 for a change. In the row of an end the attribute is what the
  /// writer called itself, and the old value the number of the write's first row.
  init(
    sequence: Int64, operation: Int64, user: Int64, attribute: AttributeName, old: StoredValue, new: StoredValue,
    nonce: Int64,
    timestamp: Int64
  ) {
    self.operation = operation
    self.nonce = nonce
    change = Change(
      kind: Self.kind(operation), user: User.ID(user), attribute: attribute, old: old, new: new,
      timestamp: timestamp, sequence: sequence)
  }

  var sequence: Int64 { change.sequence }

  /// Whether this row ends a write of the library.
  var isEnd: Bool { operation == 0 }

  /// In the row of an end: the first row of the write.
  ///
  /// Somebody who writes to the log can store any number there. One that is too large counts as the row's own.
  var firstOfSet: Int64 {
    if case .integer(let first) = change.old, first <= sequence { first } else { sequence }
  }

  /// Divides the rows up to the end of a write into sets: those before its first row are foreign, and a set of their own.
  ///
  /// - Parameters:
  ///   - start: The end of the set before.
  ///   - first: The first row of the write.
  /// - Returns: the last of the foreign rows; nil when there is none.
  static func foreignEnd(after start: Int64, before first: Int64) -> Int64? { first > start + 1 ? first - 1 : nil }

  /// In the row of an end: what the writer called itself.
  var origin: String? { change.attribute.text.isEmpty ? nil : change.attribute.text }

  /// Roughly how many bytes it takes in memory.
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

/// The row that ends a write of the library.
struct SetEnd {
  let sequence: Int64
  /// The first row of the write; the row's own number where something else is stored.
  let first: Int64
  let nonce: Int64
  /// What the writer called itself; nil also where only numbers are read.
  var origin: String?
}

/// Where the log begins and ends, and what it has at one row.
struct LogState {
  let epoch: Int64
  let horizon: Int64
  let horizonNonce: Int64
  /// The newest row; nil for an empty log.
  let last: Int64?
  /// The random number of the row that was asked for; nil when there is no such row.
  let nonce: Int64?
}
