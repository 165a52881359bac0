/// A process reports every change between its first and its last one.
enum Gapless: FeedPromise {
  static let text = "no change is left out"

  static func violations(in feed: Feed, _ record: Record) -> [String] {
    var violations: [String] = []
    feed.forEachPart { part, place in
      let rows = Set(part.sets.flatMap { $0.places.compactMap { $0 } })
      guard let first = rows.min(), let last = rows.max() else { return }
      for row in record.log.changes(after: first - 1, through: last) where !rows.contains(row.seq) {
        violations.append("\(place): row \(row.seq) is left out between \(first) and \(last)")
      }
    }
    return violations
  }
}
