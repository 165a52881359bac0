import UserStore

/// Prints a followed list as JSON: a line for each row, then a line for each step.
struct ListStream {
  private let output: Output
  private let isArray: Bool
  private var shown: Rows?

  init(_ format: OutputFormat, to output: Output) {
    isArray = format == .json
    self.output = output
  }

  /// Prints the steps from the last version; all rows of the first version, and after nil those of another file.
  mutating func show(_ rows: Rows?) {
    let reason = rows == nil ? .replaced : shown.flatMap { _ in rows?.discontinuity }
    if let reason {
      // The next rows do not continue the previous ones.
      write(.object([("op", .text("reset")), ("reason", .text(reason.rawValue))]))
      shown = nil
    }
    guard let rows else { return }
    if let shown { print(rows.rowChanges(from: shown), from: shown, at: rows.cursor) } else { printAll(rows) }
    shown = rows
    output.flush()
  }

  func end() {
    if isArray { output.endArray() }
    output.flush()
  }

  // MARK: Lines

  private func printAll(_ rows: Rows) {
    // Without rows, a reader still needs the cursor.
    if rows.isEmpty { write("empty", at: rows.cursor) }
    for (index, user) in rows.enumerated() {
      if output.hasGivenUp || Signals.shared.status != nil { return }
      write("snapshot", index, user, at: rows.cursor, isLast: index == rows.count - 1)
    }
  }

  private func print(_ changes: RowChanges, from old: Rows, at cursor: Cursor?) {
    // Rows leave before all other steps, the last one first.
    var removed = changes.deletions.reversed().makeIterator()
    for (number, step) in changes.steps.enumerated() {
      let isLast = number == changes.steps.count - 1
      switch step {
      case .remove(let index):
        write("remove", index, removed.next().map { old[$0] }, isLeaving: true, at: cursor, isLast: isLast)
      case .insert(let user, let index): write("insert", index, user, at: cursor, isLast: isLast)
      case .move(let user, let start, let end, let changed):
        write("move", from: start, end, user, changed, at: cursor, isLast: isLast)
      case .update(let user, let index, let changed): write("update", index, user, changed, at: cursor, isLast: isLast)
      }
    }
  }

  /// Writes a line; as in `watch`, only the last line of a version has the cursor.
  ///
  /// The index is the position after the step; that of a leaving row, which has no record, is the position before it. `changed`
  /// are the attributes that differ.
  private func write(
    _ operation: String, from start: Int? = nil, _ index: Int? = nil, _ user: User? = nil,
    _ changed: [AttributeName]? = nil, isLeaving: Bool = false, at cursor: Cursor?, isLast: Bool = true
  ) {
    var members: [(name: String, value: JSON)] = [("revision", cursor.map { .integer($0.revision.rawValue) } ?? .null)]
    if isLast { members.append(("cursor", cursor.map { .text($0.description) } ?? .null)) }
    members.append(("op", .text(operation)))
    if let start { members.append(("from", .integer(Int64(start)))) }
    if let index { members.append(("index", .integer(Int64(index)))) }
    if let user { members.append(("user", .integer(user.id.rawValue))) }
    if let changed, let user {
      members.append(("changed", .object(changed.map { ($0.text, user[stored: $0]?.jsonValue ?? .null) })))
    }
    if let user, !isLeaving { members.append(("record", user.record.json)) }
    write(.object(members))
  }

  private func write(_ json: JSON) {
    if isArray { output.writeElement(json) } else { output.write(json.bytes + [0x0A]) }
  }
}
