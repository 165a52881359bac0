import UserStore

extension PostgresSession {
  private static let selectValues = PostgresStatement(
    "find users",
    """
    SELECT user_id, name, integer, real, text, bytes, raw FROM userstore.attributes
    WHERE user_id = ANY ($1::text::int8[]) AND name IN (SELECT pg_catalog.jsonb_array_elements_text($2::text::jsonb))
    """, .text, .text)
  /// The users whose attributes are read in one round trip.
  private static let pageSize = 1_000

  func eachRow(
    _ request: RowRequest, while body: (_ id: User.ID, _ values: [StoredValue]) -> Bool
  ) throws(StoreError) {
    let further = request.columns.filter { ![.id, .name, .hairColor].contains($0) }
    var (isMore, limit) = (true, request.limit)
    for part in request.parts where isMore {
      let query = PostgresQuerySQL(part, limit: limit)
      let statement = PostgresStatement(
        purpose: "find users", text: query.text, types: query.types, effect: .none, index: -1)
      var page: [(id: User.ID, name: StoredValue, hairColor: StoredValue)] = []
      func deliver() throws(StoreError) {
        let values = try self.values(of: page.map(\.id), further)
        for user in page where isMore {
          limit? -= 1
          let row = request.columns.map { attribute in
            switch attribute {
            case .id: StoredValue.integer(user.id.rawValue)
            case .name: user.name
            case .hairColor: user.hairColor
            default: values[user.id]?[attribute] ?? .null
            }
          }
          isMore = body(user.id, row) && limit != 0
        }
        page = []
      }
      var failure: StoreError?
      try scan(statement, query.values) { row throws(PostgresError) in
        page.append((User.ID(try row.int8(0)), try row.textValue(1), try row.textValue(2)))
        if page.count < (further.isEmpty ? 1 : Self.pageSize) { return true }
        do throws(StoreError) { try deliver() } catch { failure = error }
        return isMore && failure == nil
      }
      if let failure { throw failure }
      try deliver()
    }
  }

  /// The values of some attributes of some users.
  private func values(
    of users: [User.ID], _ attributes: [AttributeName]
  ) throws(StoreError) -> [User.ID: [AttributeName: StoredValue]] {
    if users.isEmpty || attributes.isEmpty { return [:] }
    let ids = "{" + users.map { "\($0)" }.joined(separator: ",") + "}"
    // Names have no control characters.
    let names = attributes.map { "\"" + $0.text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\"" }
    let result = try run(Self.selectValues, .text(ids), .text("[" + names.joined(separator: ",") + "]"))
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
    let result = try pipeline { batch throws(PostgresError) in try batch.add(statement, query.values) }
    return try decoding { () throws(PostgresError) in Int(try result.first?.int8(0) ?? 0) }
  }

  // MARK: Indexes

  /// The comment of each index of an attribute ends with the attribute's name.
  private static let mark = "userstore: the values of "
  private static let selectIndexes = PostgresStatement(
    "read the indexes",
    """
    SELECT DISTINCT substr(description, length($1) + 1) COLLATE "C" FROM pg_catalog.pg_index i
    JOIN pg_catalog.pg_description d ON d.objoid = i.indexrelid AND d.classoid = 'pg_catalog.pg_class'::regclass
    WHERE i.indrelid = 'userstore.attributes'::regclass AND starts_with(description, $1) ORDER BY 1
    """, .text)
  private static let selectIndexNames = PostgresStatement(
    "read the indexes",
    """
    SELECT indexrelid::regclass::text FROM pg_catalog.pg_index i
    JOIN pg_catalog.pg_description d ON d.objoid = i.indexrelid AND d.classoid = 'pg_catalog.pg_class'::regclass
    WHERE i.indrelid = 'userstore.attributes'::regclass AND description = $1
    """, .text)

  func indexes() throws(StoreError) -> [AttributeName] {
    try all(Self.selectIndexes, .text(Self.mark)) { row throws(PostgresError) in AttributeName(try row.text(0)) }
  }

  /// Needs the rights of the owner of the tables.
  func addIndex(on attribute: AttributeName, while shouldContinue: () -> Bool) throws(StoreError) -> Bool {
    if try indexes().contains(attribute) { return false }
    guard shouldContinue() else { throw StoreError(.closed, "the store is closed") }
    let name = attribute.text.quoted
    // Each column has an index of its own: a condition compares the columns of one class.
    for column in ["integer", "real", "text"] {
      let index = "attribute_\(UInt64.random(in: 0 ... .max))_\(column)"
      try execute(
        """
        CREATE INDEX \(index) ON userstore.attributes (\(column), user_id) WHERE name = \(name) AND \(column) IS NOT NULL;
        COMMENT ON INDEX userstore.\(index) IS \((Self.mark + attribute.text).quoted)
        """, to: "add an index")
    }
    return true
  }

  func removeIndex(on attribute: AttributeName) throws(StoreError) -> Bool {
    let names = try all(Self.selectIndexNames, .text(Self.mark + attribute.text)) { row throws(PostgresError) in
      try row.text(0)
    }
    for name in names { try execute("DROP INDEX \(name)", to: "remove an index") }
    return !names.isEmpty
  }
}

extension String {
  /// The text as a literal.
  fileprivate var quoted: String { "'" + replacing("'", with: "''") + "'" }
}
