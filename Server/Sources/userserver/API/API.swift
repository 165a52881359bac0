import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import UserStore
import UserStoreSync
import UserStoreText

struct API: HTTPResponder {
  let store: UserStore
  /// Nil without `--replicas`.
  let replicas: SyncService?
  let requestGuard: RequestGuard
  let rate: RequestRate
  let streams: Budget
  let memory: Budget
  let bell: Bell
  let turns = Turns(8, share: 1)
  let pushTurns = Turns(2, share: 1)
  let queries: Queries
  let searches = Budget.searches()
  let ownership: SyncService.OwnershipHistory
  let lists = ListMemory()
  let registry: MetricsRegistry
  let settings: Settings
  let logger: Logger
  /// Called when the database file was replaced, after which only a restart helps.
  let onReplaced: @Sendable () -> Void
  /// The reason of the shutdown, for the last event of a stream.
  let endReason: @Sendable () -> String
  let healthCheck: HealthCheck
  private(set) var channel: (any Channel)?
  /// Who asks, and what they may do.
  private(set) var access = Access.nobody
  /// The memory of the request's bodies, and of the data read for them.
  private(set) var bodyPermit: Budget.Permit?

  struct Settings: Sendable {
    /// The path of the database's file, or its address without the password.
    let database: String
    let isReadOnly: Bool
    let heartbeat: Duration
    let streamAge: Duration
    /// The bytes of JSON that a user can have after a person has written it.
    let userByteLimit: Int
  }

  struct Resource: Sendable {
    typealias Handler = @Sendable (API) -> @Sendable (Request) async throws -> Response

    /// The address without what clients choose in it, for metrics.
    let route: String
    var entry = RequestGuard.Entry.token
    /// The media types of the answers, one of which the client must accept; empty if any will do, or the handler chooses.
    var types = ["application/json"]
    /// Whether the handler of GET waits for changes, and takes turns itself.
    var waits = false
    /// The user that the address names, whose owner is looked up.
    var user: User.ID?
    /// What a request needs, and what answers it.
    var methods: [(method: HTTPRequest.Method, need: Access.Need, handler: Handler)]

    /// Whether a request writes.
    func isWritten(by method: HTTPRequest.Method) -> Bool {
      methods.contains { $0.method == method && [.write, .add].contains($0.need) }
    }
  }

  func respond(to request: Request, context: Context) async throws -> Response {
    var api = self
    api.channel = context.channel
    api.bodyPermit = try memory.permit(0, for: "")
    let (resource, start) = (api.resource(at: request.uri.path), ContinuousClock.now)
    var status = "none"
    // Also if the client has gone before its answer.
    defer { Measured.request(resource?.route ?? "other", request.method, status, .now - start) }
    var response = try await api.answer(request, resource)
    status = "\(response.status.code / 100)xx"
    // Includes problems: a client would read a body after the answer to HEAD as the next answer.
    if request.method == .head {
      response = response.createHeadResponse()
      // Only a stream uses up its connection.
      response.headers[.connection] = nil
    }
    response.body = response.body.keeping(api.bodyPermit)
    response.headers.addSecurity()
    requestGuard.addSharing(with: request, to: &response.headers)
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

  /// The same with the rights that the client has in a transaction: while a body arrives slowly, users may be handed over.
  ///
  /// They are those about one user; without one, about all.
  func resolved<Mode>(in users: inout UserStore.Transaction<Mode>, about user: User.ID? = nil) throws -> API {
    var api = self
    api.access = try user.map { try access.resolved(in: &users, about: $0) } ?? access.resolved(in: &users)
    return api
  }

  /// The same with the rights about one user.
  func resolved(about user: User.ID) async throws -> API {
    var api = self
    api.access = try await access.resolved(in: store, about: user)
    return api
  }

  private mutating func answer(_ request: Request, _ resource: Resource?) async throws -> Response {
    do {
      if let preflight = try requestGuard.preflight(request) { return preflight }
      do throws(Problem) { access = try await requestGuard.admit(request, for: resource?.entry ?? .token) } catch {
        // One that is known; without the token, nobody can add one.
        if request.uri.path.hasPrefix("/sync") { replicas?.noteRefusal(of: request.headers[.userstoreReplica]) }
        throw error
      }
      try rate.count(access.subject)
      access.userByteLimit = settings.userByteLimit
      bodyPermit = try memory.permit(0, for: access.subject)
      guard let resource else { throw Problem(.notFound, "notFound", "there is nothing at this address") }
      let method = request.method == .head ? .get : request.method
      guard let (_, need, handler) = resource.methods.first(where: { $0.method == method }) else {
        throw wrongMethod(request.method, resource)
      }
      try access.require(need)
      let answer: @Sendable () async throws -> Response = { [self] in
        try access.requireValid()
        let api = if let user = resource.user { try await resolved(about: user) } else { self }
        try api.checkBody(request)
        if !resource.types.isEmpty { _ = try mediaType(request, among: resource.types) }
        return try await handler(api)(request)
      }
      if method != .get { return try counted(await answer(), isRequired: true) }
      if resource.waits { return try counted(await answer(), isRequired: false) }
      return try counted(await queries.run(of: access.subject, for: channel, answer), isRequired: false)
    } catch {
      let problem = try problem(error, request)
      if resource?.isWritten(by: request.method) ?? false { Measured.refusal(problem.code) }
      return try counted(problem.response, isRequired: true)
    }
  }

  /// Counts the response's body from now on, in place of the data received and read for it.
  ///
  /// The answer to a write that was made, and to a mistake, is never refused.
  private func counted(_ response: Response, isRequired: Bool) throws(Problem) -> Response {
    try bodyPermit?.resize(to: response.body.contentLength ?? 0, isRequired: isRequired)
    return response
  }

  private func resource(at path: String) -> Resource? {
    if let file = PageFile.at(path) {
      return Resource(
        route: "page", entry: .page, types: [], methods: [(.get, .nothing, { _ in file.response })])
    }
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
    return switch parts.count {
    case 1: top(parts[0])
    case 2 where parts[0] == "users": user(parts[1])
    case 2 where parts[0] == "sync": sync(route: path)
    case 3 where parts[0] == "changes" && parts[2] == "undo":
      Resource(
        route: "/changes/{revision}/undo", methods: [(.post, .write, { api in { try await api.undo(parts[1], $0) } })])
    default: nil
    }
  }

  private func top(_ name: String) -> Resource? {
    switch name {
    case "health": Resource(route: "/health", entry: .anybody, methods: [(.get, .nothing, API.health)])
    case "openapi.json": Resource(route: "/openapi.json", entry: .anybody, methods: [(.get, .nothing, API.openAPI)])
    case "about": Resource(route: "/about", methods: [(.get, .read, API.about)])
    case "users": Resource(route: "/users", methods: [(.get, .read, API.users), (.post, .add, API.add)])
    case "events": Resource(route: "/events", methods: [(.post, .write, API.post)])
    case "changes": Resource(route: "/changes", types: [], methods: [(.get, .read, API.changes)])
    case "lists": Resource(route: "/lists", types: [Self.eventStream], methods: [(.get, .read, API.list)])
    case "sync", "replicas": sync(route: "/" + name)
    case "consumers": Resource(route: "/consumers", methods: [(.get, .operate, API.consumers)])
    case "metrics": Resource(route: "/metrics", types: ["text/plain"], methods: [(.get, .operate, API.metrics)])
    default: nil
    }
  }

  private func user(_ id: String) -> Resource {
    Resource(
      route: "/users/{id}", user: Int64(canonical: id).map { User.ID($0) },
      methods: [
        (.get, .read, { api in { try await api.user(id, $0) } }),
        (.put, .write, { api in { try await api.put(id, $0) } }),
        (.patch, .write, { api in { try await api.patch(id, $0) } }),
        (.delete, .write, { api in { try await api.remove(id, $0) } }),
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

  /// Logs an error of the server, and ends the server if the database was replaced.
  func logFailure(_ error: StoreError, _ request: Request) {
    if [.moved, .replaced].contains(error.code) { onReplaced() }
    if Problem(error).status.kind == .serverError {
      log(request, "\(error.code.rawValue): \(error.message)")
    }
  }

  private func log(_ request: Request, _ message: String) {
    let line = "\(request.method) \(request.uri.path): \(message)"
    logger.error("\(line.shown)")
  }

  /// The problem that answers an error; throws the errors that Hummingbird answers.
  func problem(_ error: any Error, _ request: Request) throws -> Problem {
    switch error {
    case let problem as Problem: return problem
    case let error as TextError: return Problem(error)
    case is Access.Ended: return RequestGuard.refused("the token has expired, or its key was withdrawn")
    case is ConnectionDeadlines.BodyTooSlow:
      return Problem(.requestTimeout, "timeout", "the body did not arrive in time")
    // The client has disconnected, or has sent something other than HTTP.
    case is HTTPParserError, is CancellationError, is ChannelError, is IOError: throw error
    case let error as StoreError:
      logFailure(error, request)
      var problem = Problem(error)
      if [.notUnique, .stillReferenced].contains(error.code) { problem.detail = access.rights.message(of: error) }
      return problem
    default:
      log(request, "\(error)")
      return Problem(.internalServerError, "unexpected", "the server failed; its log has the reason")
    }
  }
}
