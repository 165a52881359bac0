public import UserStore

package enum PostgresRights: String, Sendable {
  case read, write
}

extension UserStore {
  /// Opens a store in a PostgreSQL database, which processes on many machines can share.
  ///
  /// The store works as in a file, with these differences: each statement takes a round trip to the server; each
  /// transaction of another program is delivered as a change set of its own; `backup` and `restore` throw
  /// `StoreError.Code.unsupported`: use PostgreSQL's own tools.
  ///
  /// A store with the access `readOnly` can use a replica, where cursors have the same meaning. A replica sends no notifications,
  /// so the store polls: every millisecond after a change, then less and less often, at least every 250 ms. If the replica has
  /// not yet received the changes up to a cursor, the store waits up to `busyTimeout`, and then throws `StoreError.Code.behind`.
  /// No read returns an older state than an earlier read, even if the store connects to a replica that is further behind: until
  /// that replica has caught up, reads throw `behind`, and nothing is delivered. After the replica has become the primary, the
  /// store continues; it polls until it has a new connection for notifications.
  ///
  /// When the primary fails and a replica takes its place, the store's next operation connects to the replica, if the address has
  /// both. If a COMMIT had no reply, the store looks for the write in the new primary's log: the write returns if it is there,
  /// and throws `connectionLost` if not. With asynchronous replication, the last writes may be lost although they returned and
  /// were delivered. Then listeners receive a discontinuity, and cursors in the lost part throw `diverged`; earlier cursors
  /// continue.
  ///
  /// PgBouncer and other poolers must be in session mode.
  ///
  /// - Parameter configuration: The address of the database, and the options.
  /// - Throws: `StoreError.Code.cannotOpen` if the server cannot be reached; `.noPermission`, `.notFound`, `.notAUserStore`,
  ///   `.schemaTooNew`, `.schemaTooOld`; `.readOnly` if the server is a replica and the access is not `readOnly`; and
  ///   `.unsupported` if the server is not PostgreSQL 15 or newer, or is behind a pooler in transaction mode.
  public convenience init(postgres configuration: PostgresConfiguration) throws(StoreError) {
    try self.init(engine: PostgresEngine(configuration), configuration.store)
  }

  /// Checks a database for damage, and its log against the records, even if it cannot be opened as a store.
  ///
  /// The server does the work in one transaction, which reads everything; other programs can write meanwhile.
  ///
  /// - Parameter configuration: The address of the database.
  /// - Returns: The findings; none if the database is sound.
  /// - Throws: `StoreError.Code.cannotOpen` if the server cannot be reached; `.notFound` if the database has no schema
  ///   `userstore`; `.noPermission`.
  public static func check(postgres configuration: PostgresConfiguration) throws(StoreError) -> [Finding] {
    var configuration = configuration
    configuration.store.access = .readOnly
    let connection = try PostgresConnections(configuration.settings).open()
    try PostgresSchema.require(connection)
    return try PostgresSession(connection).check()
  }

  /// Gives a role of the server the right to read, or to read and write, and revokes its other rights.
  ///
  /// Only the schema's owner can do this.
  ///
  /// - Throws: `StoreError.Code.notFound` if there is no such role, or no schema; `.noPermission`.
  package static func setRights(
    _ rights: PostgresRights, of role: String, postgres configuration: PostgresConfiguration
  ) throws(StoreError) {
    let connection = try PostgresConnections(configuration.settings).open()
    try PostgresSchema.require(connection)
    let setRights = PostgresStatement(once: "set rights", "SELECT userstore.set_rights($1, $2)", .text, .text)
    do throws(StoreError) { try connection.run(setRights, .text(role), .text(rights.rawValue)) } catch {
      guard error.postgres?.sqlState?.rawValue == "42704" else { throw error }
      throw StoreError(.notFound, "the server has no role \(role)", cause: error.cause)
    }
  }
}
