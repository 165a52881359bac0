import CUserStoreLibPQ

extension PostgresConnection {
  static let replicaHint = """
    a store that writes needs the primary: give its address, or those of all servers (host=a,b); or open the store only for \
    reading
    """
  private static let readOnlyHint = """
    default_transaction_read_only is on: turn it off for the role, the database or the server, with ALTER ROLE, ALTER DATABASE \
    or ALTER SYSTEM; or open the store only for reading
    """
  private static let passwordHint = """
    write the right password to ~/.pgpass, or set PGPASSWORD; check the name of the role (user) in the address, too
    """
  private static let rightsHint = """
    ask the owner of the database to run usertool init with --writer or --reader, and your role
    """

  func hint(for error: PostgresError) -> String? {
    switch error.sqlState {
    case .insufficientPrivilege: Self.rightsHint
    case .readOnlyTransaction: isReplica ? Self.replicaHint : isReadOnly ? Self.readOnlyHint : nil
    case .lockNotAvailable:
      blockers.map { "\($0) held the lock: try again, or end it with SELECT pg_terminate_backend(…)" }
    default: nil
    }
  }

  func connectionHint(for error: PostgresError, _ target: PostgresTarget) -> String? {
    guard error.kind == .cannotConnect else { return nil }
    if error.isReplica { return Self.replicaHint }
    if let refusal = error.refusal { return Self.hint(forRefusal: refusal) }
    if settings.needsPrimary, isReadOnly { return Self.readOnlyHint }
    if unsafe PQconnectionNeedsPassword(handle) == 1 { return Self.passwordHint }
    if error.message.contains("could not translate host name") {
      if error.message.contains("Temporary failure") {
        return "no name server answers: check the network of this machine"
      }
      return "no machine has this name: correct the host in the address"
    }
    return error.meansTLS ? Self.tlsHint(target) : nil
  }

  private static func hint(forRefusal state: SQLState) -> String? {
    switch state.rawValue {
    case "28000":
      """
      the role must exist, and a line of the server's pg_hba.conf must let it in, from this machine and into this database; the \
      administrator of the server can change both
      """
    case "28P01": passwordHint
    case "3D000": "create the database with createdb, or correct its name in the address"
    case "42501": "ask the owner of the database to GRANT CONNECT ON DATABASE to your role"
    case "53300":
      """
      a store needs up to eight connections: close some of other programs, or raise max_connections of the server, or the limit of \
      the role or of the database
      """
    case "55000": "ask a superuser to ALTER DATABASE … ALLOW_CONNECTIONS true, or connect to another database"
    case "57P03": "the server is starting, ending or recovering: try again later"
    default: nil
    }
  }

  private static func tlsHint(_ target: PostgresTarget) -> String? {
    guard let hosts = target.verifiedHosts else { return nil }
    return """
      \(hosts) is another machine, so TLS with a verified certificate is required: set sslrootcert to the certificate of its \
      authority, or choose another sslmode in the connection string or PGSSLMODE
      """
  }

  /// Whether the session can only read although the server is the primary.
  private var isReadOnly: Bool {
    unsafe PQparameterStatus(handle, "default_transaction_read_only").map { unsafe String(cString: $0) } == "on"
  }
}

extension PostgresError {
  /// Whether libpq refused the server because of its certificate, or because it does not encrypt.
  fileprivate var meansTLS: Bool { message.contains("SSL") || message.contains("certificate") }
}
