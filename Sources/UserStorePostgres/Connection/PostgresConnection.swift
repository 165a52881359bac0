import CUserStoreLibPQ
import UserStore

/// A connection to a server.
///
/// It alone owns libpq's handle, and closes it in `deinit`. One thread uses a connection at a time; other threads can end its
/// waits with the `interrupter`.
///
/// Every method that talks to the server throws a `StoreError` whose cause is a `PostgresError`. Besides the kinds that a method
/// lists, it can be `.server` if the server refuses something, `.connectionLost`, `.timeout` or `.interrupted`. The last three
/// close the connection: every further call throws `.connectionLost` until `reconnect`.
@safe final class PostgresConnection: @unchecked Sendable {
  // Unchecked: libpq's handle may move between threads as long as no two use it at once (PQisthreadsafe).

  let settings: PostgresSettings
  let interrupter: PostgresInterrupter
  /// The number of round trips, for tests; excludes those in which libpq connects.
  private(set) var roundTrips = 0
  /// The time for which the server may be silent while a reply is due, unless it reports on another connection that it is working
  /// on it; nil for no limit.
  ///
  /// `reconnect` resets it to the settings' value.
  var replyTimeout: Duration?

  private(set) var handle: OpaquePointer?
  /// Set by the C shim if the server has committed without waiting for a standby.
  private let notes: UnsafeMutablePointer<Int32>
  private(set) var mayBeReplica = false
  /// Whether the connection goes through a pooler: the process number that it sent differs from the server's.
  private(set) var isPooled = false
  var statements = PreparedStatements()
  var hasOpenCursors = false
  var scanDepth = 0
  /// The number of scans so far, which names their cursors.
  var scanCount = 0
  /// The number of the server's process, nil while connecting; libpq's `serverProcess` can be a pooler's.
  private(set) var process: Int32?
  /// The processes that held up the last batch when the server was asked; nil if there were none.
  var blockers: String?
  /// Whether a wake-up came while the connection waited for a reply.
  var hasPendingWakeUp = false

  /// Connects to a server.
  ///
  /// `interrupter` ends the connection's waits, including the wait to connect, and must not belong to another one.
  ///
  /// - Throws: `.cannotConnect`, `.timeout`, `.interrupted`, and `.server` if the server refuses the session's parameters.
  init(_ settings: PostgresSettings, interrupter: PostgresInterrupter? = nil) throws(StoreError) {
    self.settings = settings
    self.interrupter = if let interrupter { interrupter } else { try PostgresInterrupter() }
    unsafe notes = .allocate(capacity: 1)
    unsafe notes.initialize(to: 0)
    do throws(PostgresError) { try connect() } catch { throw StoreError(error) }
  }

  deinit {
    unsafe PQfinish(handle)
    unsafe notes.deallocate()
  }

  /// Closes the connection if it is open, and connects again; statements are prepared again.
  ///
  /// - Throws: The errors of `init`, but `.connectionLost` if the server cannot be reached.
  func reconnect() throws(StoreError) {
    do throws(PostgresError) { try connect() } catch { throw StoreError(inOpenStore: error) }
  }

  /// Closes the connection; the server rolls back an open transaction.
  func close() {
    unsafe PQfinish(handle)
    unsafe handle = nil
    interrupter.isInUse = false
  }

  /// Whether the connection has not been closed; only using it shows whether it is lost.
  var isOpen: Bool { unsafe handle != nil }

  enum TransactionStatus: Sendable {
    case idle
    case inTransaction
    /// A statement of the open transaction has failed, so it can only be rolled back.
    case failed
    /// The connection is closed or waits for a reply.
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

  /// The number of the server's process according to libpq; 0 if the connection is closed.
  var serverProcess: Int32 { unsafe PQbackendPID(handle) }

  /// The version of the server: 150018 is 15.18.
  var serverVersion: Int { unsafe Int(PQserverVersion(handle)) }

  /// Whether the server was a replica at the last reply.
  var isReplica: Bool {
    unsafe PQparameterStatus(handle, "in_hot_standby").map { unsafe String(cString: $0) } == "on"
  }

  /// Whether the server warned, with the last reply, that a standby may lack the commit.
  var isUnreplicated: Bool {
    get { unsafe notes.pointee != 0 }
    set { unsafe notes.pointee = newValue ? 1 : 0 }
  }

  func countRoundTrip() { roundTrips += 1 }

  // MARK: Connecting

  private func connect() throws(PostgresError) {
    close()
    statements = PreparedStatements()
    (process, replyTimeout) = (nil, settings.replyTimeout)
    let target = try settings.target()
    mayBeReplica = target.mayBeReplica
    interrupter.isInUse = true
    do throws(PostgresError) {
      unsafe handle = PostgresSettings.start(target.keywords)
      try awaitConnection(hostCount: target.hostCount)
      try prepareSession()
    } catch {
      var error = error
      if error.hint == nil { error.hint = connectionHint(for: error, target) }
      close()
      throw error
    }
  }

  private func awaitConnection(hostCount: Int) throws(PostgresError) {
    let deadline = ContinuousClock.now + settings.connectTimeout * max(1, hostCount)
    var state = PGRES_POLLING_WRITING
    guard unsafe PQstatus(handle) != CONNECTION_BAD else { throw cannotConnect }
    // Only verbose messages contain the error codes, which libpq does not keep.
    unsafe PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
    while state != PGRES_POLLING_OK {
      guard state != PGRES_POLLING_FAILED else { throw cannotConnect }
      let writes = state == PGRES_POLLING_WRITING
      while try awaitSocket(reads: !writes, writes: writes, deadline, "connect") == .woken {}
      state = unsafe PQconnectPoll(handle)
    }
    unsafe PQsetErrorVerbosity(handle, PQERRORS_DEFAULT)
    unsafe PQsetnonblocking(handle, 1)
    unsafe userstore_pq_note_notices(handle, notes)
    let encoding = unsafe PQparameterStatus(handle, "server_encoding").map { unsafe String(cString: $0) } ?? "unknown"
    guard encoding == "UTF8" else {
      throw PostgresError(
        .cannotConnect, "the encoding of the database is \(encoding), but must be UTF8", purpose: "connect")
    }
    // Pipeline mode is the one path for single statements and batches.
    guard unsafe PQenterPipelineMode(handle) == 1 else { throw cannotConnect }
  }

  private var cannotConnect: PostgresError {
    var error = PostgresError(
      refusal: unsafe handle == nil ? "out of memory" : String(cString: PQerrorMessage(handle)), purpose: "connect")
    error.isReplica = settings.needsPrimary && isReplica
    return error
  }

  /// Sets the session's parameters.
  ///
  /// The connection's `options` would not do: poolers refuse them, and they would not permanently override the settings of the
  /// role.
  private func prepareSession() throws(PostgresError) {
    let parameters = settings.allSessionParameters.sorted { $0.key < $1.key }
    let calls = parameters.indices.map { "pg_catalog.set_config($\($0 * 2 + 1), $\($0 * 2 + 2), false)" }
    let statement = PostgresStatement(
      once: "set the parameters of the session",
      "SELECT pg_catalog.pg_backend_pid(), " + calls.joined(separator: ", "),
      types: Array(repeating: .text, count: parameters.count * 2))
    let values = parameters.flatMap { [PostgresValue.text($0.key), .text($0.value)] }
    var batch = PostgresBatch()
    let result = batch.add(statement, values)
    try exchange(batch)
    let named = result.first?.int4(0)
    isPooled = named != serverProcess
    process = settings.server.isEmpty ? named : nil
  }
}
