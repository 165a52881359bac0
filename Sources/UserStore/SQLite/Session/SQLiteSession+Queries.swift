extension SQLiteSession {
  private static let selectIndexes = SQL(
    "read the indexes",
    "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND substr(name, 1, ?2) = ?1")
  private static let schemaVersion = SQL("read the indexes", "PRAGMA schema_version")

  func eachRow(
    _ request: RowRequest, while body: (_ id: User.ID, _ values: [StoredValue]) -> Bool
  ) throws(StoreError) {
    let indexes = try knownIndexes()
    let columns = 1..<Int32(request.columns.count + 1)
    var (isMore, limit) = (true, request.limit)
    for part in request.parts where isMore {
      let query = QuerySQL(part, columns: request.columns, limit: limit, indexes: indexes)
      try connection.query(SQL(once: "find users", query.text), query.values) { row in
        limit? -= 1
        isMore = body(User.ID(row.integer(0)), columns.map { row.value($0) }) && limit != 0
        return isMore
      }
    }
  }

  func eachUser(_ request: RowRequest, while body: (User) -> Bool) throws(StoreError) {
    if request.selectsAll { return try eachUser(while: body) }
    var request = request
    request.columns = []
    var failure: StoreError?
    try eachRow(request) { id, _ in
      do throws(StoreError) {
        guard let user = try user(id) else { return true }
        return body(user)
      } catch { failure = error }
      return false
    }
    if let failure { throw failure }
  }

  func userCount(where condition: Condition) throws(StoreError) -> Int {
    let query = QuerySQL(counting: condition)
    var count = 0
    try connection.query(SQL(once: "count users", query.text), query.values) { row in
      count = Int(row.integer(0))
      return true
    }
    return count
  }

  // MARK: Indexes

  func indexes() throws(StoreError) -> [AttributeName] {
    let prefix = AttributeIndex.prefix
    return try connection.all(Self.selectIndexes, .text(prefix), .integer(Int64(prefix.utf8.count))) { row in
      AttributeIndex(name: row.text(0), sql: row.text(1))?.attribute
    }.compactMap { $0 }.sorted()
  }

  /// The indexes, which are read only when the schema has changed.
  private func knownIndexes() throws(StoreError) -> Set<AttributeName> {
    let version = try connection.first(Self.schemaVersion) { $0.integer(0) } ?? 0
    if let indexes = indexesOfVersion, indexes.version == version { return indexes.attributes }
    let attributes = Set(try indexes())
    indexesOfVersion = (version, attributes)
    return attributes
  }

  func addIndex(on attribute: AttributeName, while shouldContinue: () -> Bool) throws(StoreError) -> Bool {
    guard shouldContinue() else { throw SessionPool.closed }
    if try indexes().contains(attribute) { return false }
    // In memory, SQLite would sort all values at once.
    try connection.execute("PRAGMA temp_store = FILE", to: "add an index")
    defer { try? connection.execute("PRAGMA temp_store = MEMORY", to: "add an index") }
    try connection.running(while: shouldContinue) { () throws(StoreError) in
      try connection.execute(AttributeIndex(on: attribute).sql, to: "add an index")
    }
    return true
  }

  func removeIndex(on attribute: AttributeName) throws(StoreError) -> Bool {
    guard try indexes().contains(attribute) else { return false }
    try connection.execute("DROP INDEX \(AttributeIndex(on: attribute).quotedName)", to: "remove an index")
    return true
  }
}
