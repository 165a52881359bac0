import UserStore

/// Prints change sets, as each listener hears them, or, without listeners, change by change.
struct StreamPrinter {
  /// Whose changes, and which of them.
  var filter: Filter
  /// How many lines may still be printed; nil for any number.
  private var remaining: Int?
  /// Whether lines of the last set are missing.
  private var isCut = false
  /// The last line that was made: whether it has the set's cursor, only what comes next says.
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

  /// Prints a set.
  ///
  /// - Parameters:
  ///   - set: The changes.
  ///   - standIns: Who hears them, in the order of the calls; nil to print the changes by themselves.
  /// - Returns: whether all of it was printed: the number of lines may have ended it, or a signal between two of its lines.
  /// - Throws: what reading a huge set can throw.
  mutating func print(_ set: ChangeSet, to standIns: [StandIn]?) throws(StoreError) -> Bool {
    isCut = false
    if isReadable {
      try printReadable(set, to: standIns)
    } else if let standIns {
      for standIn in standIns { try printLines(set, to: standIn) }
    } else {
      try printLines(set, to: nil)
    }
    releaseLine(at: set.cursor, isLast: !isCut)
    output.flush()
    return !isCut && !output.hasGivenUp
  }

  /// Whether all lines that were asked for are printed.
  var isDone: Bool { remaining.map { $0 <= 0 } ?? false }

  /// Prints entries that are a set: what a dry run would do.
  mutating func print(_ entries: [Entry], at cursor: Cursor?, to standIns: [StandIn]?) {
    add(entries, at: cursor, to: standIns)
    endState(at: cursor)
  }

  /// Prints a part of the present state, up to its last line.
  mutating func add(_ entries: [Entry], at cursor: Cursor?, to standIns: [StandIn]?) {
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
      for entry in entries where standIn?.hears(entry.attribute) ?? true { hold(entry, for: standIn, at: cursor) }
    }
  }

  /// Prints the last line of the present state.
  mutating func endState(at cursor: Cursor?) {
    releaseLine(at: cursor, isLast: true)
    output.flush()
  }

  /// Says that the log does not go on, before the present state.
  mutating func printReset(because reason: String) {
    if isReadable {
      output.writeLine("reset: \(reason); the present state follows")
    } else {
      let record = Record(fields: [("op", .text("reset")), ("reason", .text(reason))])
      records.print(record, plain: record)
    }
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
    remaining = max(0, left - 1)
    if left == 0 { isCut = true }
    return left > 0
  }

  /// Whether a further line of the set is printed.
  ///
  /// Asked before a line, not after it: a signal behind a set's last line cuts nothing.
  private mutating func goesOn() -> Bool {
    if Signals.shared.status != nil || output.hasGivenUp { isCut = true }
    return !isCut
  }

  /// Keeps a line back until it is known whether the set ends with it.
  private mutating func hold(_ entry: Entry, for standIn: StandIn?, at cursor: Cursor?) {
    releaseLine(at: cursor, isLast: false)
    held = (entry, standIn)
  }

  private mutating func releaseLine(at cursor: Cursor?, isLast: Bool) {
    guard let line = held else { return }
    held = nil
    records.print(line.entry.record(at: cursor, isLast: isLast, listener: line.standIn?.listener))
  }

  private mutating func printLines(_ set: ChangeSet, to standIn: StandIn?) throws(StoreError) {
    if isCut { return }
    try set.iterate { change in
      let entry = Entry(change)
      guard filter.accepts(entry), standIn?.hears(entry.attribute) ?? true else { return true }
      guard goesOn(), admit() else { return false }
      hold(entry, for: standIn, at: set.cursor)
      return true
    }
  }

  private mutating func printReadable(_ set: ChangeSet, to standIns: [StandIn]?) throws(StoreError) {
    try set.iterate { change in
      let entry = Entry(change)
      guard filter.accepts(entry), isHeard(entry, standIns) else { return true }
      guard goesOn() else { return false }
      add(entry, at: set.cursor, standIns)
      return true
    }
    finishGroup(at: set.cursor, standIns)
  }

  private func isHeard(_ entry: Entry, _ standIns: [StandIn]?) -> Bool {
    standIns.map { $0.contains { $0.hears(entry.attribute) } } ?? true
  }

  private mutating func add(_ entry: Entry, at cursor: Cursor?, _ standIns: [StandIn]?) {
    if !isHeard(entry, standIns) { return }
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
