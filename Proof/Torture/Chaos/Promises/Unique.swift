/// A process reports no change twice.
enum Unique: FeedPromise {
  static let text = "each change is reported once"

  static func violations(in feed: Feed, _ record: Record) -> [String] {
    var violations: [String] = []
    feed.forEachPart { part, place in
      var seen: Set<Int64> = []
      for row in part.sets.flatMap({ $0.places.compactMap { $0 } }) where !seen.insert(row).inserted {
        violations.append("\(place): row \(row) is reported twice")
      }
    }
    return violations
  }
}
