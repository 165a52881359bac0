public import UserStore

/// The options for opening a store on PostgreSQL.
public struct PostgresConfiguration: Sendable {
  /// Where the database is: a URL (`postgres://host/database`), `keyword=value` pairs, or empty.
  ///
  /// What it does not say comes from the service file, the environment (`PGHOST`, `PGSERVICE`, `PGPASSFILE` and so on) and the
  /// defaults of libpq, as in psql. If the host is another machine, TLS with a verified certificate is required, unless
  /// `sslmode` says otherwise.
  public var address: String
  /// The options that both engines have.
  ///
  /// `pageSize`, `durability`, `usesFileEvents` have no effect.
  ///
  /// `createIfMissing` creates the schema `userstore` in the database, if the role may do so.
  public var store: UserStore.Configuration
  /// How long to wait for a connection to each host of the address; by default 10 seconds.
  public var connectTimeout = Duration.seconds(10)
  /// How long a transaction of this process may wait, between two statements, before the server ends it; by default 10 seconds.
  ///
  /// A process that stops inside `write` holds up all other writers until then.
  public var idleInTransactionTimeout = Duration.seconds(10)

  /// How often the watcher looks at the log without a notification, in case that one was lost.
  var idleLook = Duration.seconds(5)

  /// Creates a configuration.
  public init(_ address: String = "", _ store: UserStore.Configuration = UserStore.Configuration()) {
    (self.address, self.store) = (address, store)
  }

  var settings: PostgresSettings {
    var settings = PostgresSettings(address)
    settings.connectTimeout = connectTimeout
    settings.lockTimeout = store.busyTimeout
    settings.idleInTransactionTimeout = idleInTransactionTimeout
    return settings
  }
}
