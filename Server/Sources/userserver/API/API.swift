import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import UserStore
import UserStoreText

/// Answers every request.
struct API: HTTPResponder {
  let store: UserStore
  let guardian: RequestGuard
  let streams: StreamLimit
  let settings: Settings
  /// Called when the database file was replaced, so that only a restart can go on.
  let onReplaced: @Sendable () -> Void
  /// The connection of the request that is being answered.
  private(set) var channel: (any Channel)?

  init(
    store: UserStore, guardian: RequestGuard, streams: StreamLimit, settings: Settings,
    onReplaced: @escaping @Sendable () -> Void
  ) {
    (self.store, self.guardian, self.streams, self.settings) = (store, guardian, streams, settings)
    self.onReplaced = onReplaced
  }

  struct Settings: Sendable {
    let path: String
    let isReadOnly: Bool
    let heartbeat: Duration
    let streamAge: Duration
  }

  /// A resource: who may use it, and what answers each method.
  struct Resource {
    typealias Handler = (Request) async throws -> Response

    var access = RequestGuard.Access.token
    /// The media types of the answers, of which the client must accept one; empty if there is no choice.
    var types = ["application/json"]
    var methods: [(method: HTTPRequest.Method, handler: Handler)]
  }

  func respond(to request: Request, context: Context) async throws -> Response {
    var api = self
    api.channel = context.channel
    var response = try await api.answer(request, context.logger)
    response.headers.addSecurity()
    return response
  }

  struct Context: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
      coreContext = CoreRequestContextStorage(source: source)
      channel = source.channel
    }
  }

  private func answer(_ request: Request, _ logger: Logger) async throws -> Response {
    do {
      let resource = resource(at: request.uri.path)
      try guardian.check(request, for: resource?.access ?? .token)
      guard let resource else { throw Problem(.notFound, "notFound", "there is nothing at this address") }
      let isHead = request.method == .head
      let method = isHead ? .get : request.method
      guard let (_, handler) = resource.methods.first(where: { $0.method == method }) else {
        throw wrongMethod(request.method, resource)
      }
      try checkBody(request)
      if !resource.types.isEmpty { _ = try mediaType(request, among: resource.types) }
      let response = try await handler(request)
      return isHead ? response.createHeadResponse() : response
    } catch {
      return try problem(error, request, logger).response
    }
  }

  private func resource(at path: String) -> Resource? {
    if let file = PageFile.at(path) { return Resource(access: .page, types: [], methods: [(.get, file.response)]) }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
    return switch parts.count {
    case 1: top(parts[0])
    case 2 where parts[0] == "users": user(parts[1])
    case 3 where parts[0] == "changes" && parts[2] == "undo":
      Resource(methods: [(.post, { try await undo(parts[1], $0) })])
    default: nil
    }
  }

  private func top(_ name: String) -> Resource? {
    switch name {
    case "health": Resource(access: .anybody, methods: [(.get, health)])
    case "openapi.json": Resource(access: .anybody, methods: [(.get, openAPI)])
    case "about": Resource(methods: [(.get, about)])
    case "users": Resource(methods: [(.get, users), (.post, add)])
    case "changes": Resource(types: Self.changeTypes, methods: [(.get, changes)])
    case "lists": Resource(types: [Self.eventStream], methods: [(.get, list)])
    case "consumers": Resource(methods: [(.get, consumers)])
    default: nil
    }
  }

  private func user(_ id: String) -> Resource {
    Resource(methods: [
      (.get, { try await user(id, $0) }), (.put, { try await put(id, $0) }), (.patch, { try await patch(id, $0) }),
      (.delete, { try await remove(id, $0) }),
    ])
  }

  private func wrongMethod(_ method: HTTPRequest.Method, _ resource: Resource) -> Problem {
    let allowed = resource.methods.flatMap { $0.method == .get ? ["GET", "HEAD"] : [$0.method.rawValue] }
    var problem = Problem(
      .methodNotAllowed, "methodNotAllowed", "there is no \(method.rawValue) here",
      hint: allowed.joined(separator: ", "))
    problem.headers[.allow] = allowed.joined(separator: ", ")
    return problem
  }

  /// The problem that answers an error; throws the errors that Hummingbird answers.
  private func problem(_ error: any Error, _ request: Request, _ logger: Logger) throws -> Problem {
    switch error {
    case let problem as Problem: return problem
    case let error as TextError: return Problem(error)
    case is ConnectionDeadlines.BodyTooSlow:
      return Problem(.requestTimeout, "timeout", "the body did not arrive in time")
    // The client has left, or sent something that is not HTTP.
    case is HTTPParserError, is CancellationError, is ChannelError: throw error
    case let error as StoreError:
      if [.moved, .replaced].contains(error.code) { onReplaced() }
      let problem = Problem(error)
      if problem.status.kind == .serverError {
        logger.error("\(request.method) \(request.uri.path): \(error.code.rawValue): \(error.message)")
      }
      return problem
    default:
      logger.error("\(request.method) \(request.uri.path): \(error)")
      return Problem(.internalServerError, "unexpected", "the server failed; its log has the reason")
    }
  }
}
