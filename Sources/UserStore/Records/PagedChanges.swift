/// Changes that are read from the log while they are iterated.
package struct PagedChanges: Sendable {
  /// The largest number of rows in a page, and of changes in a set that is held in memory.
  package static let rowLimit = 1_000
  /// The largest size of the values in a page, not counting its last row.
  package static let byteLimit = 1 << 20

  /// A page of changes; `last` is the last row that was read.
  typealias Page = (changes: [Change], last: Int64)

  /// The row before the first.
  let start: Int64
  /// The last row.
  let end: Int64
  /// The topics of the changes; nil for all changes.
  var topics: [Topic]?
  let source: any PageSource

  func iterate(while body: (Change) throws -> Bool) throws {
    var position = start
    while position < end {
      let page = try source.page(after: position, through: end)
      if try !iterate(page, while: body) { return }
      position = page.last
    }
  }

  /// Reads each page on a thread of the source, and calls `body` in the context of the caller.
  func iterate(while body: (Change) throws -> Bool) async throws {
    var position = start
    while position < end {
      let page = try await source.awaitedPage(after: position, through: end)
      if try !iterate(page, while: body) { return }
      position = page.last
    }
  }

  /// Reads each page on a thread of the source, and awaits `body` for each change.
  func forEach(_ body: (Change) async throws -> Void) async throws {
    var position = start
    while position < end {
      let page = try await source.awaitedPage(after: position, through: end)
      for change in page.changes where topics?.contain(change) ?? true { try await body(change) }
      position = page.last
    }
  }

  private func iterate(_ page: Page, while body: (Change) throws -> Bool) throws -> Bool {
    for change in page.changes where topics?.contain(change) ?? true {
      if try !body(change) { return false }
    }
    return true
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
    return parts.map { topic, part in (topic, content(of: part, [topic])) }
  }

  /// The changes of some topics, held if they fit in a page; nil if there are none.
  func content(of topics: [Topic]) throws(StoreError) -> ChangeSet.Content? {
    var part = Part()
    do {
      try iterate { change in
        if topics.contain(change) { part.append(change) }
        // The rest is read when the part is iterated.
        return part.changes != nil
      }
    } catch { throw StoreError(error) }
    return part.changes?.isEmpty == true ? nil : content(of: part, topics)
  }

  private func content(of part: Part, _ topics: [Topic]) -> ChangeSet.Content {
    part.changes.map { .held($0) } ?? .paged(PagedChanges(start: start, end: end, topics: topics, source: source))
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
    PagedChanges(start: max(start, sequence), end: end, topics: topics, source: source)
  }
}

protocol PageSource: Sendable {
  /// Reads at most a page of the changes after one row, through another.
  func page(after start: Int64, through end: Int64) throws(StoreError) -> PagedChanges.Page

  /// Reads a page on a thread of the source.
  func awaitedPage(after start: Int64, through end: Int64) async throws -> PagedChanges.Page
}
