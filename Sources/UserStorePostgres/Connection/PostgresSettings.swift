import CUserStoreLibPQ
import UserStoreText

struct PostgresSettings: Sendable {
  /// A URL (`postgres://…`), libpq's `keyword=value` pairs, the name of a database, or empty.
  ///
  /// Missing parts come from the service file, the environment (PGHOST, PGSERVICE, PGPASSFILE and so on) and libpq's defaults, as
  /// in psql.
  var connectionString: String

  /// The time to wait for a connection to each host, without the name lookup, for which libpq blocks.
  var connectTimeout: Duration = .seconds(10)
  /// The time for which the server may be silent while a reply is due, unless it is working on it; nil for no limit.
  ///
  /// Then the connection is closed. `statementTimeout` also ends statements on which the server is working.
  var replyTimeout: Duration?
  /// The time after which the server ends a statement, but not the connection; nil for no limit.
  var statementTimeout: Duration?
  /// The time after which the server ends a wait for a lock; nil for no limit.
  var lockTimeout: Duration?
  /// The time after which the server ends a connection that is idle in an open transaction; nil for no limit.
  var idleInTransactionTimeout: Duration? = .seconds(10)
  /// Whether to connect only to a writable server, unless the address has `target_session_attrs`.
  ///
  /// With several hosts, libpq then finds the primary, even after a failover.
  var needsPrimary = false
  /// libpq's options that select one server of the string, for a connection that asks about another's reply, but not about its
  /// own.
  var server: [(name: String, value: String)] = []
  /// Further parameters of the session, which override the library's.
  var sessionParameters: [String: String] = [:]

  init(_ connectionString: String = "") { self.connectionString = connectionString }

  var allSessionParameters: [String: String] {
    // The server takes 0 as no limit.
    func milliseconds(_ duration: Duration?) -> String { String(duration.map { max(1, $0.wholeMilliseconds) } ?? 0) }
    let own = [
      // No schema that others can write to: a function there could replace one of PostgreSQL.
      "search_path": "pg_catalog, pg_temp",
      "standard_conforming_strings": "on",
      "TimeZone": "UTC",
      "bytea_output": "hex",
      // Compiling takes longer than any statement of the library.
      "jit": "off",
      // Planning the query for a page of the log takes four times as long as running it.
      "plan_cache_mode": "force_generic_plan",
      "client_min_messages": "warning",
      "lock_timeout": milliseconds(lockTimeout),
      "statement_timeout": milliseconds(statementTimeout),
      "idle_in_transaction_session_timeout": milliseconds(idleInTransactionTimeout),
    ]
    return own.merging(sessionParameters) { _, chosen in chosen }
  }

  // MARK: Passwords

  /// Throws `.cannotConnect` for a mistake in the connection string for which libpq's message could show the password.
  func check() throws(PostgresError) {
    let url = PostgresURL(connectionString)
    // Any other text is the name of a database.
    guard url != nil || connectionString.utf8.contains(UInt8(ascii: "=")) else { return }
    func failure(_ message: String) -> PostgresError {
      var error = PostgresError(.cannotConnect, message, purpose: "connect")
      error.hint = "the form is postgres://user@host:port/database"
      return error
    }
    guard url?.isAmbiguous != true else {
      throw failure("the URL is ambiguous: in a user name, a password or a value, “@” must be %40 and “/” must be %2F")
    }
    let (options, reason) = Self.parse(connectionString)
    guard let options else {
      let mayHavePassword =
        connectionString.utf8.contains(UInt8(ascii: "@")) || connectionString.lowercased().contains("pass")
        || url != nil && connectionString.split(separator: ":").count > 2
      throw failure("the connection string cannot be parsed\(mayHavePassword ? "" : ": \(reason)")")
    }
    // In “postgres://user:password/database”, which has no host, the password is in the port's place.
    guard (options["port"] ?? "").split(separator: ",").allSatisfy({ UInt16($0).map { $0 > 0 } ?? false }) else {
      throw failure("the port in the connection string is not a number from 1 to 65535")
    }
  }

  /// Returns the options of a connection string; nil, with the reason, if libpq cannot parse it.
  static func parse(_ string: String) -> (options: [String: String]?, reason: String) {
    var message: UnsafeMutablePointer<CChar>?
    let options = unsafe PQconninfoParse(string, &message)
    defer { unsafe PQfreemem(message) }
    let reason = unsafe message.map { unsafe String(cString: $0).singleLine } ?? ""
    return (unsafe options.map { unsafe values(of: $0) }, reason)
  }

  /// Returns the options that have values, and frees libpq's list.
  @unsafe static func values(of options: UnsafeMutablePointer<PQconninfoOption>) -> [String: String] {
    var values: [String: String] = [:]
    var option = unsafe options
    while let keyword = unsafe option.pointee.keyword {
      if let value = unsafe option.pointee.val { unsafe values[String(cString: keyword)] = String(cString: value) }
      unsafe option += 1
    }
    unsafe PQconninfoFree(options)
    return values
  }
}

extension Duration {
  /// The milliseconds, rounded up.
  var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
    return overflow
      ? (seconds < 0 ? .min : .max) : product + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
  }
}

extension String {
  var singleLine: String {
    split(whereSeparator: \.isNewline).map { $0.drop(while: \.isWhitespace) }.joined(separator: "; ")
  }
}
