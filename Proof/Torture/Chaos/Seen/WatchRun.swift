import TortureSupport

/// One process of a watcher, as it was seen from outside.
struct WatchRun {
  /// The position that was saved before it; nil for none.
  var start: Int64?
  /// Whole lines that it printed.
  var lines: [String] = []
  /// The position that was saved after it.
  var saved: Int64?

  init(start: Int64?) {
    self.start = start
  }
}

/// All processes of one watcher.
struct Feed {
  let name: String
  /// Whether each set is saved before the next one is told: then one at most comes again.
  let savesEachSet: Bool
  var runs: [Telling]
}

/// What one process of a watcher told.
struct Telling {
  /// What goes on from a saved position, or from the present state.
  struct Part {
    /// Why it began anew.
    var reset: String?
    var snapshot: [Line] = []
    var sets: [ToldSet] = []

    /// The revision of the state with which it begins.
    var snapshotRevision: Int64? { snapshot.first?.revision }
  }

  let start: Int64?
  var saved: Int64?
  var parts: [Part] = []
  /// Whole lines that are no JSON.
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

/// A set as a watcher told it.
struct ToldSet {
  let revision: Int64
  /// Where the log has each of its changes; nil for one that it has not.
  var places: [Int64?]
  let summaries: [String]
}

/// Finds a change that was told in the log, whatever order it was told in.
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
    for row in log.rows where !row.isEnd {
      let key = Key(op: ops[row.op] ?? "", user: row.user, attribute: row.attribute, old: row.old, new: row.new)
      places[key, default: []].append(row.seq)
    }
  }

  /// Places a set, of which the change `last` was told right before.
  func place(_ lines: [Line], after last: Int64?) -> ToldSet {
    let revision = lines.last?.revision ?? 0
    var last = last ?? 0
    let places = lines.map { line -> Int64? in
      let place = place(line, after: last, through: revision)
      last = place ?? last
      return place
    }
    return ToldSet(revision: revision, places: places, summaries: lines.map(\.summary))
  }

  /// The same change may have been made again and undone: the one that fits, if one does.
  private func place(_ line: Line, after last: Int64, through revision: Int64) -> Int64? {
    let key = Key(
      op: line.op, user: line.user ?? 0, attribute: line.attribute ?? "", old: line.old.plain, new: line.new.plain)
    guard let candidates = places[key] else { return nil }
    return candidates.first { $0 > last && $0 <= revision } ?? candidates.last { $0 <= revision } ?? candidates[0]
  }
}

extension Line.Value {
  /// The same value as it lies in the file; bytes do not come here.
  var plain: PlainValue {
    switch self {
    case .null, .data: .null
    case .integer(let integer): .integer(integer)
    case .real(let real): .real(real)
    case .text(let text): .text(Array(text.utf8))
    }
  }
}
