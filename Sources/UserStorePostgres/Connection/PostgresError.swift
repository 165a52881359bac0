import CUserStoreLibPQ

/// A failure of a connection or of a statement.
///
/// `description` is “cannot PURPOSE: …”. It never contains the values of parameters or rows, or a password.
struct PostgresError: Error, CustomStringConvertible {
  enum Kind: Hashable, Sendable {
    /// The server refused a statement. The connection remains usable, after a rollback if a transaction was open.
    case server(SQLState)
    /// No connection was made.
    case cannotConnect
    /// The server has committed without waiting for a synchronous standby. The connection remains usable.
    case unreplicated
    /// The connection broke and is closed; the server rolls back its open transaction.
    case connectionLost
    /// The server did not answer in time. The connection is closed.
    case timeout
    /// `PostgresInterrupter.interrupt` was called. The connection is closed.
    case interrupted
    /// A value cannot be stored, such as text with U+0000. Nothing was sent.
    case badValue
    /// An unexpected row, reply of the server, or use of the connection.
    case unexpected
  }

  let kind: Kind
  let purpose: String
  /// The primary message of a server's error.
  let message: String
  /// The server's further explanation; not a part of `description`, because it can contain values of rows.
  var detail: String?
  var hint: String?
  /// The name of the violated constraint.
  var constraint: String?
  /// The position of the failed statement in its batch, counted from 0.
  var statementIndex: Int?
  /// Whether the batch may have been committed although no reply confirmed it.
  ///
  /// That is possible only if the connection ended after the batch was sent, and the batch has a COMMIT or was outside of a
  /// transaction.
  var isOutcomeUnknown = false

  /// The server's code for refusing the connection; nil if the server did not refuse it.
  private(set) var refusal: SQLState?

  /// Whether a primary was needed and the last server that was tried is a replica.
  var isReplica = false

  init(_ kind: Kind, _ message: String, purpose: String) {
    self.kind = kind
    self.message = message
    self.purpose = purpose
  }

  var description: String { withoutHint + (hint.map { " (\($0))" } ?? "") }

  var withoutHint: String {
    let reason = kind == .unreplicated ? message : "cannot \(purpose): \(message)"
    if case .server(let state) = kind { return "\(reason) [SQLSTATE \(state.rawValue)]" }
    return reason
  }

  /// The server's code; nil if the server did not refuse a statement.
  var sqlState: SQLState? { if case .server(let state) = kind { state } else { nil } }

  /// Whether a row would violate a foreign key, or any constraint.
  var violatesKey: Bool { sqlState == .foreignKeyViolation }
  var violatesConstraint: Bool { sqlState?.rawValue.hasPrefix("23") ?? false }

  /// Whether the connection ended while in use, so that its owner needs a new one.
  var isConnectionLost: Bool { kind == .connectionLost || kind == .timeout || kind == .interrupted }

  /// Whether a prepared statement no longer fits the schema, or the server has forgotten it; its next use prepares it again.
  var isStalePlan = false
}

/// The code of a server's error, five letters and digits (appendix A of PostgreSQL's documentation).
struct SQLState: RawRepresentable, Hashable, Sendable {
  let rawValue: String

  static let tooManyConnections = SQLState(rawValue: "53300")
  /// `lock_timeout`, or NOWAIT.
  static let lockNotAvailable = SQLState(rawValue: "55P03")
  static let insufficientPrivilege = SQLState(rawValue: "42501")
  static let featureNotSupported = SQLState(rawValue: "0A000")
  /// A write or LISTEN on a replica or in a read-only session.
  static let readOnlyTransaction = SQLState(rawValue: "25006")
  static let undefinedFunction = SQLState(rawValue: "42883")
  static let inFailedTransaction = SQLState(rawValue: "25P02")
  static let unknownStatement = SQLState(rawValue: "26000")
  static let foreignKeyViolation = SQLState(rawValue: "23503")

  /// Whether the class is “data exception”: then the message can quote a value.
  var isDataException: Bool { rawValue.hasPrefix("22") }
}

extension PostgresError {
  init(unreplicated purpose: String) {
    self.init(
      .unreplicated,
      "the server has committed, but its wait for a synchronous standby was ended: the standby may not have the write",
      purpose: purpose)
    hint = "do not write it again; it is lost only if the standby takes over before it has received it"
  }

  /// Creates the error of a refused connection from libpq's verbose message.
  init(refusal message: String, purpose: String) {
    let lines = message.split(whereSeparator: \.isNewline).filter { !Self.isLocation($0) }
    let parts = lines.map { Self.splitCode($0) }
    self.init(.cannotConnect, parts.map(\.text).joined(separator: "\n").singleLine, purpose: purpose)
    // The last of several servers decides.
    refusal = parts.compactMap(\.code).last
  }

  /// Whether a line names the place in the server's source: `LOCATION:  ClientAuthentication, auth.c:536`.
  private static func isLocation(_ line: Substring) -> Bool {
    let parts = line.split(separator: ":")
    return parts.count > 1 && parts[parts.count - 2].hasSuffix(".c") && parts[parts.count - 1].allSatisfy(\.isNumber)
  }

  /// Extracts the code from `FATAL:  28000: the message`; the server may translate the first word.
  private static func splitCode(_ line: Substring) -> (text: String, code: SQLState?) {
    for colon in line.indices where line[colon...].hasPrefix(":  ") {
      let rest = line[line.index(colon, offsetBy: 3)...]
      let code = rest.prefix(5)
      if code.count == 5, code.utf8.allSatisfy(isOfCode), rest.dropFirst(5).hasPrefix(": ") {
        return ("\(line[...colon]) \(rest.dropFirst(7))", SQLState(rawValue: String(code)))
      }
    }
    return (String(line), nil)
  }

  private static func isOfCode(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
  }

  @safe init(_ result: OpaquePointer, purpose: String, statementIndex: Int?) {
    func field(_ code: Int) -> String? {
      unsafe PQresultErrorField(result, Int32(code)).map { unsafe String(cString: $0) }
    }
    let state = SQLState(rawValue: field(USERSTORE_PQ_SQLSTATE) ?? "")
    let message = field(USERSTORE_PQ_MESSAGE) ?? "the server gave no reason"
    self.init(.server(state), state.isDataException ? Self.withoutQuotes(message) : message, purpose: purpose)
    detail = field(USERSTORE_PQ_DETAIL)
    hint = field(USERSTORE_PQ_HINT)
    constraint = field(USERSTORE_PQ_CONSTRAINT)
    self.statementIndex = statementIndex
    // 0A000 stands for every unsupported feature. The server may translate the message (“cached plan must not change result
    // type”), but not the name of the function.
    isStalePlan =
      state == .unknownStatement
      || state == .featureNotSupported && field(USERSTORE_PQ_FUNCTION) == "RevalidateCachedQuery"
  }

  /// Replaces everything from the first quotation mark to the last by “…”.
  static func withoutQuotes(_ message: String) -> String {
    guard let first = message.firstIndex(of: "\""), let last = message.lastIndex(of: "\""), first < last else {
      return message
    }
    return message[...first] + "…" + message[last...]
  }
}
