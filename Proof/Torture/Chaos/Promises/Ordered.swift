/// Sets are reported in the order of their revisions, and changes in the order of the log.
enum Ordered: FeedPromise {
  static let text = "changes are reported in commit order"

  static func violations(in feed: Feed, _ record: Record) -> [String] {
    var violations: [String] = []
    feed.forEachPart { part, place in
      for (set, next) in zip(part.sets, part.sets.dropFirst()) where next.revision <= set.revision {
        violations.append("\(place): revision \(next.revision) is reported after \(set.revision)")
      }
      let rows = part.sets.flatMap { $0.places.compactMap { $0 } }
      for (row, next) in zip(rows, rows.dropFirst()) where next < row {
        violations.append("\(place): row \(next) is reported after row \(row)")
      }
      for set in part.sets {
        if let late = set.places.compactMap({ $0 }).first(where: { $0 > set.revision }) {
          violations.append("\(place): row \(late) is in a set that ends at \(set.revision)")
        }
      }
    }
    return violations
  }
}
