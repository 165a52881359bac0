import CUserStoreLibPQ

/// A failure of a connection or of a statement.
///
/// `description` is “cannot PURPOSE: …”. It never contains the values of parameters or rows, nor a password.
struct PostgresError: Error, CustomStringConvertible {
  enum Kind: Hashable, Sendable {
    /// The server refused a statement. The connection remains usable, after a rollback if a transaction was open.
    case server(SQLState)
    /// No connection was made.
    case cannotConnect
    /// The server has committed, but did not wait for a synchronous standby to receive the commit. The connection
    /// remains usable.
    case unreplicated
    /// The connection broke. It is closed; the server rolls back its open transaction.
    case connectionLost
    /// The server did not answer in time. The connection is closed.
    case timeout
    /// `PostgresInterrupter.interrupt` was called. The connection is closed.
    case interrupted
    /// A value cannot be stored, such as text with U+0000. Nothing was sent.
    case badValue
    /// A row, a reply of the server, or the use of the connection is not as expected.
    case unexpected
  }

  let kind: Kind
  let purpose: String
  /// For a server's error, its primary message.
  let message: String
  /// The server's further explanation.
  ///
  /// It can contain values of rows, so it is not part of `description`.
  var detail: String?
  var hint: String?
  /// The name of the violated constraint.
  var constraint: String?
  /// The position of the failed statement in its batch, counted from 0.
  var statementIndex: Int?
  /// Whether the batch was sent and may have been committed, although no reply confirmed it.
  ///
  /// That is possible only if the connection ended after the batch was sent, and the batch has a COMMIT or was sent outside of
  /// a transaction.
  var isOutcomeUnknown = false

  /// The server's code for refusing the connection; nil if the server did not refuse it.
  private(set) var refusal: SQLState?

  /// Whether the last server that was tried is a replica, and a primary was needed.
  var isReplica = false

  init(_ kind: Kind, _ message: String, purpose: String) {
    self.kind = kind
    self.message = message
    self.purpose = purpose
  }

  var description: String { withoutHint + (hint.map { " (\($0))" } ?? "") }

  /// The description without the hint.
  var withoutHint: String {
    let reason = kind == .unreplicated ? message : "cannot \(purpose): \(message)"
    if case .server(let state) = kind { return "\(reason) [SQLSTATE \(state.rawValue)]" }
    return reason
  }

  /// The server's code; nil if the server did not refuse a statement.
  var sqlState: SQLState? { if case .server(let state) = kind { state } else { nil } }

  /// Whether the connection ended while it was in use: its owner needs a new one.
  var isConnectionLost: Bool { kind == .connectionLost || kind == .timeout || kind == .interrupted }

  /// Whether a prepared statement no longer fits the schema, or the server has forgotten it; it is prepared again at its next use.
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
  /// A statement that writes, or LISTEN, on a replica or in a session that only reads.
  static let readOnlyTransaction = SQLState(rawValue: "25006")
  /// A statement in a transaction that has failed already.
  static let inFailedTransaction = SQLState(rawValue: "25P02")
  static let unknownStatement = SQLState(rawValue: "26000")

  /// Whether the code's class is “data exception”: then the message can quote a value.
  var isDataException: Bool { rawValue.hasPrefix("22") }
}

extension PostgresError {
  /// Creates the error of a COMMIT whose wait for a standby was ended.
  init(unreplicated purpose: String) {
    self.init(
      .unreplicated,
      "the server has committed, but its wait for a synchronous standby was ended: the standby may not have the write",
      purpose: purpose)
    hint = "do not write it again; it is lost only if the standby takes over before it has received it"
  }

  /// Creates the error of a connection that was refused, from libpq's verbose message.
  init(refusal message: String, purpose: String) {
    let lines = message.split(whereSeparator: \.isNewline).filter { !Self.isLocation($0) }
    let parts = lines.map { Self.splitCode($0) }
    self.init(.cannotConnect, parts.map(\.text).joined(separator: "\n").singleLine, purpose: purpose)
    // If several servers refused, keep the last one's code.
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

  /// Creates the error that a failed result reports.
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
    // 0A000 stands for every unsupported feature. The server may translate the message (“cached plan must not change
    // result type”), but not the name of its function.
    isStalePlan =
      state == .unknownStatement
      || state == .featureNotSupported && field(USERSTORE_PQ_FUNCTION) == "RevalidateCachedQuery"
  }

  /// Returns a message with “…” in place of everything from the first quotation mark to the last.
  static func withoutQuotes(_ message: String) -> String {
    guard let first = message.firstIndex(of: "\""), let last = message.lastIndex(of: "\""), first < last else {
      return message
    }
    return message[...first] + "…" + message[last...]
  }
}
