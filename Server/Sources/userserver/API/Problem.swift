import HTTPTypes
import Hummingbird
import UserStore
import UserStoreText

/// An unsuccessful answer: problem details (RFC 9457) with a code for programs.
struct Problem: Error {
  let status: HTTPResponse.Status
  let code: String
  var detail: String
  var hint: String?
  /// The parameter with the mistake, its text, and the mistake's range in Unicode scalars.
  var parameter: String?
  var text: String?
  var range: Range<Int>?
  /// The time in seconds.
  var retryAfter: Int?
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

  var fields: HTTPFields {
    var fields = headers
    fields[.contentType] = "application/problem+json"
    if let retryAfter { fields[.retryAfter] = "\(retryAfter)" }
    return fields
  }
}

extension Problem {
  init(_ error: TextError) {
    self.init(.badRequest, "badRequest", error.message, hint: error.hint, parameter: error.parameter)
    (text, range) = (error.text, error.range)
  }

  init(_ error: StoreError) {
    switch error.code {
    case .badValue, .badCursor: self.init(.badRequest, error.code.rawValue, error.message)
    case .userNotFound, .revisionNotFound: self.init(.notFound, error.code.rawValue, error.message)
    case .conflict, .notUnique, .diverged, .replaced, .undecodable, .stillReferenced:
      self.init(.conflict, error.code.rawValue, error.message)
    case .compacted: self.init(.gone, error.code.rawValue, error.message)
    case .readOnly, .noPermission, .readOnlyReplica, .wrongSubject:
      self.init(.forbidden, error.code.rawValue, error.message)
    case .diskFull: self.init(.insufficientStorage, error.code.rawValue, error.message)
    case .behind, .busy, .closed, .rolledBackWithGroup, .mustReopen, .moved, .outOfMemory, .cannotOpen, .connectionLost:
      self.init(.serviceUnavailable, error.code.rawValue, error.message, retryAfter: 1)
    case .commitUnknown:
      // Programs would read 503 as permission to repeat the request.
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

/// JSON from parts that are already JSON.
///
/// UserStore's own JSON type is package-internal; its public JSON is that of texts, values, and users, of which a page may
/// contain megabytes. So this joins texts and escapes nothing.
enum JSONText {
  static func text(_ text: String) -> String { RecordText.json(text) }

  static func text(_ text: String?) -> String { text.map { RecordText.json($0) } ?? "null" }

  static func array(_ elements: some Sequence<String>) -> String { "[" + elements.joined(separator: ",") + "]" }

  static func object(_ members: [(name: String, json: String)]) -> String {
    "{" + members.map { text($0.name) + ":" + $0.json }.joined(separator: ",") + "}"
  }
}
