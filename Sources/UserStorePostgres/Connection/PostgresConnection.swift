import CUserStoreLibPQ

/// A connection to a server: the only owner of libpq's handle, which it closes when it is destroyed.
///
/// One thread uses it at a time. Its owner ensures that: it is lent by a pool, or belongs to one thread. Another thread may end
/// its waits with the `interrupter`.
///
/// Every method that talks to the server throws, besides the errors that it lists: `.server` if the server refuses something,
/// `.connectionLost`, `.timeout` and `.interrupted`. After the last three, the connection is closed: every further call throws
/// `.connectionLost` until `reconnect`.
@safe final class PostgresConnection: @unchecked Sendable {
  // Unchecked: libpq's handle may move between threads as long as no two use it at once (PQisthreadsafe).

  let settings: PostgresSettings
  let interrupter: PostgresInterrupter
  /// The number of times that the connection has sent something and waited for the reply, for tests; connecting is not counted.
  private(set) var roundTrips = 0
  /// The longest time to wait for the reply to a batch; nil for no limit.
  var replyTimeout: Duration?

  private(set) var handle: OpaquePointer?
  /// Whether the settings allow a replica.
  private(set) var mayBeReplica = false
  /// Whether there is a pooler between the connection and the server: it gave the number of another process than the server.
  private(set) var isPooled = false
  var statements = PreparedStatements()
  /// Whether a scan may have left a cursor open.
  var hasOpenCursors = false
  /// The number of scans that are running, one inside of the other.
  var scanDepth = 0
  /// The number of scans so far, for the names of their cursors.
  var scanCount = 0
  /// Whether a wake-up came while the connection waited for a reply.
  var hasPendingWakeUp = false

  /// Connects to a server.
  ///
  /// - Parameters:
  ///   - settings: Where and how to connect.
  ///   - interrupter: What ends its waits, also that for the connection itself; it must belong to this connection only.
  /// - Throws: `.cannotConnect`, `.timeout`, `.interrupted`, and `.server` if the server refuses the session's parameters.
  init(_ settings: PostgresSettings, interrupter: PostgresInterrupter? = nil) throws(PostgresError) {
    self.settings = settings
    if let interrupter { self.interrupter = interrupter } else { self.interrupter = try PostgresInterrupter() }
    replyTimeout = settings.replyTimeout
    try reconnect()
  }

  deinit { unsafe PQfinish(handle) }

  /// Closes the connection if it is open, and connects again; the statements will be prepared again.
  ///
  /// - Throws: The errors of `init`.
  func reconnect() throws(PostgresError) {
    close()
    statements = PreparedStatements()
    let target = try settings.target()
    mayBeReplica = target.mayBeReplica
    interrupter.isInUse = true
    do throws(PostgresError) {
      unsafe handle = PostgresSettings.start(target.keywords)
      try awaitConnection(hostCount: target.hostCount)
      try prepareSession()
    } catch {
      close()
      throw error.hint == nil ? error.withHint(error.isReplica ? Self.replicaHint : tlsHint(target, error)) : error
    }
  }

  /// Closes the connection; the server rolls back an open transaction.
  func close() {
    unsafe PQfinish(handle)
    unsafe handle = nil
    interrupter.isInUse = false
  }

  /// Whether the connection is not closed.
  ///
  /// It may be lost all the same: only using it shows that.
  var isOpen: Bool { unsafe handle != nil }

  enum TransactionStatus: Sendable {
    /// No transaction is open.
    case idle
    case inTransaction
    /// A statement of the open transaction has failed: only a rollback is possible.
    case failed
    /// The connection is closed, or waits for a reply.
    case unknown
  }

  /// The status of the transaction after the last reply.
  var transactionStatus: TransactionStatus {
    switch unsafe PQtransactionStatus(handle) {
    case PQTRANS_IDLE: .idle
    case PQTRANS_INTRANS: .inTransaction
    case PQTRANS_INERROR: .failed
    default: .unknown
    }
  }

  /// The process of the server that serves the connection; 0 if it is closed.
  var serverProcess: Int32 { unsafe PQbackendPID(handle) }

  /// The version of the server: 150018 is 15.18.
  var serverVersion: Int { unsafe Int(PQserverVersion(handle)) }

  /// Whether the server was a replica at the last reply.
  var isReplica: Bool {
    unsafe PQparameterStatus(handle, "in_hot_standby").map { unsafe String(cString: $0) } == "on"
  }

  func countRoundTrip() { roundTrips += 1 }

  // MARK: Connecting

  private func awaitConnection(hostCount: Int) throws(PostgresError) {
    let deadline = ContinuousClock.now + settings.connectTimeout * max(1, hostCount)
    var state = PGRES_POLLING_WRITING
    guard unsafe PQstatus(handle) != CONNECTION_BAD else { throw cannotConnect }
    while state != PGRES_POLLING_OK {
      guard state != PGRES_POLLING_FAILED else { throw cannotConnect }
      let writes = state == PGRES_POLLING_WRITING
      while try awaitSocket(reads: !writes, writes: writes, deadline, "connect") == .woken {}
      state = unsafe PQconnectPoll(handle)
    }
    unsafe PQsetnonblocking(handle, 1)
    unsafe userstore_pq_ignore_notices(handle)
    let encoding = unsafe PQparameterStatus(handle, "server_encoding").map { unsafe String(cString: $0) } ?? "unknown"
    guard encoding == "UTF8" else {
      throw PostgresError(
        .cannotConnect, "the encoding of the database is \(encoding), but must be UTF8", purpose: "connect")
    }
    // All statements are sent in pipeline mode: one path for one statement and for many.
    guard unsafe PQenterPipelineMode(handle) == 1 else { throw cannotConnect }
  }

  private var cannotConnect: PostgresError {
    let message = unsafe handle == nil ? "out of memory" : String(cString: PQerrorMessage(handle)).singleLine
    var error = PostgresError(.cannotConnect, message, purpose: "connect")
    error.isReplica = settings.needsPrimary && isReplica
    return error
  }

  /// Sets the session's parameters.
  ///
  /// Not with the `options` of the connection: connection poolers refuse those, and the settings of the role could not be
  /// overridden for good.
  private func prepareSession() throws(PostgresError) {
    let parameters = settings.allSessionParameters.sorted { $0.key < $1.key }
    let calls = parameters.indices.map { "pg_catalog.set_config($\($0 * 2 + 1), $\($0 * 2 + 2), false)" }
    let statement = PostgresStatement(
      purpose: "set the parameters of the session",
      text: "SELECT pg_catalog.pg_backend_pid(), " + calls.joined(separator: ", "),
      types: Array(repeating: .text, count: parameters.count * 2), effect: .none, index: -1)
    let values = parameters.flatMap { [PostgresValue.text($0.key), .text($0.value)] }
    let deadline = replyTimeout
    replyTimeout = settings.connectTimeout
    defer { replyTimeout = deadline }
    isPooled = try run(statement, values).first?.int4(0) != serverProcess
  }

  static let replicaHint = """
    a store that writes needs the primary: give its address, or those of all servers (host=a,b); or open the store only for \
    reading
    """

  private func tlsHint(_ target: PostgresTarget, _ error: PostgresError) -> String? {
    guard let hosts = target.verifiedHosts, error.kind == .cannotConnect else { return nil }
    return """
      \(hosts) is another machine, so TLS with a verified certificate is required: set sslrootcert to the certificate of its \
      authority, or choose another sslmode in the connection string or PGSSLMODE
      """
  }
}

extension PostgresError {
  fileprivate func withHint(_ hint: String?) -> PostgresError {
    var error = self
    error.hint = hint
    return error
  }
}
