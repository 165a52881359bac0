import UserStore

extension PostgresSession {
  private static let values = """
    SELECT user_id, name, \(attributeColumns) FROM userstore.attributes
    WHERE user_id = ANY ($1::text::int8[]) AND name IN (SELECT pg_catalog.jsonb_array_elements_text($2::text::jsonb))
    """
  private static let selectValues = PostgresStatement("find users", values, .text, .text)
  private static let selectAllValues = PostgresStatement(
    "find users",
    "SELECT user_id, name, \(attributeColumns) FROM userstore.attributes WHERE user_id = ANY ($1::text::int8[])", .text)
  // These lock for the same reason as `lockUser` and `lockAttributes`.
  private static let lockUsers = PostgresStatement(
    "find users",
    "SELECT id, name, hair_color FROM userstore.users WHERE id = ANY ($1::text::int8[]) ORDER BY id FOR UPDATE", .text)
  private static let lockValues = PostgresStatement(
    "find users", values + " ORDER BY user_id, name FOR UPDATE", .text, .text)
  private static let lockAllValues = PostgresStatement(
    "find users",
    """
    SELECT user_id, name, \(attributeColumns) FROM userstore.attributes
    WHERE user_id = ANY ($1::text::int8[]) ORDER BY user_id, name FOR UPDATE
    """, .text)
  private static let pageSize = 1_000

  /// In a write, users and the values that are read are locked: what was read must not change before the commit.
  func eachRow(
    _ request: RowRequest, while body: (_ id: User.ID, _ values: [StoredValue]) -> Bool
  ) throws(StoreError) {
    let further = request.columns.filter { ![.id, .name, .hairColor].contains($0) }
    let isLocking = write != nil && !request.columns.isEmpty
    func rows(_ page: [User]) throws(StoreError) -> [(id: User.ID, values: [StoredValue])] {
      let page = isLocking ? try locked(page) : page
      let values = try self.values(of: page.map(\.id), further)
      return page.map { user in
        let row = request.columns.map { attribute in
          switch attribute {
          case .id: StoredValue.integer(user.id.rawValue)
          case .name, .hairColor: user[stored: attribute] ?? .null
          default: values[user.id]?[attribute] ?? .null
          }
        }
        return (user.id, row)
      }
    }
    try eachPage(of: further.isEmpty && !isLocking ? 1 : Self.pageSize, request, read: rows) { body($0.id, $0.values) }
  }

  func eachUser(_ request: RowRequest, while body: (User) -> Bool) throws(StoreError) {
    try eachPage(of: Self.pageSize, request, read: users, while: body)
  }

  /// Passes up to `size` users at once, without further attributes, to `read`, and each of its results to `body`, until that
  /// returns false.
  private func eachPage<Row>(
    of size: Int, _ request: RowRequest, read: ([User]) throws(StoreError) -> [Row], while body: (Row) -> Bool
  ) throws(StoreError) {
    var (isMore, limit) = (true, request.limit)
    for part in request.parts where isMore {
      let query = PostgresQuerySQL(part, limit: limit, uniqueKeys: uniqueKeys.keys ?? [:])
      var page: [User] = []
      var failure: StoreError?
      func deliver() {
        limit = limit.map { $0 - page.count }
        do throws(StoreError) { isMore = try read(page).allSatisfy(body) && limit != 0 } catch {
          (failure, isMore) = (error, false)
        }
        page = []
      }
      try scan(query.statement(to: "find users"), query.values) { row in
        page.append(User(row))
        if page.count == size { deliver() }
        return isMore
      }
      if !page.isEmpty { deliver() }
      if let failure { throw failure }
    }
  }

  /// Returns users as they are when they are locked, without those that were removed before.
  private func locked(_ found: [User]) throws(StoreError) -> [User] {
    let locked = try run(Self.lockUsers, .text(Self.list(found.map(\.id.rawValue)))).all { User($0) }
    let users = Dictionary(locked.map { ($0.id, $0) }) { $1 }
    return found.compactMap { users[$0.id] }
  }

  /// Returns users with all attributes; in a write, omits those that were removed before they could be locked.
  private func users(_ found: [User]) throws(StoreError) -> [User] {
    let ids = PostgresValue.text(Self.list(found.map(\.id.rawValue)))
    let isWriting = write != nil
    let (locked, values) = try pipeline { batch in
      let locked = isWriting ? batch.add(Self.lockUsers, ids) : nil
      return (locked, batch.add(isWriting ? Self.lockAllValues : Self.selectAllValues, ids))
    }
    let present = try locked?.all { User($0) } ?? found
    var users = Dictionary(present.map { ($0.id, $0) }) { $1 }
    try values.each { row in
      users[User.ID(row.int8(0))]?.collect(row, 1)
      return true
    }
    return found.compactMap { users[$0.id] }
  }

  /// The text of an array.
  static func list(_ numbers: some Sequence<Int64>) -> String {
    "{" + numbers.map { "\($0)" }.joined(separator: ",") + "}"
  }

  private func values(
    of users: [User.ID], _ attributes: [AttributeName]
  ) throws(StoreError) -> [User.ID: [AttributeName: StoredValue]] {
    if users.isEmpty || attributes.isEmpty { return [:] }
    let names = JSON.list(attributes.map { .text($0.text) }).description
    let statement = write == nil ? Self.selectValues : Self.lockValues
    let result = try run(statement, .text(Self.list(users.map(\.rawValue))), .text(names))
    var values: [User.ID: [AttributeName: StoredValue]] = [:]
    try result.each { row in
      values[User.ID(row.int8(0)), default: [:]][AttributeName(row.text(1))] = row.value(2)
      return true
    }
    return values
  }

  func userCount(where condition: Condition) throws(StoreError) -> Int {
    let query = PostgresQuerySQL(counting: condition, uniqueKeys: uniqueKeys.keys ?? [:])
    var count = 0
    // With a cursor, the query is planned for these values instead of generically.
    try scan(query.statement(to: "count users"), query.values) { row in
      count = Int(row.int8(0))
      return true
    }
    return count
  }

  // MARK: Indexes

  private static let selectIndexes = PostgresStatement("read the indexes", "SELECT attribute FROM userstore.indexes()")
  private static let createIndex = PostgresStatement("add an index", "SELECT userstore.create_index($1)", .text)
  private static let dropIndex = PostgresStatement("remove an index", "SELECT userstore.drop_index($1)", .text)

  private static let createUnique = PostgresStatement(
    "make an attribute unique", "SELECT userstore.create_unique($1, $2)", .text, .bool)
  private static let dropUnique = PostgresStatement(
    "remove a unique attribute", "SELECT userstore.drop_unique($1)", .text)

  func indexes() throws(StoreError) -> [AttributeIndex] {
    let plain = try all(Self.selectIndexes) { AttributeIndex(on: AttributeName($0.text(0))) }
    return (plain + (try uniqueIndexes())).sorted { $0.attribute < $1.attribute }
  }

  func addIndex(_ index: AttributeIndex, while shouldContinue: () -> Bool) throws(StoreError) -> Bool {
    guard shouldContinue() else { throw SessionPool.closed }
    let isNew = try index.isUnique ? addUnique(index) : change(Self.createIndex, index.attribute)
    // The caller rolls back.
    guard shouldContinue() else { throw SessionPool.closed }
    return isNew
  }

  private func addUnique(_ index: AttributeIndex) throws(StoreError) -> Bool {
    // The server's error would name one value.
    try index.requireNoDuplicates(eachDuplicate)
    uniqueKeys.forget()
    do throws(StoreError) {
      return try all(Self.createUnique, .text(index.attribute.text), .bool(index.ignoresCase)) { $0.bool(0) }.first
        == true
    } catch {
      switch error.postgres?.sqlState?.rawValue {
      case "23505":
        throw StoreError(
          .notUnique,
          "“\(index.attribute.text.excerpt)” cannot be unique: another program has just given several users the same value",
          hint: "try again to see it", cause: error.cause)
      case "53400": throw index.hasNoRoom
      case SQLState.undefinedFunction.rawValue: throw .needsMigration("unique attributes", error)
      default: throw error
      }
    }
  }

  func removeIndex(_ index: AttributeIndex) throws(StoreError) -> Bool {
    guard index.isUnique else { return try change(Self.dropIndex, index.attribute) }
    guard try uniqueIndexes().contains(where: { $0.attribute == index.attribute }) else { return false }
    uniqueKeys.forget()
    return try change(Self.dropUnique, index.attribute)
  }

  private func change(_ statement: PostgresStatement, _ attribute: AttributeName) throws(StoreError) -> Bool {
    try all(statement, .text(attribute.text)) { $0.bool(0) }.first == true
  }
}
