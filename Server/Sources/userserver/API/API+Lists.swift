import AsyncAlgorithms
import HTTPTypes
import Hummingbird
import ServiceLifecycle
import UserStore
import UserStoreSync
import UserStoreText

/// `GET /lists`.
extension API {
  func list(_ request: Request) async throws -> Response {
    let parameters = try Parameters(
      request, once: Parameters.once + ["heartbeat", "timeout"], repeated: Parameters.repeated)
    let text = try parameters.query()
    let query = try access.limited(text.query(.parameters))
    let clock = try clock(parameters)
    let searches = try searches.permit(query.where.searchCount, for: access.subject)
    // Its rows are shared by all who ask for the same.
    let (counted, permit) = (lists.rows(of: query), try memory.permit(0, for: access.subject))
    let head = try await store.read { [access] users in
      try access.check(text, in: &users)
      if !counted.areCounted {
        // The rows that the list will keep count before it has them, including those beyond its limit.
        var kept = query
        kept.limit = query.limit.map { 2 * $0 + 16 }
        try users.iterateUsers(matching: kept) { user in
          try permit.grow(by: user.byteCount)
          return true
        }
        counted.count(permit)
      }
      return try users.cursor
    }
    let stream = ListStream(
      api: self, rows: try await store.list(query), counted: counted, searches: searches, head: head, clock: clock)
    return try eventStream(request) { try await stream.run($0) }
  }
}

/// A list as an event stream: its rows, then the steps from each version to the next.
private struct ListStream: Sendable {
  let api: API
  let rows: Listenable<UserStore.Rows>
  let counted: ListMemory.Rows
  let searches: Budget.Permit
  let head: Cursor
  let clock: StreamClock

  private enum Event: Sendable {
    case rows(Result<UserStore.Rows, any Error>)
    case tick
  }

  /// Sends events until the stream ends; returns the reason.
  func run(_ stream: EventStream) async throws -> String {
    try await stream.send("hello", retry: API.retry, api.hello(head, clock))
    let versions = rows.signal.results.map { Event.rows($0) }
    let ticks = AsyncTimerSequence.repeating(every: clock.interval).map { _ in Event.tick }
    var shown: UserStore.Rows?
    let holder = counted.holder()
    for try await event in merge(versions, ticks).cancelOnGracefulShutdown() {
      switch event {
      case .rows(let result):
        // A list that cannot be read keeps its rows, which the client must not mistake for current.
        let rows = try result.get()
        let isFirst = shown == nil || rows.discontinuity != nil
        try holder.receive(rows)
        try await stream.response.inTurn { try await send(rows, after: shown, to: stream) }
        shown = rows
        try holder.keep(rows)
        if isFirst { try await progress(rows, stream) }
      case .tick:
        // As in a feed, there is no heartbeat while the database cannot be read.
        if let shown, (try? await api.store.read { try $0.cursor }) != nil { try await progress(shown, stream) }
      }
      if let reason = clock.isOver { return reason }
    }
    try Task.checkCancellation()
    return api.endReason()
  }

  private func send(_ rows: UserStore.Rows, after shown: UserStore.Rows?, to stream: EventStream) async throws {
    if let reason = rows.discontinuity, shown != nil {
      try await stream.send("reset", JSONText.object([("reason", JSONText.text(reason.rawValue))]))
    } else if let shown {
      let steps = rows.rowChanges(from: shown).steps
      if steps.isEmpty { return }
      return try await send("steps", of: rows, steps.lazy.map(\.json), to: stream)
    }
    try await send("rows", of: rows, rows.lazy.map(\.json), to: stream)
  }

  private func send(
    _ name: String, of rows: UserStore.Rows, _ texts: some Sequence<String>, to stream: EventStream
  ) async throws {
    var parts = Parts()
    for text in texts {
      if let part = parts.add(text) {
        try await stream.send(name, JSONText.object([("revision", revision(rows)), (name, JSONText.array(part))]))
        try await stream.response.flush()
      }
    }
    try await stream.send(
      name,
      JSONText.object([("revision", revision(rows)), (name, JSONText.array(parts.last)), ("last", "true")]))
  }

  /// Sends data that the client can compare with its rows.
  private func progress(_ rows: UserStore.Rows, _ stream: EventStream) async throws {
    var hash: UInt32 = 2_166_136_261
    for (index, user) in rows.enumerated() {
      for byte in ((index > 0 ? "," : "") + "\(user.id)").utf8 { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    }
    let digits = String(hash, radix: 16)
    let text = String(repeating: "0", count: 8 - digits.count) + digits
    try await stream.send(
      "progress",
      JSONText.object([("revision", revision(rows)), ("count", "\(rows.count)"), ("hash", JSONText.text(text))]))
  }

  private func revision(_ rows: UserStore.Rows) -> String { rows.cursor.map { "\($0.revision)" } ?? "null" }
}

extension UserStore.RowChanges.Step {
  fileprivate var json: String {
    let members: [(name: String, json: String)] =
      switch self {
      case .insert(let user, let index): [("op", "\"insert\""), ("at", "\(index)"), ("user", user.json)]
      case .remove(let index): [("op", "\"remove\""), ("at", "\(index)")]
      case .move(let user, let from, let to, _):
        [("op", "\"move\""), ("from", "\(from)"), ("to", "\(to)"), ("user", user.json)]
      case .update(let user, let index, let changed):
        [
          ("op", "\"update\""), ("at", "\(index)"), ("user", user.json),
          ("changed", JSONText.array(changed.map { JSONText.text($0.text) })),
        ]
      }
    return JSONText.object(members)
  }
}
