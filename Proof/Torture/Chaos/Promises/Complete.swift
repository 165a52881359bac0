/// When all work is done, every watcher has reported the last change.
enum Complete: FeedPromise {
  static let text = "in the end, every watcher has reported every change"

  static func violations(in feed: Feed, _ record: Record) -> [String] {
    let last = record.log.rows.last(where: \.isChange)?.seq ?? 0
    let part = feed.runs.last?.parts.last
    let reported = (part?.sets.last?.places.last ?? nil) ?? part?.snapshotRevision ?? 0
    return reported >= last ? [] : ["\(feed.name): reported up to row \(reported) of \(last)"]
  }
}
