import Hummingbird
import ServiceLifecycle
import UserStore
import UserStoreText

/// `GET /changes` as an event stream.
struct ChangeStream: Sendable {
  let api: API
  let start: Cursor
  let head: Cursor
  let filter: ChangeFilter
  let clock: StreamClock
  /// The number of sets after which the stream ends.
  let limit: Int?

  /// Sends events until the stream ends; returns the reason.
  func run(_ stream: EventStream) async throws -> String {
    // The id is for a client whose connection ends before the next event.
    try await stream.send("hello", id: start.description, retry: API.retry, api.hello(head, clock))
    var (cursor, count) = (start, 0)
    while true {
      do { return try await send(after: cursor, to: stream, &count) } catch let error as StoreError {
        switch error.code {
        case .compacted, .diverged: cursor = try await reset(because: error.code, stream)
        // Before the feed began, which then waits itself.
        case .connectionLost:
          if let reason = clock.isOver { return reason }
          if Task.isShuttingDownGracefully { return api.endReason() }
          try await Task.sleep(for: .seconds(1))
        case .replaced, .moved:
          api.onReplaced()
          return "replaced"
        default: throw error
        }
      }
    }
  }

  /// Sends the log after the cursor and later commits; counts the sets, and returns the reason of the end.
  private func send(after cursor: Cursor, to stream: EventStream, _ count: inout Int) async throws -> String {
    // Whose the users were there; also after a reset.
    let (starting, cursor) = try await api.queries.inTurn(of: api.access.subject) {
      try await self.filter.starting(at: cursor, in: api.ownership)
    }
    var (sent, filter) = (ContinuousClock.now, starting)
    var reason: String?
    try await api.follow(after: cursor, every: clock.interval, in: stream.response) { step in
      switch step {
      case .set(let set):
        let part = try await ChangePart(of: set, &filter)
        if !part.texts.isEmpty {
          try await send(part, of: set, to: stream)
          if let next = part.next { return .rest(from: next) }
          count += 1
          sent = .now
          if count == limit { reason = "limit" }
        } else if ContinuousClock.now - sent >= clock.interval {
          try await progress(set.cursor, isUpToDate: false, stream)
          sent = .now
        }
      case .end(let cursor, let isDue):
        if isDue { try await progress(cursor, isUpToDate: true, stream) }
      }
      reason = reason ?? clock.isOver
      return reason == nil ? .goOn : .stop
    }
    return reason ?? api.endReason()
  }

  private func reset(because code: StoreError.Code, _ stream: EventStream) async throws -> Cursor {
    let cursor = try await api.store.read { try $0.cursor }
    let members = [("reason", JSONText.text(code.rawValue)), ("cursor", JSONText.text(cursor.description))]
    try await stream.send("reset", id: cursor.description, JSONText.object(members))
    return cursor
  }

  private func progress(_ cursor: Cursor, isUpToDate: Bool, _ stream: EventStream) async throws {
    let members = [("revision", "\(cursor.revision)"), ("upToDate", "\(isUpToDate)")]
    try await stream.send("progress", id: cursor.description, JSONText.object(members))
  }

  /// Sends a set, or a part of a huge one; only the last part has the id.
  private func send(_ part: ChangePart, of set: UserStore.ChangeSet, to stream: EventStream) async throws {
    var members = [
      ("revision", "\(set.revision)"), ("origin", JSONText.text(set.origin)), ("foreign", "\(set.isForeign)"),
      ("lag_ms", "\(max(0, Time.now &- part.time))"), ("changes", JSONText.array(part.texts)),
    ]
    let isLast = part.next == nil
    if isLast { members.append(("last", "true")) }
    try await stream.send("changes", id: isLast ? set.cursor.description : nil, JSONText.object(members))
  }
}
