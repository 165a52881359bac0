import HTTPTypes
import Hummingbird
import Synchronization

/// Refuses requests of other web sites, and finds out who asks.
///
/// A page of another site can make a browser send requests to this server, even under a name of its own that it has rebound to
/// this machine (CVE-2025-66414, CVE-2024-28224). So the names are compared exactly, for every method and path.
final class RequestGuard: Sendable {
  private let token: Token?
  /// The keys of the tokens of persons; nil without `--access-key`.
  private let keys: AccessKeys?
  private let allowedOrigins: Set<String>
  /// The names under which clients reach the server, with their ports; known once it listens.
  private let names = Mutex<Set<String>>([])
  private let lastReport = Mutex<ContinuousClock.Instant?>(nil)

  init(token: Token?, keys: AccessKeys?, allowedOrigins: some Sequence<String>) {
    (self.token, self.keys) = (token, keys)
    self.allowedOrigins = Set(allowedOrigins.map { $0.lowercased() })
  }

  func setNames(_ names: some Sequence<String>) {
    self.names.withLock { $0 = Set(names.map { $0.lowercased() }) }
  }

  enum Entry {
    /// A file of the page; links of other sites may lead to it.
    case page
    case anybody
    case token
  }

  /// Lets a request in, and says what it may do.
  func admit(_ request: Request, for entry: Entry) async throws(Problem) -> Access {
    try check(request, isPage: entry == .page)
    return entry == .token ? try await access(of: request) : .nobody
  }

  private func check(_ request: Request, isPage: Bool = false) throws(Problem) {
    try checkHost(request)
    try checkOrigin(request, isPage: isPage)
  }

  private func checkHost(_ request: Request) throws(Problem) {
    // The first Host becomes the authority.
    guard let host = request.head.authority, request.headers[values: .host].isEmpty else {
      throw .badRequest("a request must have exactly one Host, and no other host in its target")
    }
    if names.withLock({ $0.contains(host.lowercased()) }) { return }
    throw Problem(
      .misdirectedRequest, "wrongHost", "this server is not \(host)",
      hint: "start it with --host \(host) if it is to be reached by this name")
  }

  private func checkOrigin(_ request: Request, isPage: Bool) throws(Problem) {
    let origins = request.headers[values: .origin]
    if origins.count > 1 { throw .badRequest("a request must have at most one Origin") }
    if let origin = origins.first {
      if isOwn(origin) || allows(origin) { return }
    } else {
      let site = request.headers[.secFetchSite]
      if site == nil || ["same-origin", "none"].contains(site) { return }
      let isLink = request.headers[.secFetchMode] == "navigate"
      if isPage, isLink, [.get, .head].contains(request.method) { return }
    }
    throw Problem(
      .forbidden, "forbidden", "requests of other web sites are refused",
      hint: "the option --allow-origin lets the pages of a site in")
  }

  private func allows(_ origin: String) -> Bool { allowedOrigins.contains(origin.lowercased()) }

  private func isOwn(_ origin: String) -> Bool {
    let parts = origin.lowercased().split(separator: "://", maxSplits: 1).map(String.init)
    guard parts.count == 2, ["http", "https"].contains(parts[0]) else { return false }
    return names.withLock { $0.contains(parts[1]) }
  }

  // MARK: Pages of allowed sites

  /// The answer to a browser's question whether a page of an allowed site may send a request; nil for other requests.
  ///
  /// The request itself needs the token, which a browser, unlike a cookie, never sends on its own.
  func preflight(_ request: Request) throws(Problem) -> Response? {
    guard request.method == .options, request.headers[.accessControlRequestMethod] != nil,
      let origin = request.headers[.origin], allows(origin)
    else { return nil }
    try check(request)
    return Response(
      status: .noContent,
      headers: [
        .accessControlAllowMethods: "GET, HEAD, POST, PUT, PATCH, DELETE",
        .accessControlAllowHeaders:
          "Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, Last-Event-ID, Change-Origin",
        .accessControlMaxAge: "600",
      ])
  }

  /// Adds the headers that allow a page of an allowed site to read the answer, even an error.
  func addSharing(with request: Request, to headers: inout HTTPFields) {
    if allowedOrigins.isEmpty { return }
    headers[.vary] = "Origin"
    guard let origin = request.headers[.origin], allows(origin) else { return }
    headers[.accessControlAllowOrigin] = origin
    headers[.accessControlExposeHeaders] = "ETag, Location, Retry-After"
  }

  private func access(of request: Request) async throws(Problem) -> Access {
    if token == nil, keys == nil { return .everything }
    let fields = request.headers[values: .authorization]
    let words = (fields.first ?? "").split(separator: " ")
    guard fields.count == 1, words.count == 2, words[0].lowercased() == "bearer" else {
      throw Self.refused(fields.isEmpty ? "the token is missing" : "the token is wrong")
    }
    if let token, token.matches(words[1]) { return .everything }
    guard let keys else { throw Self.refused("the token is wrong") }
    do throws(AccessKeys.Refused) { return Access(try await keys.verify(String(words[1])), keys) } catch {
      // The reason in full would help to forge one.
      report(error)
      throw Self.refused(error.reason.rawValue)
    }
  }

  /// Writes the reason to the log, at most once a second: nobody needs a token to be refused.
  private func report(_ error: AccessKeys.Refused) {
    let isDue = lastReport.withLock { last in
      if let last, last + .seconds(1) > .now { return false }
      last = .now
      return true
    }
    if isDue { StandardError.write("userserver: a token was refused: \(error.detail)") }
  }

  static func refused(_ detail: String) -> Problem {
    var problem = Problem(
      .unauthorized, "badToken", detail, hint: "userserver prints the address with the token when it starts")
    problem.headers[.wwwAuthenticate] = "Bearer"
    return problem
  }
}

extension HTTPField.Name {
  static let host = Self("Host")!
  static let secFetchSite = Self("Sec-Fetch-Site")!
  static let secFetchMode = Self("Sec-Fetch-Mode")!
  static let lastEventID = Self("Last-Event-ID")!
  static let changeOrigin = Self("Change-Origin")!
  static let changeCursor = Self("Change-Cursor")!
  static let accelBuffering = Self("X-Accel-Buffering")!
  static let contentTypeOptions = Self("X-Content-Type-Options")!
  static let referrerPolicy = Self("Referrer-Policy")!
  static let crossOriginResourcePolicy = Self("Cross-Origin-Resource-Policy")!
  static let crossOriginOpenerPolicy = Self("Cross-Origin-Opener-Policy")!
}

extension HTTPFields {
  mutating func addSecurity() {
    // The digest of the script in index.html.
    self[.contentSecurityPolicy] = """
      default-src 'none'; script-src 'self' 'sha256-iHCTBhPuyPkHqe5r3XzPRe6OuybI9WCoJVsOH9lM/fI='; worker-src 'self'; \
      style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'
      """
    self[.contentTypeOptions] = "nosniff"
    self[.referrerPolicy] = "no-referrer"
    self[.crossOriginResourcePolicy] = "same-origin"
    self[.crossOriginOpenerPolicy] = "same-origin"
    if !contains(.cacheControl) {
      // A proxy must neither keep data, which would outlive a purge, nor buffer a stream to compress it.
      self[.cacheControl] = "no-store, no-transform"
      self[.accelBuffering] = "no"
    }
  }
}
