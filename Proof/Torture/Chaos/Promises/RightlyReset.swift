import TortureSupport

/// A watcher is reset only if the log after its position was deleted, and then reports the state of exactly one revision.
enum RightlyReset: FeedPromise {
  static let text = "a watcher is reset only if it must be, and then reports the state of one revision"

  static func violations(in feed: Feed, _ record: Record) -> [String] {
    var violations: [String] = []
    for (number, run) in feed.runs.enumerated() {
      var position = run.start
      for (index, part) in run.parts.enumerated() {
        if let reason = part.reset, reason != "compacted" || position ?? 0 >= record.horizon {
          violations.append(
            "\(feed.name), run \(number + 1): reset (\(reason)) after revision \(position ?? 0), deleted: \(record.horizon)"
          )
        }
        position = part.sets.last?.revision ?? part.snapshotRevision ?? position
        let isCut = index == run.parts.count - 1 && part.sets.isEmpty && part.snapshotRevision ?? 0 > run.saved ?? 0
        if let violation = violation(in: part, isCut: isCut, record.log) {
          violations.append("\(feed.name), run \(number + 1): \(violation)")
        }
      }
    }
    return violations
  }

  private static func violation(in part: WatchOutput.Part, isCut: Bool, _ log: LogCopy) -> String? {
    guard let revision = part.snapshotRevision else { return nil }
    do {
      let expected = try Snapshots.lines(at: revision, log)
      let reported = Set(part.snapshot.map(\.summary))
      let isRight =
        isCut ? reported.isSubset(of: expected) : reported == expected && reported.count == part.snapshot.count
      return isRight ? nil : "the state at revision \(revision) differs: \(reported.symmetricDifference(expected))"
    } catch { return "the log up to revision \(revision): \(error)" }
  }
}

/// The state at a revision, from a replay of the log.
enum Snapshots {
  static func replica(at revision: Int64, _ log: LogCopy) throws -> Replica {
    var replica = Replica()
    for row in log.changes(after: 0, through: revision) { try replica.apply(row.change()) }
    try replica.finish()
    return replica
  }

  /// The lines with which a watcher reports the state.
  static func lines(at revision: Int64, _ log: LogCopy) throws -> Set<String> {
    var lines: Set<String> = []
    for (id, user) in try replica(at: revision, log).users {
      lines.insert("snapshot \(id) name null>\(user.name.words)")
      lines.insert("snapshot \(id) hair_color null>\(user.hairColor.words)")
      for (name, value) in user.attributes {
        lines.insert("snapshot \(id) \(String(decoding: name, as: UTF8.self)) null>\(value.words)")
      }
    }
    return lines
  }
}

extension PlainValue {
  /// The value as `Line.summary` shows it.
  fileprivate var words: String {
    switch self {
    case .null: "null"
    case .integer(let integer): String(integer)
    case .real(let real): String(real)
    case .text(let bytes): "'\(String(decoding: bytes, as: UTF8.self))'"
    case .blob: "b64:"
    }
  }
}
