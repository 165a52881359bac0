extension SQLiteSession {
  private static let columns = """
    SELECT users.id, users.name, users.hair_color, attributes.name, attributes.value
    FROM users LEFT JOIN attributes ON attributes.user_id = users.id
    """
  private static let selectUser = SQL("read a user", columns + " WHERE users.id = ?1")
  private static let selectUsers = SQL("read the users", columns + " ORDER BY users.id")
  private static let selectAttributeNames = SQL("read attribute names", "SELECT DISTINCT name FROM attributes")
  private static let selectName = SQL("read a name", "SELECT name FROM users WHERE id = ?1")
  private static let selectHairColor = SQL("read a hair color", "SELECT hair_color FROM users WHERE id = ?1")
  private static let selectAttribute = SQL(
    "read an attribute", "SELECT value FROM attributes WHERE user_id = ?1 AND name = ?2")

  // SQLite replaces a null id with the next one.
  private static let insertUser = SQL("add a user", "INSERT INTO users (id, name, hair_color) VALUES (?1, ?2, ?3)")
  /// Selects the largest id ever used, by the users or by sqlite_sequence, and the user that has the largest id there is.
  static let largestID = SQL(
    "add a user",
    """
    SELECT max(coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'users'), 0), coalesce((SELECT max(id) FROM users), 0)),
      (SELECT id FROM users WHERE id = \(Int64.max))
    """)
  static let noIDLeft =
    "no id is left for a new user: another program used the largest id, \(Int64.max); remove that user if it exists, and set the number for users in the table sqlite_sequence to the largest id in use"
  private static let deleteUser = SQL("remove a user", "DELETE FROM users WHERE id = ?1")
  // These skip rows that already have the value, so that the number of changed rows shows whether anything changed.
  private static let updateName = SQL("set a name", "UPDATE users SET name = ?2 WHERE id = ?1 AND name IS NOT ?2")
  private static let updateHairColor = SQL(
    "set a hair color", "UPDATE users SET hair_color = ?2 WHERE id = ?1 AND hair_color IS NOT ?2")
  private static let updateAttribute = SQL(
    "set an attribute",
    """
    UPDATE attributes SET value = ?3
    WHERE user_id = ?1 AND name = ?2 AND (value IS NOT ?3 OR typeof(value) IS NOT typeof(?3))
    """)
  private static let insertAttribute = SQL(
    "set an attribute", "INSERT INTO attributes (user_id, name, value) VALUES (?1, ?2, ?3)")
  private static let deleteAttribute = SQL(
    "unset an attribute", "DELETE FROM attributes WHERE user_id = ?1 AND name = ?2")

  // MARK: Reading

  func user(_ id: User.ID) throws(StoreError) -> User? {
    var user: User?
    try connection.each(Self.selectUser, .integer(id.rawValue)) { row in
      User.collect(row, into: &user)
      return true
    }
    return user
  }

  /// Calls `body` with every user: with one statement, and not one for each user.
  func eachUser(while body: (User) -> Bool) throws(StoreError) {
    var current: User?
    var shouldContinue = true
    try connection.each(Self.selectUsers) { row in
      if let user = current, user.id.rawValue != row.integer(0) {
        shouldContinue = body(user)
        current = nil
      }
      if shouldContinue { User.collect(row, into: &current) }
      return shouldContinue
    }
    if shouldContinue, let current { _ = body(current) }
  }

  func attributeNames() throws(StoreError) -> [AttributeName] {
    // Not sorted by SQLite, which would sort the names of all rows before it removes duplicates.
    try connection.all(Self.selectAttributeNames) { AttributeName($0.text(0)) }.sorted()
  }

  func value(_ attribute: AttributeName, of id: User.ID) throws(StoreError) -> StoredValue {
    let key = StoredValue.integer(id.rawValue)
    return switch attribute {
    case .name: try connection.first(Self.selectName, key) { $0.value(0) } ?? .null
    case .hairColor: try connection.first(Self.selectHairColor, key) { $0.value(0) } ?? .null
    default: try connection.first(Self.selectAttribute, key, .text(attribute.text)) { $0.value(0) } ?? .null
    }
  }

  // MARK: Writing

  func insertUser(_ id: User.ID?, name: StoredValue, hairColor: StoredValue) throws(StoreError) -> User.ID {
    do { try connection.run(Self.insertUser, id.map { .integer($0.rawValue) } ?? .null, name, hairColor) } catch {
      // A replica: only the server counts on.
      if id == nil, (error.cause as? SQLiteError)?.message == SchemaPart.idRefusal {
        return try insertUser(User.ID(.random(in: -1 << 62 ... -1)), name: name, hairColor: hairColor)
      }
      let error = refusal(error, of: [(.name, name), (.hairColor, hairColor)], of: id)
      // SQLite reports a full disk also if no id is left.
      guard error.code == .diskFull, try connection.first(Self.largestID, make: { $0.integer(0) }) == Int64.max else {
        throw error
      }
      throw StoreError(.corrupt, "cannot add a user: \(Self.noIDLeft)", cause: error.cause)
    }
    return User.ID(connection.lastInsertedRow)
  }

  func insert(_ attribute: AttributeName, of id: User.ID, _ value: StoredValue) throws(StoreError) {
    do { try connection.run(Self.insertAttribute, .integer(id.rawValue), .text(attribute.text), value) } catch {
      throw refusal(error, of: [(attribute, value)], of: id)
    }
  }

  func put(_ attribute: AttributeName, of id: User.ID, _ value: StoredValue) throws(StoreError) -> PutResult {
    let key = StoredValue.integer(id.rawValue)
    do {
      switch attribute {
      case .name: try connection.run(Self.updateName, key, value)
      case .hairColor: try connection.run(Self.updateHairColor, key, value)
      case _ where value.isNull: try connection.run(Self.deleteAttribute, key, .text(attribute.text))
      default: try connection.run(Self.updateAttribute, key, .text(attribute.text), value)
      }
    } catch { throw refusal(error, of: [(attribute, value)], of: id) }
    if connection.changedRows > 0 { return .changed }
    if try self.value(.name, of: id).isNull { return .noUser }
    if attribute == .name || attribute == .hairColor || value.isNull { return .unchanged }
    if try !self.value(attribute, of: id).isNull { return .unchanged }
    try insert(attribute, of: id, value)
    return .changed
  }

  func removeUser(_ id: User.ID) throws(StoreError) -> Bool {
    do throws(StoreError) { try connection.run(Self.deleteUser, .integer(id.rawValue)) } catch {
      // The library's own tables and triggers have no constraint that a removal violates.
      guard let cause = error.cause as? SQLiteError, cause.code.primary == .constraint else { throw error }
      if cause.message == SchemaPart.refusal { throw explaining(error) }
      throw .stillReferenced(id, cause, reason: cause.message == SQLiteError.violatedKey ? nil : cause.message)
    }
    if connection.changedRows == 0 { return false }
    hasRemovedUsers = true
    return true
  }
}

extension UserStore.User {
  /// Adds a row of `selectUser` or `selectUsers` to its user.
  fileprivate static func collect(_ row: borrowing Statement, into user: inout User?) {
    if user == nil {
      let hairColor = row.value(2)
      user = User(id: ID(row.integer(0)), name: row.value(1), hairColor: hairColor.isNull ? nil : hairColor)
    }
    if row.isNull(3) { return }
    let attribute = AttributeName(row.text(3))
    // A CHECK forbids these names as attributes, but any program can turn CHECKs off. The columns count everywhere else.
    if attribute != .name, attribute != .hairColor { user?[stored: attribute] = row.value(4) }
  }
}
