import Hummingbird
import ServiceLifecycle
import UserStore

/// `GET /changes` as lines of JSON, or as one JSON object.
struct ChangeLines: Sendable {
  let api: API
  let start: Cursor
  let filter: ChangeFilter
  let clock: StreamClock
  let limit: Int?

  func runLines(_ response: LiveResponse) async throws {
    var (count, filter) = (0, filter)
    do {
      try await api.follow(after: start, every: clock.interval, in: response) { step in
        if case .set(let set) = step {
          let part = try await ChangePart(of: set, &filter)
          if !part.texts.isEmpty { try await response.write(part.texts.joined(separator: "\n") + "\n") }
          if let next = part.next { return .rest(from: next) }
          count += part.texts.isEmpty ? 0 : 1
        }
        return count != limit && clock.isOver == nil ? .goOn : .stop
      }
    } catch is Problem {
      // Memory was exhausted, or the server ends; only whole lines were sent.
    }
  }

  /// Sends one page: the log's next changes, up to 1,000 or 1 MiB of whole sets, or else the next set within `wait`.
  func runPage(wait: Duration, _ response: LiveResponse) async throws {
    let began = ContinuousClock.now
    // Hidden sets also take time, and the page must end even if there are no others.
    let catchUpLimit = max(wait, .seconds(2))
    let interval = wait / max(1, (wait / .seconds(2)).rounded(.up))
    var page = (count: 0, bytes: 0, sets: 0)
    var (cursor, isInSet, filter) = (start, false, filter)
    try await response.write("{\"changes\":[")
    do {
      try await api.follow(after: start, every: wait == .zero ? catchUpLimit : interval, in: response) { step in
        let elapsed = ContinuousClock.now - began + .milliseconds(5)
        switch step {
        case .set(let set):
          let part = try await ChangePart(of: set, &filter)
          if !part.texts.isEmpty {
            let text = (page.count > 0 ? "," : "") + part.texts.joined(separator: ",")
            try await response.write(text)
            page.count += part.texts.count
            page.bytes += text.utf8.count
          }
          isInSet = part.next != nil
          if let next = part.next { return .rest(from: next) }
          cursor = set.cursor
          page.sets += part.texts.isEmpty ? 0 : 1
          let isFull = page.count >= Self.countLimit || page.bytes >= Self.byteLimit || page.sets == limit
          return !isFull && elapsed < catchUpLimit ? .goOn : .stop
        case .end(let end, _):
          cursor = end
          return page.count == 0 && elapsed < wait ? .goOn : .stop
        }
      }
    } catch is Problem {
      // The page is shorter because memory was exhausted, or the server ends.
    }
    // An incomplete set cannot end a page, so the response breaks off.
    if isInSet { throw CancellationError() }
    let head = try await api.store.read { users in try users.cursor }
    let isAtEnd = cursor.revision >= head.revision
    let end = "],\"cursor\":\(JSONText.text(cursor.description)),\"upToDate\":\(isAtEnd)}"
    try await response.write(end, isRequired: true)
  }

  private static let countLimit = 1_000
  private static let byteLimit = 1 << 20
}
