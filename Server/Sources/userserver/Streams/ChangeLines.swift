import Hummingbird
import ServiceLifecycle
import UserStore

/// The changes of a set as JSON, one object each, as `usertool watch --per-change` prints them.
struct ChangeObjects {
  private var previous: String?
  private let set: UserStore.ChangeSet

  init(_ set: UserStore.ChangeSet) { self.set = set }

  /// Takes a change, and returns the one before it, now that it is known not to be the last one.
  mutating func add(_ change: UserStore.Change) -> String? {
    defer { previous = change.json }
    return previous.map { object($0, isLast: false) }
  }

  /// The last change, which alone has the cursor: to resume after another one would skip the rest of the set.
  var last: String? { previous.map { object($0, isLast: true) } }

  private func object(_ change: String, isLast: Bool) -> String {
    let cursor = isLast ? "\"cursor\":\(JSONText.text(set.cursor.description))," : ""
    return "{\"revision\":\(set.revision),\(cursor)" + change.dropFirst()
  }
}

/// `GET /changes` as lines of JSON, or as one JSON object.
struct ChangeLines: Sendable {
  let api: API
  let start: Cursor
  let filter: ChangeFilter
  let clock: StreamClock
  let limit: Int?

  /// Sends a line for each change until the stream ends.
  func runLines(_ response: LiveResponse) async throws {
    var count = 0
    do {
      try await api.follow(after: start, every: clock.interval, in: response) { step in
        if case .set(let set) = step {
          var sent = 0
          try await send(set, to: response) { _, object in
            sent += 1
            return object + "\n"
          }
          count += sent > 0 ? 1 : 0
        }
        return count != limit && clock.isOver == nil
      }
    } catch is Problem {
      // Without memory, or at the end of the server; only whole lines were sent.
    }
  }

  /// Sends one page: what the log has, up to 1,000 changes or 1 MiB of whole sets, or else the next set within `wait`.
  func runPage(wait: Duration, _ response: LiveResponse) async throws {
    let began = ContinuousClock.now
    // Hidden sets take time too, so that a page ends even if there is nothing else.
    let catchUpLimit = max(wait, .seconds(2))
    let interval = wait / max(1, (wait / .seconds(2)).rounded(.up))
    var page = (count: 0, bytes: 0, sets: 0)
    var (cursor, isInSet) = (start, false)
    try await response.write("{\"changes\":[")
    do {
      try await api.follow(after: start, every: wait == .zero ? catchUpLimit : interval, in: response) { step in
        let elapsed = ContinuousClock.now - began + .milliseconds(5)
        switch step {
        case .set(let set):
          let before = page.count
          try await send(set, to: response, isWritten: { isInSet = true }) { index, object in
            page.count += 1
            page.bytes += object.utf8.count
            return (page.count > 1 ? "," : "") + object
          }
          (cursor, isInSet) = (set.cursor, false)
          page.sets += page.count > before ? 1 : 0
          let isFull = page.count >= Self.countLimit || page.bytes >= Self.byteLimit || page.sets == limit
          return !isFull && elapsed < catchUpLimit
        case .end(let end, _):
          cursor = end
          return page.count == 0 && elapsed < wait
        }
      }
    } catch let problem as Problem {
      // Without memory, or at the end of the server, the page is shorter. In the middle of a set, it can only break off.
      if isInSet { throw problem }
    }
    let head = try await api.store.read { users in try users.cursor }
    let isAtEnd = cursor.revision >= head.revision
    let end = "],\"cursor\":\(JSONText.text(cursor.description)),\"upToDate\":\(isAtEnd)}"
    try await response.write(end, isRequired: true)
  }

  private static let countLimit = 1_000
  private static let byteLimit = 1 << 20

  /// Sends the changes of a set that the filter shows; calls `isWritten` when a part was sent that is not the last one.
  private func send(
    _ set: UserStore.ChangeSet, to response: LiveResponse, isWritten: () -> Void = {}, _ text: (Int, String) -> String
  ) async throws {
    var objects = ChangeObjects(set)
    var (part, index) = ("", 0)
    try await set.forEach { (change: UserStore.Change) async throws in
      guard filter.accepts(change), let object = objects.add(change) else { return }
      part += text(index, object)
      index += 1
      if part.utf8.count > Self.byteLimit {
        try await response.write(part)
        isWritten()
        part = ""
      }
    }
    if let last = objects.last { part += text(index, last) }
    if !part.isEmpty { try await response.write(part) }
  }
}
