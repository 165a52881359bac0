import UserStore

/// Prints change sets, as each listener hears them, or, without listeners, change by change.
struct StreamPrinter {
  /// Whose changes, and which of them.
  var filter: Filter
  /// How many lines may still be printed; nil for any number.
  ///
  /// Negative once a line was left out.
  private var remaining: Int?
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

  /// Prints a set.
  ///
  /// - Parameters:
  ///   - set: The changes.
  ///   - standIns: Who hears them, in the order of the calls; nil to print the changes by themselves.
  /// - Returns: whether all of it was printed: the number of lines may have ended it, or a signal.
  /// - Throws: what reading a huge set can throw.
  mutating func print(_ set: ChangeSet, to standIns: [StandIn]?) throws(StoreError) -> Bool {
    if isReadable {
      try printReadable(set, to: standIns)
    } else if let standIns {
      for standIn in standIns { try printLines(set, to: standIn) }
    } else {
      try printLines(set, to: nil)
    }
    output.flush()
    return !isCut
  }

  /// Whether all lines that were asked for are printed.
  var isDone: Bool { remaining.map { $0 <= 0 } ?? false }

  /// Whether lines of the last set are missing.
  private var isCut: Bool { isOver || output.hasGivenUp || Signals.shared.status != nil }

  private var isOver: Bool { remaining.map { $0 < 0 } ?? false }

  /// Prints entries that belong to no set: the present state, or what a dry run would do.
  mutating func print(_ entries: [Entry], at cursor: Cursor?, to standIns: [StandIn]?) {
    let present = remaining
    remaining = nil
    defer { remaining = present }
    let entries = entries.filter { filter.accepts($0) }
    if isReadable {
      for entry in entries { add(entry, at: cursor, standIns) }
      finishGroup(at: cursor, standIns)
      return
    }
    for standIn in standIns.map({ $0.map(Optional.some) }) ?? [nil] {
      for entry in entries where standIn?.hears(entry.attribute) ?? true {
        records.print(entry.record(at: cursor, listener: standIn?.listener))
      }
    }
  }

  /// Says that the log does not go on, before the present state.
  mutating func printReset(because reason: String) {
    if isReadable {
      output.writeLine("reset: \(reason); the present state follows")
    } else {
      records.print(Record(fields: [("op", .text("reset")), ("reason", .text(reason))]))
    }
    output.flush()
  }

  func flush() {
    output.flush()
  }

  /// After the last one.
  mutating func end() {
    if !isReadable { records.end() }
    output.flush()
  }

  // MARK: Parts

  /// Counts a line.
  private mutating func admit() -> Bool {
    guard let left = remaining else { return true }
    remaining = max(-1, left - 1)
    return left > 0
  }

  private mutating func printLines(_ set: ChangeSet, to standIn: StandIn?) throws(StoreError) {
    if isOver { return }
    try set.iterate { change in
      let entry = Entry(change)
      guard filter.accepts(entry), standIn?.hears(entry.attribute) ?? true else { return true }
      guard admit() else { return false }
      records.print(entry.record(at: set.cursor, listener: standIn?.listener))
      return !isCut
    }
  }

  private mutating func printReadable(_ set: ChangeSet, to standIns: [StandIn]?) throws(StoreError) {
    try set.iterate { change in
      let entry = Entry(change)
      guard filter.accepts(entry) else { return true }
      add(entry, at: set.cursor, standIns)
      return !isCut
    }
    finishGroup(at: set.cursor, standIns)
  }

  private mutating func add(_ entry: Entry, at cursor: Cursor?, _ standIns: [StandIn]?) {
    if let standIns, !standIns.contains(where: { $0.hears(entry.attribute) }) { return }
    if !readable.group.isEmpty, !readable.takes(entry) { finishGroup(at: cursor, standIns) }
    readable.group.append(entry)
  }

  private mutating func finishGroup(at cursor: Cursor?, _ standIns: [StandIn]?) {
    let group = readable.group
    readable.group = []
    if group.isEmpty { return }
    guard let standIns else {
      for entry in group where admit() { output.writeLine(readable.header([entry], at: cursor)) }
      return
    }
    var isFirst = true
    for standIn in standIns {
      for entry in group where standIn.hears(entry.attribute) && admit() {
        if isFirst { output.writeLine(readable.header(group, at: cursor)) }
        isFirst = false
        if !standIn.isNobody { output.writeLine(readable.line(entry, for: standIn)) }
      }
    }
  }
}
