/// Changes that are read from the log while they are iterated.
struct PagedChanges: Sendable {
  /// The largest number of rows in a page, and of changes in a set that is held in memory.
  static let rowLimit = 1_000
  /// The largest size of the values in a page, not counting its last row.
  static let byteLimit = 1 << 20

  /// Reads at most a page of the changes after one row, through another; `last` is the last row that was read.
  typealias Read = @Sendable (_ after: Int64, _ through: Int64) throws(StoreError) -> (changes: [Change], last: Int64)

  /// The row before the first.
  let start: Int64
  /// The last row.
  let end: Int64
  /// The topic of the changes; nil for all changes.
  let topic: Topic?
  let read: Read

  func iterate(while body: (Change) -> Bool) throws(StoreError) {
    var position = start
    while position < end {
      let (changes, last) = try read(position, end)
      for change in changes where topic?.contains(change) ?? true {
        if !body(change) { return }
      }
      position = last
    }
  }

  /// The parts for the bound topics: a part that fits in a page is held, a larger one is read again by pages.
  ///
  /// When reading fails, every bound topic gets a part, and iterating it throws the error.
  func divide(for bound: BoundTopics<Topic>) -> [(Topic, ChangeSet.Content)] {
    var parts: [Topic: Part] = [:]
    do {
      try iterate { change in
        for topic in change.topics where bound.contains(topic) { parts[topic, default: Part()].append(change) }
        return true
      }
    } catch {
      parts = Dictionary(uniqueKeysWithValues: bound.all.map { ($0, Part(changes: nil)) })
    }
    return parts.map { topic, part in
      let content = part.changes.map { ChangeSet.Content.held($0) }
      return (topic, content ?? .paged(PagedChanges(start: start, end: end, topic: topic, read: read)))
    }
  }

  private struct Part {
    /// Nil when they are too large to be held.
    var changes: [Change]? = []
    var bytes = 0

    mutating func append(_ change: Change) {
      guard let count = changes?.count else { return }
      bytes += change.old.byteCount + change.new.byteCount
      if count < PagedChanges.rowLimit, bytes <= PagedChanges.byteLimit {
        changes?.append(change)
      } else {
        changes = nil
      }
    }
  }

  func dropping(through sequence: Int64) -> PagedChanges {
    PagedChanges(start: max(start, sequence), end: end, topic: topic, read: read)
  }
}
