import UserStore
import UserStoreText

/// Prints change sets: the listeners' calls, or each change if there are no listeners.
struct StreamPrinter {
  var filter: Filter
  /// The number of lines that may still be printed; nil for no limit.
  private var remaining: Int?
  /// Whether lines of the last set are missing.
  private var isCut = false
  /// The last line, held back until it is known whether it ends the set and so has the cursor.
  private var held: (entry: Entry, standIn: StandIn?)?
  private let isReadable: Bool
  private let output: Output
  private var records: RecordPrinter
  private var readable: ReadableStream

  init(
    _ format: OutputFormat, to output: Output, _ style: Style, filter: Filter, standIns: [StandIn]?,
    remaining: Int? = nil, showsDate: Bool = false
  ) {
    self.filter = filter
    self.output = output
    self.remaining = remaining
    isReadable = format == .table
    let columns = Entry.columns + (standIns == nil ? [] : ["listener"])
    records = RecordPrinter(format, columns: columns, to: output, style)
    readable = ReadableStream(style, nameColumns: standIns?.map(\.name.shown.columns).max() ?? 0, showsDate: showsDate)
  }

  /// Prints a set, in the order of the listeners' calls, or change by change if `standIns` is nil.
  ///
  /// - Returns: false if lines are missing because of the limit or a signal.
  mutating func print(_ set: ChangeSet, to standIns: [StandIn]?) throws -> Bool {
    isCut = false
    if isReadable {
      readable.origin = set.origin == "usertool" ? nil : set.origin
      defer { readable.origin = nil }
      try printReadable(set, to: standIns?.withEvents)
    } else if let standIns {
      for standIn in standIns.withEvents { try printLines(set, to: standIn) }
    } else {
      try printLines(set, to: nil)
    }
    releaseLine(at: set.cursor, isLast: !isCut)
    output.flush()
    return !isCut && !output.hasGivenUp
  }

  var hasGivenUp: Bool { output.hasGivenUp }

  var isDone: Bool { remaining.map { $0 <= 0 } ?? false }

  /// Prints entries as one set, such as those of a dry run.
  mutating func print(_ entries: [Entry], at cursor: Cursor?, to standIns: [StandIn]?) {
    add(entries, at: cursor, to: standIns)
    endState(at: cursor)
  }

  /// Prints a part of the current state, except its last line, which is held back.
  mutating func add(_ entries: [Entry], at cursor: Cursor?, to standIns: [StandIn]?) {
    // The limit does not count the current state.
    let limit = remaining
    remaining = nil
    defer { remaining = limit }
    let entries = entries.filter { filter.accepts($0) }
    if isReadable {
      for entry in entries { add(entry, at: cursor, standIns) }
      finishGroup(at: cursor, standIns)
      return
    }
    for standIn in standIns.map({ $0.map(Optional.some) }) ?? [nil] {
      for entry in entries where standIn?.receives(entry) ?? true { hold(entry, for: standIn, at: cursor) }
    }
  }

  mutating func endState(at cursor: Cursor?) {
    releaseLine(at: cursor, isLast: true)
    output.flush()
  }

  /// Prints, before the current state, why the log does not continue from the position.
  mutating func printReset(because reason: String) {
    if isReadable {
      output.writeLine("reset: \(reason); the current state follows")
    } else {
      let record = Record(fields: [("op", .text("reset")), ("reason", .text(reason))])
      records.print(record, plain: record)
    }
    output.flush()
  }

  mutating func end() {
    if !isReadable { records.end() }
    output.flush()
  }

  func shows(_ entries: [Entry], to standIns: [StandIn]?) -> Bool {
    entries.contains { filter.accepts($0) && isReceived($0, standIns) }
  }

  /// The number of terminal rows that a user's part of the current state takes.
  func rows(of entries: [Entry], at cursor: Cursor, to standIns: [StandIn]?, columns: Int) -> Int {
    let entries = entries.filter { filter.accepts($0) && isReceived($0, standIns) }
    if !isReadable {
      return entries.reduce(0) { sum, entry in sum + (standIns?.count { $0.receives(entry) } ?? 1) }
    }
    var layout = readable
    var lines: [String] = []
    for entry in entries {
      if !layout.takes(entry) {
        lines += layout.lines(at: cursor, to: standIns)
        layout.group = []
      }
      layout.group.append(entry)
    }
    lines += layout.lines(at: cursor, to: standIns)
    return lines.reduce(0) { $0 + $1.rows(of: columns) }
  }

  // MARK: Parts

  private mutating func admit() -> Bool {
    guard let left = remaining else { return true }
    remaining = max(0, left - 1)
    if left == 0 { isCut = true }
    return left > 0
  }

  /// Whether another line of the set may be printed; called before a line, since a signal after the last one cuts nothing.
  private mutating func mayContinue() -> Bool {
    if Signals.shared.status != nil || output.hasGivenUp { isCut = true }
    return !isCut
  }

  private mutating func hold(_ entry: Entry, for standIn: StandIn?, at cursor: Cursor?) {
    releaseLine(at: cursor, isLast: false)
    held = (entry, standIn)
  }

  private mutating func releaseLine(at cursor: Cursor?, isLast: Bool) {
    guard let line = held else { return }
    held = nil
    records.print(line.entry.record(at: cursor, isLast: isLast, listener: line.standIn?.listener))
  }

  private mutating func printLines(_ set: ChangeSet, to standIn: StandIn?) throws {
    if isCut { return }
    try set.iterateEntries { entry in
      let entry = Entry(entry)
      guard filter.accepts(entry), standIn?.receives(entry) ?? true else { return true }
      guard mayContinue(), admit() else { return false }
      hold(entry, for: standIn, at: set.cursor)
      return true
    }
  }

  private mutating func printReadable(_ set: ChangeSet, to standIns: [StandIn]?) throws {
    try set.iterateEntries { entry in
      let entry = Entry(entry)
      guard filter.accepts(entry), isReceived(entry, standIns) else { return true }
      guard mayContinue() else { return false }
      add(entry, at: set.cursor, standIns)
      return true
    }
    finishGroup(at: set.cursor, standIns)
  }

  private func isReceived(_ entry: Entry, _ standIns: [StandIn]?) -> Bool {
    standIns.map { $0.contains { $0.receives(entry) } } ?? true
  }

  private mutating func add(_ entry: Entry, at cursor: Cursor?, _ standIns: [StandIn]?) {
    if !isReceived(entry, standIns) { return }
    if !readable.group.isEmpty, !readable.takes(entry) { finishGroup(at: cursor, standIns) }
    readable.group.append(entry)
  }

  private mutating func finishGroup(at cursor: Cursor?, _ standIns: [StandIn]?) {
    let layout = readable
    readable.group = []
    for line in layout.lines(at: cursor, to: standIns, while: { admit() }) { output.writeLine(line) }
  }
}
