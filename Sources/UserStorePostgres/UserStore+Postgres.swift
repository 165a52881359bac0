public import UserStore

/// What a role of the server may do with a store.
package enum PostgresRights: String, Sendable {
  case read, write
}

extension UserStore {
  /// Opens a store in a PostgreSQL database, which processes on many machines can share.
  ///
  /// Everything is as in a file, with these differences: each statement is a round trip to the server; foreign transactions are
  /// delivered one by one; `backup` and `restore` throw `StoreError.Code.unsupported`: use PostgreSQL's own tools.
  ///
  /// - Parameter configuration: The address of the database, and the options.
  /// - Throws: `StoreError.Code.cannotOpen` if the server cannot be reached; `.noPermission`, `.notFound`, `.notAUserStore`,
  ///   `.schemaTooNew`, `.schemaTooOld`, and `.unsupported` if the server is not PostgreSQL 15 or newer.
  public convenience init(postgres configuration: PostgresConfiguration) throws(StoreError) {
    try self.init(engine: PostgresEngine(configuration), configuration.store)
  }

  /// Checks a database for damage, and its log against the records, also if it cannot be opened as a store.
  ///
  /// The server does the work in one transaction, which reads everything; others can write meanwhile.
  ///
  /// - Parameter configuration: The address of the database.
  /// - Returns: What was found; nothing if the database is sound.
  /// - Throws: `StoreError.Code.cannotOpen` if the server cannot be reached; `.notFound` if the database has no schema
  ///   `userstore`; `.noPermission`.
  public static func check(postgres configuration: PostgresConfiguration) throws(StoreError) -> [Finding] {
    let connection = try PostgresConnections(configuration.settings).open()
    defer { connection.close() }
    try PostgresSchema.require(connection)
    return try PostgresSession(connection).check()
  }

  /// Lets a role of the server read, or also write, and takes other rights from it; only the owner of the schema can.
  ///
  /// - Throws: `StoreError.Code.notFound` if there is no such role, or no schema; `.noPermission`.
  package static func setRights(
    _ rights: PostgresRights, of role: String, postgres configuration: PostgresConfiguration
  ) throws(StoreError) {
    let connection = try PostgresConnections(configuration.settings).open()
    defer { connection.close() }
    try PostgresSchema.require(connection)
    let setRights = PostgresStatement(once: "set rights", "SELECT userstore.set_rights($1, $2)", .text, .text)
    do throws(PostgresError) { try connection.run(setRights, .text(role), .text(rights.rawValue)) } catch {
      if error.kind == .server(SQLState(rawValue: "42704")) {
        throw StoreError(.notFound, "the server has no role \(role)", cause: error)
      }
      throw StoreError(error)
    }
  }
}
