import TortureSupport

/// All rows that the log ever had, in order, including those that were deleted since.
struct LogCopy {
  struct Row {
    let seq: Int64
    let nonce: Int64
    let op: Int64
    /// 0 in a row that ends a write, and in a note without a user.
    let user: Int64
    let attribute: String
    let old: PlainValue
    let new: PlainValue
    fileprivate let values: [PlainValue]

    /// Whether the row ends a write of the library.
    var isEnd: Bool { op == 0 }

    /// Whether the row is a change of a record: not an end, and not a note, which is part of its set.
    var isChange: Bool { !isEnd && op < LoggedChange.firstNote }

    /// The row as a change for the replica.
    func change() throws -> LoggedChange { try LoggedChange(values) }
  }

  static let columns = LoggedChange.columns

  /// The rows, which are numbered from 1 without a gap.
  private(set) var rows: [Row] = []

  /// The number of the last row.
  var end: Int64 { Int64(rows.count) }

  func has(_ seq: Int64) -> Bool { seq >= 1 && seq <= end }

  subscript(_ seq: Int64) -> Row { rows[Int(seq) - 1] }

  /// Appends rows of `columns`.
  mutating func append(_ more: [[PlainValue]]) throws {
    for values in more {
      guard case .integer(let seq) = values[0], case .integer(let nonce) = values[1], case .integer(let op) = values[2]
      else { throw Mismatch("a malformed row in the log: \(values)") }
      guard seq == end + 1 else { throw Mismatch("the log goes from row \(end) to row \(seq)") }
      let user: Int64 = if case .integer(let user) = values[3] { user } else { 0 }
      let attribute = values[4].utf8.map { String(decoding: $0, as: UTF8.self) } ?? ""
      rows.append(
        Row(
          seq: seq, nonce: nonce, op: op, user: user, attribute: attribute, old: values[5], new: values[6],
          values: values))
    }
  }

  /// A copy with a different new value in one row.
  func replacing(_ seq: Int64, new: PlainValue) -> LogCopy {
    var copy = self
    let row = self[seq]
    copy.rows[Int(seq) - 1] = Row(
      seq: seq, nonce: row.nonce, op: row.op, user: row.user, attribute: row.attribute, old: row.old, new: new,
      values: row.values.dropLast() + [new])
    return copy
  }

  /// The changes after one row and through another.
  func changes(after start: Int64, through end: Int64) -> [Row] {
    start < end ? rows[Int(max(0, start))..<Int(min(end, self.end))].filter(\.isChange) : []
  }

  /// The first change after a row.
  func firstChange(after start: Int64) -> Int64? {
    rows[Int(min(max(0, start), end))...].first(where: \.isChange)?.seq
  }
}
