extension SQLiteSession {
  private static let selectIndexes = SQL(
    "read the indexes",
    "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND substr(name, 1, ?2) = ?1")
  private static let selectNames = SQL("find users", "SELECT name FROM attributes WHERE user_id = ?1")
  private static let insertRule = SQL(
    "make an attribute unique", "INSERT INTO userstore_unique (attribute, ignores_case) VALUES (?1, ?2)")
  private static let deleteRule = SQL("remove a unique attribute", "DELETE FROM userstore_unique WHERE attribute = ?1")
  private static let schemaVersion = SQL("read the indexes", "PRAGMA schema_version")

  /// More columns are read separately: in one statement, SQLite takes quadratic time for them, 8.6 s for 900 of 1,000 users.
  private static let columnLimit = 20

  func eachRow(
    _ request: RowRequest, while body: (_ id: User.ID, _ values: [StoredValue]) -> Bool
  ) throws(StoreError) {
    if request.columns.count > Self.columnLimit { return try eachWideRow(request, while: body) }
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

  private func eachWideRow(
    _ request: RowRequest, while body: (_ id: User.ID, _ values: [StoredValue]) -> Bool
  ) throws(StoreError) {
    let places = Dictionary(zip(request.columns, 0...)) { first, _ in first }
    var (narrow, failure) = (request, StoreError?.none)
    narrow.columns = []
    try eachRow(narrow) { id, _ in
      do throws(StoreError) { return body(id, try values(of: id, at: places)) } catch { failure = error }
      return false
    }
    if let failure { throw failure }
  }

  /// The values of a user, in places for attributes; those of other attributes are not read.
  private func values(of id: User.ID, at places: [AttributeName: Int]) throws(StoreError) -> [StoredValue] {
    var values = [StoredValue](repeating: .null, count: places.count)
    let key = StoredValue.integer(id.rawValue)
    var names: [AttributeName] = [.name, .hairColor]
    try connection.each(Self.selectNames, key) { row in
      names.append(AttributeName(row.text(0)))
      return true
    }
    for name in names { if let place = places[name] { values[place] = try value(name, of: id) } }
    if let place = places[.id] { values[place] = key }
    return values
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
    let query = QuerySQL(counting: condition, indexes: try knownIndexes())
    var count = 0
    try connection.query(SQL(once: "count users", query.text), query.values) { row in
      count = Int(row.integer(0))
      return true
    }
    return count
  }

  // MARK: Indexes

  func indexes() throws(StoreError) -> [AttributeIndex] {
    let prefix = AttributeIndex.prefix
    let plain = try connection.all(Self.selectIndexes, .text(prefix), .integer(Int64(prefix.utf8.count))) { row in
      AttributeIndex(name: row.text(0), sql: row.text(1))
    }
    let unique = try AttributeIndex.unique(in: connection)
    return (plain.compactMap { $0 } + unique).sorted { $0.attribute < $1.attribute }
  }

  /// The indexes, which are read only when the schema may have changed.
  private func knownIndexes() throws(StoreError) -> Set<AttributeIndex> {
    if let known = knownIndexSet, let version = writingVersion, known.data == version { return known.indexes }
    let version = try connection.first(Self.schemaVersion) { $0.integer(0) } ?? 0
    let indexes = if let known = knownIndexSet, known.schema == version { known.indexes } else { Set(try indexes()) }
    knownIndexSet = (version, writingVersion, indexes)
    return indexes
  }

  /// The unique index of an attribute.
  private func uniqueIndex(on attribute: AttributeName) throws(StoreError) -> AttributeIndex? {
    try knownIndexes().first { $0.isUnique && $0.attribute == attribute }
  }

  func addIndex(_ index: AttributeIndex, while shouldContinue: () -> Bool) throws(StoreError) -> Bool {
    guard shouldContinue() else { throw SessionPool.closed }
    let indexes = try indexes()
    if indexes.contains(index) { return false }
    knownIndexSet = nil
    // In memory, SQLite would sort all values at once.
    // Fails on a connection whose temporary database is open, as after an ALTER TABLE: then the values are sorted in memory.
    try? connection.execute("PRAGMA temp_store = FILE", to: "add an index")
    defer { try? connection.execute("PRAGMA temp_store = MEMORY", to: "add an index") }
    try connection.running(while: shouldContinue) { () throws(StoreError) in
      if index.isUnique {
        try addUnique(index, indexes.filter(\.isUnique))
      } else {
        try connection.execute(index.sql, to: "add an index")
      }
    }
    return true
  }

  private func addUnique(_ index: AttributeIndex, _ others: [AttributeIndex]) throws(StoreError) {
    if try !removeIndex(index), others.count >= AttributeIndex.uniqueLimit { throw index.hasNoRoom }
    // The index first: then the duplicates are found in its order.
    try connection.execute(index.sql, to: "make an attribute unique")
    try index.requireNoDuplicates(eachDuplicate)
    for (object, sql) in index.objects where object.type == "trigger" {
      try connection.execute(sql, to: "make an attribute unique")
    }
    do throws(StoreError) {
      try connection.run(Self.insertRule, .text(index.attribute.text), .integer(index.ignoresCase ? 1 : 0))
    } catch { throw explaining(error) }
  }

  func removeIndex(_ index: AttributeIndex) throws(StoreError) -> Bool {
    let isSame = { (other: AttributeIndex) in other.attribute == index.attribute && other.isUnique == index.isUnique }
    guard let found = try indexes().first(where: isSame) else { return false }
    knownIndexSet = nil
    guard found.isUnique else {
      try connection.execute("DROP INDEX \(found.quotedName)", to: "remove an index")
      return true
    }
    for object in found.objects.keys {
      try connection.execute(
        "DROP \(object.type) IF EXISTS \(object.name.quoted("\""))", to: "remove a unique attribute")
    }
    try connection.run(Self.deleteRule, .text(found.attribute.text))
    return true
  }

  // MARK: Unique attributes

  func holder(of value: StoredValue, _ attribute: AttributeName, besides id: User.ID?) throws(StoreError) -> User.ID? {
    guard let index = try uniqueIndex(on: attribute), attribute.column.canHave(value) else { return nil }
    var holder: User.ID?
    try connection.query(index.holder, [value, id.map { .integer($0.rawValue) } ?? .null]) { row in
      holder = User.ID(row.integer(0))
      return false
    }
    return holder
  }

  func eachDuplicate(of index: AttributeIndex, while body: (StoredValue, [User.ID]) -> Bool) throws(StoreError) {
    try connection.eachDuplicate(of: index, while: body)
  }

  /// The error for a value of a user that SQLite has refused: `notUnique` if a trigger of a unique attribute did.
  func refusal(
    _ error: StoreError, of values: [(attribute: AttributeName, value: StoredValue)], of id: User.ID?
  ) -> StoreError {
    guard let cause = error.cause as? SQLiteError, cause.code.primary == .constraint else { return error }
    if cause.message == SchemaPart.refusal { return explaining(error) }
    if cause.message == SchemaPart.idRefusal {
      return StoreError(
        .badValue, "a user that is added on a replica gets a random negative id", hint: "leave the id out", cause: cause
      )
    }
    for (attribute, value) in values where cause.message == AttributeIndex(on: attribute, .unique).refusal {
      let holder = (try? holder(of: value, attribute, besides: id)) ?? nil
      return .notUnique(attribute, value, of: id, holder: holder)
    }
    return error
  }
}
