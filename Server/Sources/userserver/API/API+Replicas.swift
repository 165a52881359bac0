import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle
import UserStore
import UserStoreSync

/// `/sync`, `/sync/users`, and `/sync/changes`: what replicas ask for, if the server was started with `--replicas`; `/sync/push`, to which
/// they send what was written there; and `/replicas`, which shows what the server knows of them.
extension API {
  /// One of the resources for replicas; nil if it is none of them.
  func sync(route: String) -> Resource? {
    guard let replicas else { return nil }
    let handler: Resource.Handler = { api in { try await api.sync($0, replicas) } }
    return switch route {
    case "/sync": Resource(route: route, waits: true, methods: [(.get, .read, handler)])
    case "/replicas": Resource(route: route, waits: true, methods: [(.get, .operate, handler)])
    case "/sync/users", "/sync/changes":
      Resource(
        route: route, types: ["application/jsonl"], waits: true,
        methods: [(.get, .read, handler), (.post, .read, handler)])
    case "/sync/push":
      Resource(
        route: route, types: ["application/jsonl"],
        methods: [
          (
            .post, .write,
            { api in
              { request in
                try api.requireWriting()
                return try await api.sync(request, replicas)
              }
            }
          )
        ])
    default: nil
    }
  }

  private func sync(_ request: Request, _ replicas: SyncService) async throws -> Response {
    if request.hasBody, request.method != .post { throw Problem.badRequest("this request cannot have a body") }
    let (question, byteCount) = try await question(request)
    // What is read of it takes more than its bytes.
    if request.uri.path == "/sync/push" { try bodyPermit?.resize(to: 4 * byteCount) }
    // A push waits for the writer, for which feeds must not wait.
    let turns = request.uri.path == "/sync/push" ? pushTurns : turns
    let turn: SyncService.Turn = { read in
      try await turns.take(for: access.subject)
      defer { turns.giveBack(from: access.subject) }
      try access.requireValid()
      let answerCount = try await read()
      // Before the end of the turn.
      try bodyPermit?.resize(to: byteCount + answerCount)
    }
    if !question.waits || request.method == .head {
      return try response(to: request, await replicas.answer(question.withoutWait, for: access.rights, reading: turn))
    }
    // It keeps its connection, as a stream does.
    let permit = try streams.permit(1, for: access.subject)
    defer { withExtendedLifetime(permit) {} }
    // The body was read. Hummingbird ends the process if it does not see the end of a body itself, so it gets another one.
    var request = request
    request.body = RequestBody(buffer: ByteBuffer())
    do {
      // Otherwise it would go on after its client has gone, as in `streaming`.
      let answer = try await request.body.consumeWithCancellationOnInboundClose { _ in
        try await cancelWhenGracefulShutdown {
          try await access.whileValid { try await replicas.answer(question, for: access.rights, reading: turn) }
        }
      }
      var response = try response(to: request, answer)
      response.headers[.connection] = "close"
      return response
    } catch {
      var problem: Problem
      switch error {
      case is CancellationError where Task.isShuttingDownGracefully: problem = .shuttingDown
      default: problem = try self.problem(error, request)
      }
      problem.headers[.connection] = "close"
      throw problem
    }
  }

  /// The request of a replica, and the memory that it takes.
  private func question(_ request: Request) async throws -> (SyncRequest, byteCount: Int) {
    var bytes: [UInt8] = []
    if request.method == .post {
      let isPush = request.uri.path == "/sync/push"
      bytes = try await body(request, limit: isPush ? SyncRequest.pushLimit : SyncRequest.bodyLimit)
      // It would be answered with all users.
      if bytes.isEmpty { throw Problem.badRequest("the body is missing") }
    }
    let replica = request.headers[values: .userstoreReplica]
    if replica.count > 1 { throw Problem.badRequest("a request must have at most one \(SyncRequest.replicaHeader)") }
    let question = try SyncRequest(
      path: request.uri.path, query: request.uri.query ?? "", body: bytes, replica: replica.first)
    return (question, bytes.count)
  }

  private func response(to request: Request, _ answer: SyncAnswer) throws(Problem) -> Response {
    var headers: HTTPFields = [.cacheControl: "no-store"]
    if let tag = answer.etag.map({ ETag($0) }) {
      // A proxy may keep it, but asks with the token of each client whether it may pass it on.
      headers = [.cacheControl: "public, no-cache", .eTag: tag.text]
      if try EntityTags(.ifNoneMatch, of: request)?.contain(tag) ?? false {
        return Response(status: .notModified, headers: headers)
      }
    }
    headers[.contentType] = answer.contentType
    return whole(answer.body, headers: headers)
  }
}

extension HTTPField.Name {
  static let userstoreReplica = Self(SyncRequest.replicaHeader)!
}
