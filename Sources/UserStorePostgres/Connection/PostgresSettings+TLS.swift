import CUserStoreLibPQ

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The options for libpq; later ones take precedence over earlier ones.
struct PostgresTarget {
  var keywords: [(name: String, value: String)]
  /// The number of hosts, which libpq tries in order.
  var hostCount: Int
  var mayBeReplica: Bool
  /// The hosts that need TLS with a verified certificate although the string does not ask for it.
  var verifiedHosts: String?
}

extension PostgresSettings {
  /// Returns libpq's options; throws `.cannotConnect` as `check` does.
  func target() throws(PostgresError) -> PostgresTarget {
    try check()
    var keywords = [
      // Without these, waiting for a server that disappeared would not end. The connection string can override them.
      (name: "keepalives_idle", value: "10"), ("keepalives_interval", "3"), ("keepalives_count", "3"),
      ("tcp_user_timeout", String(connectTimeout.wholeMilliseconds)), ("fallback_application_name", "userstore"),
      // libpq accepts a connection string as the name of a database.
      ("dbname", connectionString), ("client_encoding", "UTF8"),
    ]
    keywords += server
    let effective = Self.effective(keywords)
    let hosts = Self.hosts(effective["hostaddr"] ?? "", named: effective["host"] ?? "")
    let given = Self.parse(connectionString).options ?? [:]
    func isChosen(_ name: String, _ variable: String, otherThan usual: String) -> Bool {
      given[name] != nil || Self.environment(variable) != nil || (effective[name] ?? usual) != usual
    }
    let isServerChosen = isChosen("target_session_attrs", "PGTARGETSESSIONATTRS", otherThan: "any")
    if needsPrimary, !isServerChosen { keywords.append(("target_session_attrs", "read-write")) }
    let isPrimary =
      isServerChosen ? ["primary", "read-write"].contains(effective["target_session_attrs"]) : needsPrimary
    let remote = hosts.filter { !Self.isLocal($0) }
    let verifies = !remote.isEmpty && !isChosen("sslmode", "PGSSLMODE", otherThan: "prefer")
    if verifies { keywords.append(("sslmode", "verify-full")) }
    return PostgresTarget(
      keywords: keywords, hostCount: hosts.count, mayBeReplica: !isPrimary,
      verifiedHosts: verifies ? remote.joined(separator: ", ") : nil)
  }

  /// libpq's hosts in order: each address, or the name at its position if the address is empty.
  private static func hosts(_ addresses: String, named names: String) -> [String] {
    let names = names.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    if addresses.isEmpty { return names.isEmpty ? [""] : names }
    return addresses.split(separator: ",", omittingEmptySubsequences: false).enumerated().map { index, address in
      address.isEmpty && names.indices.contains(index) ? names[index] : String(address)
    }
  }

  /// Whether data for a host stays on this machine: the host is a socket or a loopback address.
  static func isLocal(_ host: String) -> Bool {
    // Without a host, libpq uses the socket in its default folder.
    if host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") { return true }
    let name = host.lowercased()
    if name == "localhost" || name == "::1" { return true }
    // Only an address: “127.example.com” is a name.
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  /// Adds the options of the service file and the environment.
  private static func effective(_ keywords: [(name: String, value: String)]) -> [String: String] {
    // libpq has no function for this, but keeps the options of a connection that it refuses. An invalid `channel_binding` makes
    // it refuse before it does anything.
    let handle = unsafe start(keywords + [("channel_binding", "none")])
    defer { unsafe PQfinish(handle) }
    return unsafe PQconninfo(handle).map { options in unsafe values(of: options) } ?? [:]
  }

  /// Starts to connect; nil if memory ran out.
  @unsafe static func start(_ keywords: [(name: String, value: String)]) -> OpaquePointer? {
    let copies = unsafe keywords.flatMap { unsafe [strdup($0.name), strdup($0.value)] }
    defer { unsafe copies.forEach { unsafe free($0) } }
    var names = unsafe stride(from: 0, to: copies.count, by: 2).map { unsafe UnsafePointer(copies[$0]) }
    var values = unsafe stride(from: 1, to: copies.count, by: 2).map { unsafe UnsafePointer(copies[$0]) }
    unsafe names.append(nil)
    unsafe values.append(nil)
    return unsafe PQconnectStartParams(&names, &values, 1)
  }

  private static func environment(_ name: String) -> String? {
    guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
    return unsafe String(cString: value)
  }
}
