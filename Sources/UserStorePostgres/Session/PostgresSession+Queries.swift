import UserStore

extension PostgresSession {
  private static let selectValues = PostgresStatement(
    "find users",
    """
    SELECT user_id, name, \(attributeColumns) FROM userstore.attributes
    WHERE user_id = ANY ($1::text::int8[]) AND name IN (SELECT pg_catalog.jsonb_array_elements_text($2::text::jsonb))
    """, .text, .text)
  private static let selectAllValues = PostgresStatement(
    "find users",
    "SELECT user_id, name, \(attributeColumns) FROM userstore.attributes WHERE user_id = ANY ($1::text::int8[])", .text)
  // As `lockUser` and `lockAttributes`.
  private static let lockUsers = PostgresStatement(
    "find users",
    "SELECT id, name, hair_color FROM userstore.users WHERE id = ANY ($1::text::int8[]) ORDER BY id FOR UPDATE", .text)
  private static let lockAllValues = PostgresStatement(
    "find users",
    """
    SELECT user_id, name, \(attributeColumns) FROM userstore.attributes
    WHERE user_id = ANY ($1::text::int8[]) ORDER BY user_id, name FOR UPDATE
    """, .text)
  /// The users whose attributes are read in one round trip.
  private static let pageSize = 1_000

  /// In a write, whole users are read, which are locked: what was read must not change before the commit.
  func eachRow(
    _ request: RowRequest, while body: (_ id: User.ID, _ values: [StoredValue]) -> Bool
  ) throws(StoreError) {
    if write != nil, !request.columns.isEmpty {
      return try eachUser(request) { user in
        body(user.id, request.columns.map { $0 == .id ? .integer(user.id.rawValue) : user[stored: $0] ?? .null })
      }
    }
    let further = request.columns.filter { ![.id, .name, .hairColor].contains($0) }
    try eachPage(of: further.isEmpty ? 1 : Self.pageSize, request) { page throws(StoreError) in
      let values = try self.values(of: page.map(\.id), further)
      return page.allSatisfy { user in
        let row = request.columns.map { attribute in
          switch attribute {
          case .id: StoredValue.integer(user.id.rawValue)
          case .name, .hairColor: user[stored: attribute] ?? .null
          default: values[user.id]?[attribute] ?? .null
          }
        }
        return body(user.id, row)
      }
    }
  }

  func eachUser(_ request: RowRequest, while body: (User) -> Bool) throws(StoreError) {
    try eachPage(of: Self.pageSize, request) { page throws(StoreError) in
      let users = try self.users(page)
      return page.allSatisfy { user in users[user.id].map(body) ?? true }
    }
  }

  /// Calls `body` with the users of a request, without further attributes, up to `size` at once, until it returns false.
  private func eachPage(
    of size: Int, _ request: RowRequest, while body: ([User]) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var (isMore, limit) = (true, request.limit)
    for part in request.parts where isMore {
      let query = PostgresQuerySQL(part, limit: limit)
      let statement = PostgresStatement(
        purpose: "find users", text: query.text, types: query.types, effect: .none, index: -1)
      var page: [User] = []
      var failure: StoreError?
      func deliver() {
        limit = limit.map { $0 - page.count }
        do throws(StoreError) { isMore = try body(page) && limit != 0 } catch { (failure, isMore) = (error, false) }
        page = []
      }
      try scan(statement, query.values) { row throws(PostgresError) in
        page.append(try User(row))
        if page.count == size { deliver() }
        return isMore
      }
      if !page.isEmpty { deliver() }
      if let failure { throw failure }
    }
  }

  /// Returns users with all attributes; in a write, those that still exist when they are locked.
  private func users(_ found: [User]) throws(StoreError) -> [User.ID: User] {
    let ids = PostgresValue.text(Self.list(found.map(\.id)))
    let isWriting = write != nil
    let (locked, values) = try pipeline { batch throws(PostgresError) in
      let locked = isWriting ? try batch.add(Self.lockUsers, ids) : nil
      return (locked, try batch.add(isWriting ? Self.lockAllValues : Self.selectAllValues, ids))
    }
    return try decoding { () throws(PostgresError) in
      var users: [User.ID: User] = [:]
      if let locked {
        try locked.each { row throws(PostgresError) in
          users[User.ID(try row.int8(0))] = try User(row)
          return true
        }
      } else {
        for user in found { users[user.id] = user }
      }
      try values.each { row throws(PostgresError) in
        try users[User.ID(try row.int8(0))]?.collect(row, 1)
        return true
      }
      return users
    }
  }

  private static func list(_ ids: [User.ID]) -> String { "{" + ids.map { "\($0)" }.joined(separator: ",") + "}" }

  /// The values of some attributes of some users.
  private func values(
    of users: [User.ID], _ attributes: [AttributeName]
  ) throws(StoreError) -> [User.ID: [AttributeName: StoredValue]] {
    if users.isEmpty || attributes.isEmpty { return [:] }
    // Names have no control characters.
    let names = attributes.map { "\"" + $0.text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\"" }
    let result = try run(Self.selectValues, .text(Self.list(users)), .text("[" + names.joined(separator: ",") + "]"))
    return try decoding { () throws(PostgresError) in
      var values: [User.ID: [AttributeName: StoredValue]] = [:]
      try result.each { row throws(PostgresError) in
        values[User.ID(try row.int8(0)), default: [:]][AttributeName(try row.text(1))] = try row.value(2)
        return true
      }
      return values
    }
  }

  func userCount(where condition: Condition) throws(StoreError) -> Int {
    let query = PostgresQuerySQL(counting: condition)
    let statement = PostgresStatement(
      purpose: "count users", text: query.text, types: query.types, effect: .none, index: -1)
    var count = 0
    // With a cursor: otherwise the plan would be that for any values.
    try scan(statement, query.values) { row throws(PostgresError) in
      count = Int(try row.int8(0))
      return true
    }
    return count
  }

  // MARK: Indexes

  private static let selectIndexes = PostgresStatement("read the indexes", "SELECT attribute FROM userstore.indexes()")
  private static let createIndex = PostgresStatement("add an index", "SELECT userstore.create_index($1)", .text)
  private static let dropIndex = PostgresStatement("remove an index", "SELECT userstore.drop_index($1)", .text)

  func indexes() throws(StoreError) -> [AttributeName] {
    try all(Self.selectIndexes) { row throws(PostgresError) in AttributeName(try row.text(0)) }
  }

  func addIndex(on attribute: AttributeName, while shouldContinue: () -> Bool) throws(StoreError) -> Bool {
    guard shouldContinue() else { throw SessionPool.closed }
    let isNew = try change(Self.createIndex, attribute)
    // The caller rolls back.
    guard shouldContinue() else { throw SessionPool.closed }
    return isNew
  }

  func removeIndex(on attribute: AttributeName) throws(StoreError) -> Bool { try change(Self.dropIndex, attribute) }

  private func change(_ statement: PostgresStatement, _ attribute: AttributeName) throws(StoreError) -> Bool {
    try all(statement, .text(attribute.text)) { row throws(PostgresError) in try row.bool(0) }.first == true
  }
}
