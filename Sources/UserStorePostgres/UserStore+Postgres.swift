public import UserStore

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
}
