/// Every reported change and every end of a set is in the log, and every line of output is JSON.
enum OnlyCommitted: FeedPromise {
  static let text = "only committed changes are reported"

  static func violations(in feed: Feed, _ record: Record) -> [String] {
    var violations: [String] = []
    feed.forEachPart { part, place in
      for set in part.sets {
        if !record.log.has(set.revision) { violations.append("\(place): there is no revision \(set.revision)") }
        for (summary, row) in zip(set.summaries, set.places) where row == nil {
          violations.append("\(place): reported at revision \(set.revision), but not in the log: \(summary)")
        }
      }
    }
    for line in feed.runs.flatMap(\.unreadable) { violations.append("\(feed.name): a line is not JSON: \(line)") }
    return violations
  }
}
