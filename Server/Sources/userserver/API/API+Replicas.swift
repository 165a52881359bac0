import AsyncAlgorithms
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle
import UserStore
import UserStoreSync

/// `/sync`, `/sync/users`, and `/sync/changes`: what replicas ask for, if the server was started with `--replicas`.
extension API {
  /// The resource `/sync`, or one below it; nil if there is none.
  func sync(_ name: String? = nil) -> Resource? {
    guard let replicas else { return nil }
    let handler: Resource.Handler = { try await sync($0, replicas) }
    return switch name {
    case nil: Resource(methods: [(.get, handler)])
    case "users", "changes": Resource(types: ["application/jsonl"], methods: [(.get, handler), (.post, handler)])
    default: nil
    }
  }

  private func sync(_ request: Request, _ replicas: SyncService) async throws -> Response {
    if request.hasBody, request.method != .post { throw Problem.badRequest("this request cannot have a body") }
    let wait = SyncQuestion.wait(in: request.uri.query)
    let question = try await question(request)
    if wait == 0 || request.method == .head {
      let found = try await read(question, replicas)
      return try response(to: request, question.answer(found))
    }
    // It keeps its connection, as a stream does.
    let permit = try streams.permit(1)
    defer { withExtendedLifetime(permit) {} }
    // The body was read. Hummingbird ends the process if it does not see the end of a body itself, so it gets another one.
    var request = request
    request.body = RequestBody(buffer: ByteBuffer())
    do {
      // Otherwise it would go on after its client has gone, as in `streaming`.
      let answer = try await request.body.consumeWithCancellationOnInboundClose { _ in
        try await waiting(.seconds(wait), question, replicas)
      }
      var response = try response(to: request, answer)
      response.headers[.connection] = "close"
      return response
    } catch {
      var problem = try problem(error, request)
      problem.headers[.connection] = "close"
      throw problem
    }
  }

  private func question(_ request: Request) async throws -> SyncQuestion {
    var bytes: [UInt8] = []
    if request.method == .post {
      bytes = try await body(request, limit: SyncRequest.bodyLimit)
      // It would be answered with all users.
      if bytes.isEmpty { throw Problem.badRequest("the body with the ids of the users is missing") }
    }
    return try SyncQuestion(path: request.uri.path, query: request.uri.query ?? "", body: bytes)
  }

  /// Reads and renders during a turn, at whose end the answer counts.
  private func read(_ question: SyncQuestion, _ replicas: SyncService) async throws -> SyncAnswer {
    try await turns.take()
    defer { turns.giveBack() }
    let answer = try await replicas.answer(question.request)
    try bodyPermit?.resize(to: question.byteCount + answer.body.count)
    return answer
  }

  /// Answers as soon as there is something to send, or when the time is over.
  ///
  /// `SyncService` can wait too, but would need the turn meanwhile: without one, all replicas that wait would read the next set at
  /// the same time.
  private func waiting(
    _ time: Duration, _ question: SyncQuestion, _ replicas: SyncService
  ) async throws -> SyncQuestion.Answer {
    var question = question
    let ends = AsyncTimerSequence.repeating(every: time).map { _ in true }
    for try await isOver in merge(bell.rings().map { false }, ends).cancelOnGracefulShutdown() {
      let found = try await read(question, replicas)
      guard !isOver, let rest = try question.rest(after: found) else { return question.answer(found) }
      question = rest
    }
    if Task.isShuttingDownGracefully { throw Problem.shuttingDown }
    throw CancellationError()
  }

  private func response(to request: Request, _ answer: SyncQuestion.Answer) throws(Problem) -> Response {
    var headers: HTTPFields = [.cacheControl: "no-store"]
    if let tag = answer.tag {
      // A proxy may keep it, but asks with the token of each client whether it may pass it on.
      headers = [.cacheControl: "public, no-cache", .eTag: tag.text]
      if try EntityTags(.ifNoneMatch, of: request)?.contain(tag) ?? false {
        return Response(status: .notModified, headers: headers)
      }
    }
    headers[.contentType] = answer.type
    return whole(answer.body, headers: headers)
  }
}

/// What a replica asks for, and how far the log has been read while it waits.
private struct SyncQuestion {
  struct Answer: Sendable {
    let type: String
    let tag: ETag?
    let body: [UInt8]
  }

  /// Asks for what comes after all that was read, without waiting.
  let request: SyncRequest
  /// The memory of the request.
  let byteCount: Int
  /// The first line of the answer, which repeats what the replica asked for, if `request` asks for something else by now.
  private var firstLine: ArraySlice<UInt8>?

  /// The seconds for which a query waits.
  static func wait(in query: String?) -> Int {
    let parameters = (query ?? "").split(separator: "&")
    // A replica that has two cursors verified wants to know at once.
    if parameters.contains(where: { $0.hasPrefix("also=") }) { return 0 }
    return parameters.first { $0.hasPrefix("wait=") }.flatMap { Int($0.dropFirst(5)) } ?? 0
  }

  init(path: String, query: String, body: [UInt8]) throws(StoreError) {
    let asked = try SyncRequest(path: path, query: query, body: body)
    let others = asked.query.split(separator: "&").filter { !$0.hasPrefix("wait=") }
    request = try SyncRequest(path: path, query: others.joined(separator: "&"), body: body)
    byteCount = body.count
  }

  private init(_ request: SyncRequest, _ byteCount: Int, firstLine: ArraySlice<UInt8>) {
    (self.request, self.byteCount, self.firstLine) = (request, byteCount, firstLine)
  }

  private struct End: Decodable {
    let cursor: String
    let more: Bool
  }

  /// The question after an answer without sets; nil if the answer has something to send, or there is more to read.
  func rest(after answer: SyncAnswer) throws -> SyncQuestion? {
    let lines = answer.body.split(separator: UInt8(ascii: "\n"), maxSplits: 2)
    guard lines.count == 2 else { return nil }
    let end = try JSONDecoder().decode(End.self, from: Data(lines[1]))
    if end.more { return nil }
    let next = try SyncRequest(path: request.path, query: "after=" + end.cursor, body: request.body ?? [])
    return SyncQuestion(next, byteCount, firstLine: firstLine ?? lines[0])
  }

  func answer(_ found: SyncAnswer) -> Answer {
    guard let firstLine, let end = found.body.firstIndex(of: UInt8(ascii: "\n")) else {
      return Answer(type: found.contentType, tag: found.etag.map { ETag($0) }, body: found.body)
    }
    return Answer(type: found.contentType, tag: nil, body: Array(firstLine) + found.body[end...])
  }
}
