/// Between the first and the last change that a process tells none is left out.
enum Gapless: FeedPromise {
  static let text = "nothing is left out"

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
