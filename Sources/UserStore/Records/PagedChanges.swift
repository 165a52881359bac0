/// Entries of a huge set, which are read from the log while they are iterated.
package struct PagedChanges: Sendable {
  /// The largest number of rows in a page, and of changes in a set that is held in memory.
  package static let rowLimit = 1_000
  /// The largest size of the values in a page, not counting its last row.
  package static let byteLimit = 1 << 20

  /// A page of entries; `last` is the last row that was read.
  typealias Page = (entries: ChangeSet.Entries, last: Int64)

  /// The row before the first.
  let start: Int64
  /// The last row.
  let end: Int64
  /// The topics of the entries; nil for all.
  var topics: [Topic]?
  let source: any PageSource

  /// Calls `body` with the entries of each page, until it returns false.
  func iterate(while body: (ChangeSet.Entries) throws -> Bool) throws {
    var position = start
    while position < end {
      let page = try source.page(after: position, through: end)
      if try !body(kept(page)) { return }
      position = page.last
    }
  }

  /// Reads each page on a thread of the source, and calls `body` in the context of the caller.
  func iterate(while body: (ChangeSet.Entries) throws -> Bool) async throws {
    var position = start
    while position < end {
      let page = try await source.awaitedPage(after: position, through: end)
      if try !body(kept(page)) { return }
      position = page.last
    }
  }

  /// Reads each page on a thread of the source, and awaits `body` for each page.
  func forEach(_ body: (ChangeSet.Entries) async throws -> Void) async throws {
    var position = start
    while position < end {
      let page = try await source.awaitedPage(after: position, through: end)
      try await body(kept(page))
      position = page.last
    }
  }

  private func kept(_ page: Page) -> ChangeSet.Entries { topics.map { page.entries.of($0) } ?? page.entries }

  /// The parts for the bound topics: a part that fits in a page is held, a larger one is read again by pages.
  ///
  /// When reading fails, every bound topic gets a part, and iterating it throws the error.
  func divide(for bound: BoundTopics<Topic>) -> [(Topic, ChangeSet.Content)] {
    var parts: [Topic: Part] = [:]
    do {
      try iterate { entries in
        for (topic, entries) in entries.divided(among: bound) { parts[topic, default: Part()].append(entries) }
        return true
      }
    } catch {
      parts = Dictionary(uniqueKeysWithValues: bound.all.map { ($0, Part(entries: nil)) })
    }
    return parts.map { topic, part in (topic, content(of: part, [topic])) }
  }

  /// The entries of some topics, held if they fit in a page; nil if there are none.
  func content(of topics: [Topic]) throws(StoreError) -> ChangeSet.Content? {
    var part = Part()
    do {
      try iterate { entries in
        part.append(entries.of(topics))
        // The rest is read when the part is iterated.
        return part.entries != nil
      }
    } catch { throw StoreError(error) }
    return part.entries?.isEmpty == true ? nil : content(of: part, topics)
  }

  private func content(of part: Part, _ topics: [Topic]) -> ChangeSet.Content {
    part.entries.map { .held($0) } ?? .paged(PagedChanges(start: start, end: end, topics: topics, source: source))
  }

  private struct Part {
    /// Nil when they are too large to be held.
    var entries: ChangeSet.Entries? = ChangeSet.Entries()
    var bytes = 0

    mutating func append(_ more: ChangeSet.Entries) {
      guard let held = entries else { return }
      bytes += more.byteCount
      let count = held.changes.count + held.events.count + more.changes.count + more.events.count
      guard count <= PagedChanges.rowLimit, bytes <= PagedChanges.byteLimit else {
        entries = nil
        return
      }
      entries?.changes += more.changes
      entries?.events += more.events
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
