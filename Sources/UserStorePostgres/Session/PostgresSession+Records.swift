import UserStore

extension PostgresSession {
  static let attributeColumns = "integer, real, text, bytes, raw"
  private static let selectUser = PostgresStatement(
    "read a user", "SELECT id, name, hair_color FROM userstore.users WHERE id = $1", .int8)
  private static let selectAttributes = PostgresStatement(
    "read a user", "SELECT name, \(attributeColumns) FROM userstore.attributes WHERE user_id = $1", .int8)
  // In a write, what was read must not change before the commit. Other programs do not wait for the lock on `writers`, so rows
  // are locked. A missing attribute cannot be added while its user is locked, because the foreign key also locks the user.
  private static let lockUser = PostgresStatement(
    "read a user", "SELECT id, name, hair_color FROM userstore.users WHERE id = $1 FOR UPDATE", .int8)
  private static let lockAttributes = PostgresStatement(
    "read a user", "SELECT name, \(attributeColumns) FROM userstore.attributes WHERE user_id = $1 FOR UPDATE", .int8)
  private static let selectAttributeNames = PostgresStatement(
    "read attribute names", "SELECT DISTINCT name FROM userstore.attributes ORDER BY name")
  private static let selectAttribute = PostgresStatement(
    "read an attribute",
    "SELECT \(attributeColumns) FROM userstore.attributes WHERE user_id = $1 AND name = $2", .int8, .text)
  private static let lockAttribute = PostgresStatement(
    "read an attribute",
    "SELECT \(attributeColumns) FROM userstore.attributes WHERE user_id = $1 AND name = $2 FOR UPDATE", .int8, .text)

  private static let insertUser = PostgresStatement(
    "add a user", "INSERT INTO userstore.users (name, hair_color) VALUES ($1, $2) RETURNING id", .text, .text)
  // A failed statement would end the transaction.
  private static let insertUserWithID = PostgresStatement(
    "add a user",
    "INSERT INTO userstore.users (id, name, hair_color) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING RETURNING id",
    .int8, .text, .text)
  private static let deleteUser = PostgresStatement(
    "remove a user", "DELETE FROM userstore.users WHERE id = $1", .int8)
  private static let updateName = PostgresStatement(
    "set a name", "UPDATE userstore.users SET name = $2 WHERE id = $1 AND name IS DISTINCT FROM $2", .int8, .text)
  private static let updateHairColor = PostgresStatement(
    "set a hair color",
    "UPDATE userstore.users SET hair_color = $2 WHERE id = $1 AND hair_color IS DISTINCT FROM $2", .int8, .text)
  // Compares values by their bytes: 1 and 1.0 are in different columns, and -0.0 is not stored.
  private static let putAttribute = PostgresStatement(
    "set an attribute", putText(), types: [.int8, .text] + StoredValue.types)
  private static let insertAttribute = PostgresStatement(
    "set an attribute",
    "INSERT INTO userstore.attributes (user_id, name, \(attributeColumns)) VALUES ($1, $2, $3, $4, $5, $6, $7)",
    .int8, .text, .int8, .float8, .text, .bytea, .bytea)
  private static let deleteAttribute = PostgresStatement(
    "unset an attribute", "DELETE FROM userstore.attributes WHERE user_id = $1 AND name = $2", .int8, .text)
  private static let hasUser = PostgresStatement(
    "read a user", "SELECT 1::int8 FROM userstore.users WHERE id = $1", .int8)

  /// Sets an attribute of user $1, unless a condition is true.
  static func putText(unless condition: String? = nil) -> String {
    """
    INSERT INTO userstore.attributes AS a (user_id, name, \(attributeColumns))
    SELECT u.id, $2, $3, $4, $5, $6, $7 FROM userstore.users u WHERE u.id = $1\(condition.map { " AND NOT \($0)" } ?? "") FOR KEY SHARE
    ON CONFLICT (user_id, name) DO UPDATE SET (\(attributeColumns)) = ROW (EXCLUDED.integer, EXCLUDED.real, EXCLUDED.text,
      EXCLUDED.bytes, EXCLUDED.raw)
    WHERE (a.integer, a.real, a.text, a.bytes, a.raw)
      IS DISTINCT FROM (EXCLUDED.integer, EXCLUDED.real, EXCLUDED.text, EXCLUDED.bytes, EXCLUDED.raw)
    """
  }

  // MARK: Reading

  func user(_ id: User.ID) throws(StoreError) -> User? {
    let isWriting = write != nil
    let (users, attributes) = try pipeline { batch in
      (
        batch.add(isWriting ? Self.lockUser : Self.selectUser, .int8(id.rawValue)),
        batch.add(isWriting ? Self.lockAttributes : Self.selectAttributes, .int8(id.rawValue))
      )
    }
    guard var user = try users.first(make: { User($0) }) else { return nil }
    try attributes.each { row in
      user.collect(row, 0)
      return true
    }
    return user
  }

  func attributeNames() throws(StoreError) -> [AttributeName] {
    try all(Self.selectAttributeNames) { AttributeName($0.text(0)) }
  }

  func value(_ attribute: AttributeName, of id: User.ID) throws(StoreError) -> StoredValue {
    let isWriting = write != nil
    if attribute == .name || attribute == .hairColor {
      let column = attribute == .name ? 1 : 2
      let user = try run(isWriting ? Self.lockUser : Self.selectUser, .int8(id.rawValue))
      return try user.first { $0.textValue(column) } ?? .null
    }
    if attribute.text.utf8.contains(0) { return .null }
    let result = try pipeline { batch in
      if isWriting { batch.add(Self.lockUser, .int8(id.rawValue)) }
      return batch.add(
        isWriting ? Self.lockAttribute : Self.selectAttribute, .int8(id.rawValue), .text(attribute.text))
    }
    return try result.first { $0.value(0) } ?? .null
  }

  // MARK: Writing

  func insertUser(_ id: User.ID?, name: StoredValue, hairColor: StoredValue) throws(StoreError) -> User.ID {
    let values = [(attribute: AttributeName.name, value: name), (.hairColor, hairColor)]
    let (name, hairColor) = (try name.textColumn(of: .name), try hairColor.textColumn(of: .hairColor))
    for (attribute, value) in values where !value.isNull {
      if let holder = try holder(of: value, attribute, besides: id) {
        throw .notUnique(attribute, value, of: id, holder: holder)
      }
    }
    write?.mayHaveLogged = true
    do throws(StoreError) {
      guard let id else {
        let new = try first(Self.insertUser, name, hairColor) { $0.int8(0) }
        guard let new else { throw StoreError(.unexpected, "the server added no user") }
        return User.ID(new)
      }
      let result = try run(Self.insertUserWithID, .int8(id.rawValue), name, hairColor)
      guard result.count == 1 else { throw StoreError(.conflict, "user \(id) exists") }
      return id
    } catch { throw refusal(error, of: values, of: id) }
  }

  func insert(_ attribute: AttributeName, of id: User.ID, _ value: StoredValue) throws(StoreError) {
    let name = try attribute.writtenName
    write?.mayHaveLogged = true
    do throws(StoreError) {
      try pipeline { _ = $0.add(Self.insertAttribute, [.int8(id.rawValue), name] + value.columns) }
    } catch { throw refusal(error, of: [(attribute, value)], of: id) }
  }

  func put(_ attribute: AttributeName, of id: User.ID, _ value: StoredValue) throws(StoreError) -> PutResult {
    let isBuiltIn = attribute == .name || attribute == .hairColor
    let (name, text) = (try attribute.writtenName, isBuiltIn ? try value.textColumn(of: attribute) : .null)
    let uniqueKey = value.isNull ? nil : try uniqueKey(of: attribute)
    write?.mayHaveLogged = true
    let changed: PostgresResult
    let key = PostgresValue.int8(id.rawValue)
    do throws(StoreError) {
      changed =
        switch attribute {
        case .name: try run(uniqueKey?.put ?? Self.updateName, key, text)
        case .hairColor: try run(uniqueKey?.put ?? Self.updateHairColor, key, text)
        case _ where value.isNull: try run(Self.deleteAttribute, key, name)
        default: try pipeline { $0.add(uniqueKey?.put ?? Self.putAttribute, [key, name] + value.columns) }
        }
    } catch { throw refusal(error, of: [(attribute, value)], of: id) }
    if changed.affectedRows > 0 { return .changed }
    // Asked only now: nearly every write changes something.
    if try run(Self.hasUser, key).count == 0 { return .noUser }
    guard uniqueKey != nil, let holder = try holder(of: value, attribute, besides: id) else { return .unchanged }
    // Another program may have made the attribute not unique meanwhile.
    if uniqueKeys.note(try uniqueIndexes())[attribute] == nil { return try put(attribute, of: id, value) }
    throw .notUnique(attribute, value, of: id, holder: holder)
  }

  func removeUser(_ id: User.ID) throws(StoreError) -> Bool {
    write?.mayHaveLogged = true
    do throws(StoreError) { return try run(Self.deleteUser, .int8(id.rawValue)).affectedRows > 0 } catch {
      // The schema's own keys and checks do not forbid it.
      guard let cause = error.postgres, cause.violatesConstraint else { throw error }
      throw .stillReferenced(id, cause, reason: cause.violatesKey ? cause.constraint : cause.message)
    }
  }
}

extension UserStore.User {
  /// Creates a user without further attributes from the columns id, name, and hair color.
  init(_ row: PostgresRow) {
    let hairColor = row.textValue(2)
    self.init(
      id: ID(row.int8(0)), name: row.textValue(1), hairColor: hairColor.isNull ? nil : hairColor)
  }

  /// Adds an attribute from the column of its name and the five columns of its value.
  mutating func collect(_ row: PostgresRow, _ column: Int) {
    self[stored: AttributeName(row.text(column))] = row.value(column + 1)
  }
}
