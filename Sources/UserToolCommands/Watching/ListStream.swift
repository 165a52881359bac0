import UserStore

/// Prints a list that is followed as JSON: a line for each row, then a line for each step.
struct ListStream: ListDisplay {
  private let output: Output
  /// Whether the lines are the elements of one JSON array.
  private let isArray: Bool
  private var shown: Rows?
  private var count = 0

  init(_ format: OutputFormat, to output: Output) {
    isArray = format == .json
    self.output = output
  }

  /// Prints what differs from the version before, or all rows if this is the first one.
  mutating func show(_ rows: Rows) {
    if let reason = rows.discontinuity, shown != nil { reset(because: reason) }
    if let shown {
      print(rows.changes(from: shown), from: shown, at: rows.cursor)
    } else {
      printAll(rows)
    }
    shown = rows
    output.flush()
  }

  /// Prints that the next rows do not follow from those before.
  mutating func reset(because reason: StoreError.Code) {
    write(.object([("op", .text("reset")), ("reason", .text(reason.rawValue))]))
    shown = nil
  }

  /// Ends the output, after the last version.
  func end() {
    if isArray { output.writeLine(count == 0 ? "[]" : "\n]") }
    output.flush()
  }

  // MARK: Lines

  private mutating func printAll(_ rows: Rows) {
    // A reader must learn that there are no rows, and the cursor.
    if rows.isEmpty { write(ListLine(operation: "empty").json(at: rows.cursor, isLast: true)) }
    for (index, user) in rows.enumerated() {
      if output.hasGivenUp || Signals.shared.status != nil { return }
      let line = ListLine(operation: "snapshot", index: index, user: user.id, record: user)
      write(line.json(at: rows.cursor, isLast: index == rows.count - 1))
    }
  }

  private mutating func print(_ changes: RowChanges, from old: Rows, at cursor: Cursor?) {
    // Rows leave before anything else happens, the last one first.
    var removed = changes.deletions.reversed().makeIterator()
    for (index, step) in changes.steps.enumerated() {
      let line: ListLine
      switch step {
      case .remove(let index):
        line = ListLine(operation: "remove", index: index, user: removed.next().map { old[$0].id })
      case .insert(let user, let index): line = ListLine(operation: "insert", index: index, user: user.id, record: user)
      case .move(let user, let start, let end, let changed):
        line = ListLine(operation: "move", from: start, index: end, user: user.id, changed: changed, record: user)
      case .update(let user, let index, let changed):
        line = ListLine(operation: "update", index: index, user: user.id, changed: changed, record: user)
      }
      write(line.json(at: cursor, isLast: index == changes.steps.count - 1))
    }
  }

  private mutating func write(_ json: JSON) {
    defer { count += 1 }
    if isArray {
      output.write(Array((count == 0 ? "[\n" : ",\n").utf8) + json.bytes)
    } else {
      output.write(json.bytes + [0x0A])
    }
  }
}

/// A line of a list that is followed.
struct ListLine {
  let operation: String
  /// The position before the step, for a row that moves.
  var from: Int?
  /// The position after the step, or, for a row that leaves, before it; nil if there are no rows.
  var index: Int?
  var user: User.ID?
  /// The attributes that changed; nil for a line that has no values before it.
  var changed: [AttributeName]?
  /// nil for a row that leaves.
  var record: User?

  /// The line; only the last one of a version has the cursor, as in `watch`.
  func json(at cursor: Cursor?, isLast: Bool) -> JSON {
    var members: [(name: String, value: JSON)] = [
      ("revision", cursor.map { .integer($0.revision.rawValue) } ?? .null)
    ]
    if isLast { members.append(("cursor", cursor.map { .text($0.description) } ?? .null)) }
    members.append(("op", .text(operation)))
    if let from { members.append(("from", .integer(Int64(from)))) }
    if let index { members.append(("index", .integer(Int64(index)))) }
    if let user { members.append(("user", .integer(user.rawValue))) }
    if let changed, let record {
      let values = changed.map { (name: $0.text, value: record[stored: $0]?.jsonValue ?? .null) }
      members.append(("changed", .object(values)))
    }
    if let record { members.append(("record", record.record.json)) }
    return .object(members)
  }
}
