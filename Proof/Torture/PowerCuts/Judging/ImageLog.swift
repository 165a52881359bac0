import TortureSupport

/// The log of an image, read without the library.
struct ImageLog {
  struct Row: CustomStringConvertible {
    let seq, op, user: Int64
    let values: [PlainValue]

    var isEnd: Bool { op == 0 }
    /// Whether it is part of a set, but no change of a record.
    var isNote: Bool { op >= LoggedChange.firstNote }
    /// Whether it notes that a user's values were removed.
    var isPurge: Bool { op == 5 }
    var nonce: PlainValue { values[6] }
    var isBlank: Bool { values[4] == .null && values[5] == .null }
    var description: String { values.map(\.description).joined(separator: " | ") }

    func says(_ change: AnnouncedChange) -> Bool {
      op == ["a": 1, "u": 2, "r": 3][change.kind] && user == change.user && values[3] == .text(change.attribute)
        && values[4] == change.old && values[5] == change.new
    }
  }

  let epoch, horizon: Int64
  let rows: [Row]

  init(_ connection: PlainConnection) throws {
    let meta = try connection.run("SELECT epoch, horizon FROM meta")
    let numbers = (meta.first ?? []).map(Self.integer)
    guard numbers.count == 2 else { throw Mismatch("the log has no meta row") }
    (epoch, horizon) = (numbers[0], numbers[1])
    rows = try connection.run("SELECT seq, op, user, attribute, old, new, nonce FROM changes ORDER BY seq").map { row in
      Row(seq: Self.integer(row[0]), op: Self.integer(row[1]), user: Self.integer(row[2]), values: row)
    }
  }

  private static func integer(_ value: PlainValue) -> Int64 {
    if case .integer(let integer) = value { integer } else { -1 }
  }

  var head: Int64 { rows.last?.seq ?? horizon }

  var isContiguous: Bool {
    rows[0].seq <= horizon + 1 && rows.enumerated().allSatisfy { $1.seq == rows[0].seq + Int64($0) }
  }

  /// The rows in a range, or nil if some are missing.
  func rows(after start: Int64, through end: Int64) -> ArraySlice<Row>? {
    guard let first = rows.first?.seq, start + 1 >= first, end <= head else { return nil }
    return rows[Int(start + 1 - first)...Int(end - first)]
  }

  /// A complete set in the log.
  struct LoggedSet {
    let set: AnnouncedSet
    /// The number of its rows, with its notes and its end.
    let rows: Int64
  }

  /// The complete sets after the horizon: each write of the library, and the foreign changes before it as one set.
  ///
  /// A write that notes a purge has no origin. It gets the name of the step that purges.
  var sets: [LoggedSet] {
    var sets: [LoggedSet] = []
    var pending: [Row] = []
    for row in rows where row.seq > horizon {
      if !row.isEnd { pending.append(row) }
      guard row.isEnd else { continue }
      let foreign = pending.prefix { $0.seq < Self.integer(row.values[4]) }
      if let last = foreign.last {
        sets.append(LoggedSet(set: set(foreign, endingAt: last, origin: nil), rows: Int64(foreign.count)))
      }
      let own = pending.dropFirst(foreign.count)
      let origin = row.values[3].utf8.map { String(decoding: $0, as: UTF8.self) }
      let unnamed = own.contains(where: \.isPurge) ? "purge" : ""
      sets.append(
        LoggedSet(set: set(own, endingAt: row, origin: origin ?? unnamed), rows: Int64(own.count) + 1))
      pending = []
    }
    return sets
  }

  /// The whole log as one set of a foreign writer, which marks no end.
  var foreignSets: [AnnouncedSet] { rows.last.map { [set(rows[...], endingAt: $0, origin: nil)] } ?? [] }

  private func set(_ changes: ArraySlice<Row>, endingAt end: Row, origin: String?) -> AnnouncedSet {
    let cursor = CursorText(epoch: epoch, revision: end.seq, nonce: Self.integer(end.nonce))
    return AnnouncedSet(cursor: "\(cursor)", origin: origin, changes: changes.compactMap(\.change))
  }
}

extension ImageLog.Row {
  /// The change, or nil for a note, and for a row that ends a set.
  fileprivate var change: AnnouncedChange? {
    guard let kind = [1: "a", 2: "u", 3: "r"][op], let attribute = values[3].utf8 else { return nil }
    return AnnouncedChange(kind: kind, user: user, attribute: attribute, old: values[4], new: values[5])
  }
}
