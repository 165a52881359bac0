public import UserStore

/// The options for opening a store on PostgreSQL.
public struct PostgresConfiguration: Sendable {
  /// The address of the database: a URL (`postgres://host/database`), `keyword=value` pairs, or empty.
  ///
  /// Missing parts come from the service file, the environment (`PGHOST`, `PGSERVICE`, `PGPASSFILE` and so on) and the
  /// defaults of libpq, as in psql. If the host is another machine, TLS with a verified certificate is required, unless `sslmode`
  /// says otherwise.
  ///
  /// List all servers of a cluster (`postgres://a,b/database`), so that the store finds the primary after a failover. Whenever a
  /// writing store connects, it chooses the host that accepts writes (`target_session_attrs=read-write`). A store that only reads
  /// takes the first host that answers, which may be a replica. `target_session_attrs` in the address takes precedence.
  public var address: String
  /// The options of both engines.
  ///
  /// `durability` has no effect. `busyTimeout` also limits the wait for a replica that is behind; after that, the store throws
  /// `StoreError.Code.behind`.
  ///
  /// `createIfMissing` creates the schema `userstore` in the database, if the role may do so.
  public var store: UserStore.Configuration
  /// The time to wait for a connection to each host of the address, and the time for which the server may be silent while a
  /// reply is due; by default 10 seconds.
  ///
  /// A statement may take longer: after half of the time, the store asks on another connection whether the server is working on
  /// it. If not, the connection counts as lost.
  public var connectTimeout = Duration.seconds(10)
  /// The time for which a transaction of this process may be idle between two statements before the server ends it; by default 10
  /// seconds.
  ///
  /// A process that stops inside `write` delays all other writers for this time.
  public var idleInTransactionTimeout = Duration.seconds(10)

  /// The interval at which the watcher looks at the log without a notification, in case one was lost; on a replica, it polls.
  ///
  /// By default, this and two fifths of `connectTimeout`, after which its connections count as lost, are less than ten seconds.
  var idleLook = Duration.seconds(5)

  /// Creates a configuration.
  public init(_ address: String = "", _ store: UserStore.Configuration = UserStore.Configuration()) {
    (self.address, self.store) = (address, store)
  }

  var settings: PostgresSettings {
    var settings = PostgresSettings(address)
    settings.connectTimeout = connectTimeout
    settings.replyTimeout = connectTimeout
    settings.lockTimeout = store.busyTimeout
    settings.idleInTransactionTimeout = idleInTransactionTimeout
    settings.needsPrimary = store.access != .readOnly
    return settings
  }
}
