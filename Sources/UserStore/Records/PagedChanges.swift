/// Changes that are read from the log while they are iterated.
struct PagedChanges: Sendable {
  /// How many rows one page has at most, and how many changes a set holds that is at hand.
  static let rowLimit = 1_000
  /// How many bytes of values one page has at most, give or take the last row.
  static let byteLimit = 1 << 20

  /// Reads what stands after one row, through another, at most a page of it; says how far it came.
  typealias Read = @Sendable (_ after: Int64, _ through: Int64) throws(StoreError) -> (changes: [Change], last: Int64)

  /// The row before the first.
  let start: Int64
  /// The last row.
  let end: Int64
  /// Which of the changes belong to it; nil for all.
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

  /// The parts for those topics that it has changes of.
  ///
  /// A part that fits is held, a larger one is read again by pages.
  ///
  /// When reading fails, every bound topic gets a part, and whoever iterates it gets the error.
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

  /// What is held of a topic's part; nothing any more when it has become too large.
  private struct Part {
    var changes: [Change]? = []
    private var bytes = 0

    init(changes: [Change]? = []) {
      self.changes = changes
    }

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
