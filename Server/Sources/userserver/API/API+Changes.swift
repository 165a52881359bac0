import HTTPTypes
import Hummingbird
import UserStore
import UserStoreSync

/// `GET /changes`.
extension API {
  static let eventStream = "text/event-stream"

  func changes(_ request: Request) async throws -> Response {
    let parameters = try Parameters(
      request, once: ["after", "last", "user", "heartbeat", "limit", "timeout", "wait"], repeated: ["attribute", "op"])
    let type = try mediaType(request, among: ["application/json", Self.eventStream, "application/jsonl"])
    let filter = try ChangeFilter(parameters, for: access)
    let clock = try clock(parameters)
    let limit = try parameters.integer("limit", in: 1...1_000_000)
    let wait = try parameters.integer("wait", in: 0...25).map { Duration.seconds($0) } ?? .zero
    let (head, start) = try await bounds(request, parameters)
    if type == Self.eventStream {
      let stream = ChangeStream(api: self, start: start, head: head, filter: filter, clock: clock, limit: limit)
      return try eventStream(request) { try await stream.run($0) }
    }
    // A feed would throw the same error only after the response has begun.
    do throws(StoreError) { try await verify(start) } catch {
      var problem = Problem(error)
      problem.members = [("cursor", JSONText.text(head.description))]
      throw problem
    }
    let (starting, begin) = try await filter.starting(at: start, in: ownership)
    let lines = ChangeLines(api: self, start: begin, filter: starting, clock: clock, limit: limit)
    // A page without a wait ends soon.
    let permit = type == "application/json" && wait == .zero ? nil : try streams.permit(1, for: access.subject)
    if type == "application/json" {
      // A part of a page would be no JSON.
      return try streaming(request, type, permit, whenTokenEnds: { _ in throw CancellationError() }) {
        try await lines.runPage(wait: wait, $0)
      }
    }
    var response = try streaming(request, type, permit) { try await lines.runLines($0) }
    // A client whose connection ends before the first line with a cursor continues with this one.
    response.headers[.changeCursor] = begin.description
    return response
  }

  private func verify(_ cursor: Cursor) async throws(StoreError) {
    do { try await store.verify(cursor) } catch { throw error as? StoreError ?? StoreError(.closed, "\(error)") }
  }

  /// The end of the log, and the start of the changes.
  private func bounds(_ request: Request, _ parameters: Parameters) async throws -> (head: Cursor, start: Cursor) {
    let rows = try parameters.integer("last", in: 1...1_000)
    let after = parameters["after"]
    if rows != nil, after != nil { throw Problem.badRequest("last and after cannot be combined", parameter: "last") }
    // After a lost connection, a browser repeats the address and adds the header.
    let last = request.headers[.lastEventID].flatMap { $0.isEmpty ? nil : $0 }
    let given = try last.map { try cursor($0, "Last-Event-ID") } ?? cursor(of: after)
    let (head, start) = try await store.read { users in
      let head = try users.cursor
      if let given { return (head, given) }
      if let rows {
        let first = UserStore.Revision(rawValue: max(0, head.revision.rawValue - Int64(rows)))
        return (head, try users.cursor(at: first) ?? users.oldestCursor)
      }
      return (head, after == "oldest" ? try users.oldestCursor : head)
    }
    if given != nil || rows == nil { return (head, start) }
    return (head, try await ownership.start(from: start, isCounted: true, for: access.rights))
  }

  /// The cursor in `after`; nil for its words.
  private func cursor(of after: String?) throws(Problem) -> Cursor? {
    guard let after, !["now", "oldest"].contains(after) else { return nil }
    return try cursor(after, "after")
  }

  private func cursor(_ text: String, _ parameter: String) throws(Problem) -> Cursor {
    do throws(StoreError) { return try Cursor(text) } catch {
      var problem = Problem(error)
      problem.parameter = parameter
      throw problem
    }
  }
}
