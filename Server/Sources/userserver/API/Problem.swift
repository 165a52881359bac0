import HTTPTypes
import Hummingbird
import UserStore
import UserStoreText

/// An answer other than success: problem details (RFC 9457) with a code for programs.
struct Problem: Error {
  let status: HTTPResponse.Status
  let code: String
  var detail: String
  var hint: String?
  /// The parameter with the mistake, the text of it, and where the mistake is, in Unicode scalars.
  var parameter: String?
  var text: String?
  var range: Range<Int>?
  /// In seconds.
  var retryAfter: Int?
  /// Further members, whose values are JSON.
  var members: [(name: String, json: String)] = []
  var headers = HTTPFields()

  init(
    _ status: HTTPResponse.Status, _ code: String, _ detail: String, hint: String? = nil, parameter: String? = nil,
    retryAfter: Int? = nil
  ) {
    (self.status, self.code, self.detail, self.hint) = (status, code, detail, hint)
    (self.parameter, self.retryAfter) = (parameter, retryAfter)
  }

  static func badRequest(_ detail: String, parameter: String? = nil, hint: String? = nil) -> Problem {
    Problem(.badRequest, "badRequest", detail, hint: hint, parameter: parameter)
  }

  static let shuttingDown = Problem(
    .serviceUnavailable, "shuttingDown", "the server is shutting down", retryAfter: 1)

  /// The problem as a JSON object.
  var json: String {
    var members = [
      ("type", JSONText.text("about:blank")), ("title", JSONText.text(status.reasonPhrase)),
      ("status", "\(status.code)"), ("detail", JSONText.text(detail)), ("code", JSONText.text(code)),
    ]
    if let hint { members.append(("hint", JSONText.text(hint))) }
    if let parameter { members.append(("parameter", JSONText.text(parameter))) }
    if let text { members.append(("text", JSONText.text(text))) }
    if let range { members += [("start", "\(range.lowerBound)"), ("length", "\(range.count)")] }
    members += self.members
    return JSONText.object(members)
  }

  var response: Response {
    Response(status: status, headers: fields, body: ResponseBody(byteBuffer: ByteBuffer(string: json)))
  }

  /// The headers of the response.
  var fields: HTTPFields {
    var fields = headers
    fields[.contentType] = "application/problem+json"
    if let retryAfter { fields[.retryAfter] = "\(retryAfter)" }
    return fields
  }
}

extension Problem {
  /// The problem of a text that a person wrote.
  init(_ error: TextError) {
    self.init(.badRequest, "badRequest", error.message, hint: error.hint, parameter: error.parameter)
    (text, range) = (error.text, error.range)
  }

  init(_ error: StoreError) {
    switch error.code {
    case .badValue, .badCursor: self.init(.badRequest, error.code.rawValue, error.message)
    case .userNotFound, .revisionNotFound: self.init(.notFound, error.code.rawValue, error.message)
    case .conflict, .diverged, .replaced, .undecodable: self.init(.conflict, error.code.rawValue, error.message)
    case .compacted: self.init(.gone, error.code.rawValue, error.message)
    case .readOnly, .noPermission: self.init(.forbidden, error.code.rawValue, error.message)
    case .diskFull: self.init(.insufficientStorage, error.code.rawValue, error.message)
    case .behind, .busy, .closed, .rolledBackWithGroup, .mustReopen, .moved, .outOfMemory, .cannotOpen, .connectionLost:
      self.init(.serviceUnavailable, error.code.rawValue, error.message, retryAfter: 1)
    case .commitUnknown:
      // Not 503, which programs take for permission to repeat the request.
      self.init(
        .internalServerError, error.code.rawValue, error.message,
        hint: "read the user again: the change may or may not have been written")
    default: self.init(.internalServerError, error.code.rawValue, error.message)
    }
    hint = error.hint ?? hint
  }
}

extension HTTPResponse.Status {
  fileprivate static var insufficientStorage: Self { .init(code: 507, reasonPhrase: "Insufficient Storage") }
}

/// Texts of JSON, put together from parts that are JSON already.
///
/// UserStore's own JSON is only visible in its package: what it offers to others is the JSON of texts, values, and users, of which a
/// page may have megabytes. So this joins texts, and escapes nothing.
enum JSONText {
  static func text(_ text: String) -> String { RecordText.json(text) }

  static func text(_ text: String?) -> String { text.map { RecordText.json($0) } ?? "null" }

  static func array(_ elements: some Sequence<String>) -> String { "[" + elements.joined(separator: ",") + "]" }

  static func object(_ members: [(name: String, json: String)]) -> String {
    "{" + members.map { text($0.name) + ":" + $0.json }.joined(separator: ",") + "}"
  }
}
