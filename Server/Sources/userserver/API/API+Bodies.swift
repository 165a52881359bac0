import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTPTypes

extension API {
  func json(_ text: String, status: HTTPResponse.Status = .ok, headers: HTTPFields = HTTPFields()) -> Response {
    var headers = headers
    headers[.contentType] = "application/json"
    return whole(text.utf8, status: status, headers: headers)
  }

  func whole(
    _ bytes: some Collection<UInt8> & Sendable, status: HTTPResponse.Status = .ok, headers: HTTPFields
  ) -> Response {
    let body = ResponseBody(contentLength: bytes.count) { [channel] writer in
      // In parts that wait for a slow client: the memory counts until all but the last part are sent.
      let response = ResponseStream(writer, to: channel)
      try await response.write(bytes)
      try await response.finish()
    }
    return Response(status: status, headers: headers, body: body)
  }

  /// The accepted media type that the client prefers; throws if it accepts none.
  func mediaType(_ request: Request, among types: [String]) throws(Problem) -> String {
    let ranges = request.headers[values: .accept].joined(separator: ",").split(separator: ",").map(MediaRange.init)
    if ranges.isEmpty { return types[0] }
    let rated = types.map { type in
      (type: type, quality: ranges.filter { $0.covers(type) }.max { $0.rank < $1.rank }?.quality)
    }
    // The first of several with the same quality.
    if let best = rated.max(by: { $0.quality ?? 0 < $1.quality ?? 0 }), best.quality ?? 0 > 0 { return best.type }
    throw Problem(.notAcceptable, "notAcceptable", "the media types here are: " + types.joined(separator: " "))
  }

  /// Checks a body before it is read, even a superfluous one: without asking, a page of another site can send text, but not JSON.
  func checkBody(_ request: Request) throws(Problem) {
    let type = request.headers[.contentType]?.split(separator: ";").map { $0.trimmed.lowercased() }
    guard request.hasBody || type != nil else { return }
    let expected = request.uri.path == "/sync/push" ? "application/jsonl" : "application/json"
    guard type?.first == expected, type?.dropFirst().allSatisfy({ $0 == "charset=utf-8" }) ?? false else {
      throw Problem(.unsupportedMediaType, "unsupportedMediaType", "a body must be \(expected)")
    }
    let encoding = request.headers[.contentEncoding]?.lowercased() ?? "identity"
    guard encoding == "identity" else {
      var problem = Problem(
        .unsupportedMediaType, "unsupportedMediaType", "a body must not be compressed",
        hint: "send it without Content-Encoding: \(encoding)")
      problem.headers[.acceptEncoding] = "identity"
      throw problem
    }
    if request.bodyLength > Self.bodyLimit { throw Self.tooLarge(Self.bodyLimit) }
  }

  func body(_ request: Request, limit: Int = bodyLimit) async throws -> [UInt8] {
    if request.bodyLength > limit { throw Self.tooLarge(limit) }
    if request.headers[.expect]?.lowercased() == "100-continue" {
      try await channel?.writeAndFlush(HTTPResponsePart.head(HTTPResponse(status: .continue))).get()
    }
    var bytes: [UInt8] = []
    for try await part in request.body {
      if bytes.count + part.readableBytes > limit { throw Self.tooLarge(limit) }
      try bodyPermit?.grow(by: part.readableBytes)
      bytes += part.readableBytesView
    }
    return try Self.text(of: bytes)
  }

  /// Removes a byte order mark, which some programs write before UTF-8.
  private static func text(of bytes: [UInt8]) throws(Problem) -> [UInt8] {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(bytes.dropFirst(3)) }
    if bytes.starts(with: [0x1F, 0x8B]) {
      throw .badRequest("the body is compressed with gzip", hint: "send it uncompressed")
    }
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) {
      throw .badRequest("the body is UTF-16", hint: "JSON is UTF-8 (RFC 8259)")
    }
    return bytes
  }

  private static func tooLarge(_ limit: Int) -> Problem {
    let size = limit < 1 << 20 ? "\(limit >> 10) KiB" : "\(limit >> 20) MiB"
    return Problem(.contentTooLarge, "tooLarge", "the body can have at most \(size)")
  }

  /// A value has up to 16 MiB, and more as JSON.
  private static let bodyLimit = 32 << 20

  func requireWriting() throws(Problem) {
    if settings.isReadOnly { throw Problem(.forbidden, "readOnly", "this server was started with --read-only") }
  }
}

extension Request {
  var hasBody: Bool { bodyLength > 0 || headers[.transferEncoding] != nil }

  fileprivate var bodyLength: Int { headers[.contentLength].flatMap { Int($0) } ?? 0 }
}

/// `text/*;q=0.5` in an Accept header.
private struct MediaRange {
  private let type: String
  let quality: Double

  init(_ text: Substring) {
    let parts = text.split(separator: ";").map { $0.trimmed.lowercased() }
    type = parts.first ?? ""
    quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
  }

  var rank: Int { type == "*/*" ? 0 : type.hasSuffix("/*") ? 1 : 2 }

  func covers(_ other: String) -> Bool {
    type == other || type == "*/*" || (type.hasSuffix("/*") && other.hasPrefix(type.dropLast()))
  }
}
