/// Nothing is told that the log lacks: no change, and no end of a set; nor anything unreadable.
enum OnlyCommitted: FeedPromise {
  static let text = "only what is committed is told"

  static func violations(in feed: Feed, _ record: Record) -> [String] {
    var violations: [String] = []
    feed.forEachPart { part, place in
      for set in part.sets {
        if !record.log.has(set.revision) { violations.append("\(place): there is no revision \(set.revision)") }
        for (summary, row) in zip(set.summaries, set.places) where row == nil {
          violations.append("\(place): told at revision \(set.revision), and not in the log: \(summary)")
        }
      }
    }
    for line in feed.runs.flatMap(\.unreadable) { violations.append("\(feed.name): told what is no JSON: \(line)") }
    return violations
  }
}
