/// The tables of the file's parts, for the targets that use them: SQL in the open transaction of a session.
///
/// `UserStoreSync` writes users by it, too: sets of them, and values as the server has them, whichever program stored them there.
package struct PartTables {
  private let own: SQLiteSession

  /// - Throws: `StoreError.Code.unsupported` for a session of another engine.
  package init(_ session: any Session) throws(StoreError) {
    guard let own = session as? SQLiteSession else {
      throw StoreError(.unsupported, "only a store in a file can be a replica")
    }
    self.own = own
  }

  /// Creates a part, unless the file has it; returns whether it was missing.
  @discardableResult
  package func create(_ part: SchemaPart) throws(StoreError) -> Bool { try part.create(on: own.connection) }

  /// Drops a part, if the file has it.
  package func drop(_ part: SchemaPart) throws(StoreError) { try part.drop(on: own.connection) }

  package func has(_ part: SchemaPart) throws(StoreError) -> Bool { try part.exists(on: own.connection) }

  /// Runs a statement, and returns how many rows it has changed, without those that triggers changed.
  @discardableResult
  package func run(_ sql: SQL, _ values: StoredValue...) throws(StoreError) -> Int {
    do throws(StoreError) { try own.connection.run(sql, values) } catch {
      guard (error.cause as? SQLiteError)?.message == SQLiteError.violatedKey else { throw error }
      throw StoreError(
        .stillReferenced, "a user that the server has removed cannot be removed: another table refers to it",
        cause: error)
    }
    return own.connection.changedRows
  }

  /// The columns of the first row; nil if there is none.
  package func first(_ sql: SQL, _ values: StoredValue..., columns: Int) throws(StoreError) -> [StoredValue]? {
    var found: [StoredValue]?
    try own.connection.each(sql, values) { row in
      found = (0..<columns).map { row.value(Int32($0)) }
      return false
    }
    return found
  }

  /// The columns of all rows.
  package func all(_ sql: SQL, _ values: StoredValue..., columns: Int) throws(StoreError) -> [[StoredValue]] {
    var found: [[StoredValue]] = []
    try own.connection.each(sql, values) { row in
      found.append((0..<columns).map { row.value(Int32($0)) })
      return true
    }
    return found
  }

  /// A random number, as the log's.
  package static var randomNumber: Int64 { Connection.randomNumber() }
}

extension SQLiteSession {
  private static let selectServer = SQL("read the replica", "SELECT address FROM userstore_replica")

  /// The error for a write to a replica.
  var isReplica: StoreError {
    let server = (try? connection.first(Self.selectServer) { $0.text(0) }) ?? nil
    return StoreError(
      .readOnlyReplica, "the store is a replica: write to its server\(server.map { ", \($0)" } ?? "")")
  }

  /// The error of a statement; that of a trigger that refuses a write to a replica is explained.
  func explaining(_ error: StoreError) -> StoreError {
    (error.cause as? SQLiteError)?.message == SchemaPart.refusal ? isReplica : error
  }
}
