/// Copies of a store that lack its mark, because their tables and rows were written again: by .dump or .clone, for example.
extension Schema {
  /// Whether a database has all the tables that the first layout of a store has.
  static func isCopy(_ connection: borrowing Connection) throws(StoreError) -> Bool {
    var count: Int64 = 0
    let sql = """
      SELECT count(*) FROM sqlite_schema
      WHERE type = 'table' AND name IN ('migrations', 'meta', 'users', 'attributes', 'changes')
      """
    try connection.rows(sql, to: "open the database") { count = $0.integer(0) }
    return count == 5
  }

  /// Marks a copy as a store if its tables and triggers are ours, and starts a new log after its last row; a copy may lack what
  /// was written while it was made.
  ///
  /// Returns whether that was needed. Without `isKept`, it is rolled back.
  static func adopt(_ connection: borrowing Connection, isKept: Bool) throws(StoreError) -> Bool {
    try connection.execute("BEGIN EXCLUSIVE", to: purpose)
    do throws(StoreError) {
      let isNeeded = try isWithoutMark(connection)
      if isNeeded { try mark(connection) }
      try connection.execute(isKept ? "COMMIT" : "ROLLBACK", to: purpose)
      return isNeeded
    } catch {
      connection.rollBack()
      throw error
    }
  }

  private static let purpose = "adopt the database"

  private static func isWithoutMark(_ connection: borrowing Connection) throws(StoreError) -> Bool {
    do throws(StoreError) { _ = try checkedVersion(connection, mayBeEmpty: false) } catch {
      if error.code == .needsAdoption { return true }
      throw error
    }
    return false
  }

  private static func mark(_ connection: borrowing Connection) throws(StoreError) {
    // Checked first: a table of another program may compute its content.
    let version = try versionOfCopy(connection)
    try SchemaCheck.startNewLog(connection, to: purpose)
    // .clone copies the row of sqlite_sequence twice, and other programs leave it out: the id of a removed user must not be
    // assigned again.
    var last: Int64 = 0
    for column in ["seq FROM sqlite_sequence WHERE name = 'users'", "max(id) FROM users", "max(user) FROM changes"] {
      try connection.rows("SELECT \(column)", to: purpose) { last = max(last, $0.integer(0)) }
    }
    try connection.execute(
      """
      DELETE FROM sqlite_sequence WHERE name = 'users';
      INSERT INTO sqlite_sequence (name, seq) VALUES ('users', \(last));
      PRAGMA user_version = \(version);
      PRAGMA application_id = \(applicationID)
      """, to: purpose)
  }

  /// A replica's state says which rows of the log the server has; the copy would have another log.
  private static let copyOfReplica = StoreError(
    .readOnlyReplica, "the file is a copy of a replica", hint: "follow the server into a new file")

  /// The version whose tables and triggers a copy has; throws if it has others.
  private static func versionOfCopy(_ connection: borrowing Connection) throws(StoreError) -> Int64 {
    var mismatch = StoreError(.schemaChanged, "no version of this library had these tables")
    for version in Migration.oldest...Migration.newest {
      do throws(StoreError) {
        let check = try checkVersion(version, connection)
        let broken = check.brokenTriggers
        if broken.isEmpty {
          if check.parts.contains(.replica) { throw copyOfReplica }
          return version
        }
        throw StoreError(
          .schemaChanged,
          "the file cannot be adopted: triggers of the log are missing or changed (\(broken.joined(separator: ", ")))")
      } catch {
        guard error.code == .schemaChanged else { throw error }
        // The mismatch with the latest version is the one that the user can act on.
        mismatch = error
      }
    }
    throw mismatch
  }
}
