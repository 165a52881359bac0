import TortureSupport

/// One process of a watcher, as seen from outside.
struct WatchRun {
  /// The saved position before the run, if there is one.
  var start: Int64?
  /// The complete lines that it printed.
  var lines: [String] = []
  /// The saved position after the run.
  var saved: Int64?

  init(start: Int64?) {
    self.start = start
  }
}

/// All processes of one watcher.
struct Feed {
  let name: String
  /// Whether each set is saved before the next one is reported, so that at most one is repeated.
  let savesEachSet: Bool
  var runs: [WatchOutput]
}

/// The decoded output of one process of a watcher.
struct WatchOutput {
  /// The output from a saved position on, or from a reset on.
  struct Part {
    /// The reason for the reset.
    var reset: String?
    var snapshot: [Line] = []
    var sets: [ReportedSet] = []

    /// The revision of the state that it starts with.
    var snapshotRevision: Int64? { snapshot.first?.revision }
  }

  let start: Int64?
  var saved: Int64?
  var parts: [Part] = []
  /// The complete lines that are not JSON.
  private(set) var unreadable: [String] = []

  init(_ run: WatchRun, _ index: LogIndex) {
    (start, saved) = (run.start, run.saved)
    var part = Part()
    var lines: [Line] = []
    func finishSet() {
      if !lines.isEmpty { part.sets.append(index.place(lines, after: part.sets.last?.places.last ?? nil)) }
      lines = []
    }
    for text in run.lines {
      guard let line = try? Line.decode(text) else {
        unreadable.append(text)
        continue
      }
      if line.revision != lines.last?.revision || line.op == "reset" { finishSet() }
      switch line.op {
      case "reset":
        parts.append(part)
        part = Part(reset: line.reason)
      case "snapshot": part.snapshot.append(line)
      default: lines.append(line)
      }
    }
    finishSet()
    parts.append(part)
  }
}

/// A set as a watcher reported it.
struct ReportedSet {
  let revision: Int64
  /// The row of each of its changes in the log, nil for a change that is not in the log.
  var places: [Int64?]
  let summaries: [String]
}

/// Finds reported changes in the log, regardless of the order in which they were reported.
struct LogIndex {
  private struct Key: Hashable {
    let op: String
    let user: Int64
    let attribute: String
    let old: PlainValue
    let new: PlainValue
  }

  private var places: [Key: [Int64]] = [:]

  init(_ log: LogCopy) {
    let ops: [Int64: String] = [1: "insert", 2: "update", 3: "delete"]
    for row in log.rows where row.isChange {
      let key = Key(op: ops[row.op] ?? "", user: row.user, attribute: row.attribute, old: row.old, new: row.new)
      places[key, default: []].append(row.seq)
    }
  }

  /// Finds the rows of a set.
  ///
  /// `last` is the row that was reported right before it.
  func place(_ lines: [Line], after last: Int64?) -> ReportedSet {
    let revision = lines.last?.revision ?? 0
    var last = last ?? 0
    let places = lines.map { line -> Int64? in
      let place = place(line, after: last, through: revision)
      last = place ?? last
      return place
    }
    return ReportedSet(revision: revision, places: places, summaries: lines.map(\.summary))
  }

  /// Picks the row that fits best, because the same change may have been made several times.
  private func place(_ line: Line, after last: Int64, through revision: Int64) -> Int64? {
    let key = Key(
      op: line.op, user: line.user ?? 0, attribute: line.attribute ?? "", old: line.old.plain, new: line.new.plain)
    guard let candidates = places[key] else { return nil }
    return candidates.first { $0 > last && $0 <= revision } ?? candidates.last { $0 <= revision } ?? candidates[0]
  }
}

extension Line.Value {
  /// The value as it is in the file.
  ///
  /// Bytes, and text that is not valid UTF-8, are not used here.
  var plain: PlainValue {
    switch self {
    case .null, .data, .invalidText: .null
    case .integer(let integer): .integer(integer)
    case .real(let real): .real(real)
    case .text(let text): .text(Array(text.utf8))
    }
  }
}
