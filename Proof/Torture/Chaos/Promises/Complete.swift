/// When all are at rest, the last change has been told to everybody.
enum Complete: FeedPromise {
  static let text = "at last everybody has been told everything"

  static func violations(in feed: Feed, _ record: Record) -> [String] {
    let last = record.log.rows.last { !$0.isEnd }?.seq ?? 0
    let part = feed.runs.last?.parts.last
    let told = (part?.sets.last?.places.last ?? nil) ?? part?.snapshotRevision ?? 0
    return told >= last ? [] : ["\(feed.name): told up to row \(told) of \(last)"]
  }
}
