extension Transaction where Mode == Reading {
  /// The end of the log in this state of the store.
  ///
  /// Changes after it are those that come after what is read here.
  ///
  /// - Throws: what reading can throw.
  public var cursor: Cursor {
    mutating get throws(StoreError) { try ChangeLog.head(lease.connection) }
  }
}

extension Transaction {
  /// Reads a user.
  ///
  /// - Parameter id: Which one.
  /// - Returns: the user; nil when nobody has the id.
  /// - Throws: what reading can throw.
  public mutating func user(_ id: User.ID) throws(StoreError) -> User? {
    var found: User?
    try perform("read user \(id)") { connection throws(SQLiteError) in
      try connection.withStatement(RecordSQL.user) { statement throws(SQLiteError) in
        try statement.bind(id.rawValue, at: 1)
        while try statement.step() { User.collect(statement, into: &found) }
      }
    }
    return found
  }

  /// Calls `body` with every user, in the order of their ids, one at a time in memory.
  ///
  /// - Parameter body: What it throws ends the reading and is thrown on.
  /// - Throws: what reading can throw, and what `body` throws.
  public mutating func forEachUser(_ body: (User) throws -> Void) throws {
    var failure: (any Error)?
    try perform("read the users") { connection throws(SQLiteError) in
      try connection.withStatement(RecordSQL.users) { statement throws(SQLiteError) in
        var present: User?
        while failure == nil, try statement.step() {
          if let user = present, user.id.rawValue != statement.integer(0) {
            do { try body(user) } catch { failure = error }
            present = nil
          }
          User.collect(statement, into: &present)
        }
        if failure == nil, let present {
          do { try body(present) } catch { failure = error }
        }
      }
    }
    if let failure { throw failure }
  }

  /// All users, in the order of their ids.
  ///
  /// - Returns: all of them in memory; `forEachUser` is for a store of millions.
  /// - Throws: what reading can throw.
  public mutating func users() throws -> [User] {
    var users: [User] = []
    try forEachUser { users.append($0) }
    return users
  }

  /// The users who have a name, compared byte by byte.
  ///
  /// - Parameter name: The name.
  /// - Returns: their ids, ascending.
  /// - Throws: what reading can throw.
  public mutating func users(named name: String) throws(StoreError) -> [User.ID] {
    try perform("find “\(name)”") { connection throws(SQLiteError) in
      try connection.withStatement(RecordSQL.named) { statement throws(SQLiteError) in
        try statement.bind(name, at: 1)
        var ids: [User.ID] = []
        while try statement.step() { ids.append(User.ID(statement.integer(0))) }
        return ids
      }
    }
  }

  /// Names of users from one on, up to another one, compared byte by byte.
  ///
  /// Goes through users until it has so many: through all of them when there are fewer. No index has the names: it would
  /// double the cost of a rename.
  ///
  /// - Parameters:
  ///   - lower: The first name that is meant.
  ///   - upper: The first that is not.
  ///   - limit: How many are wanted.
  /// - Returns: as many, of whichever users, in the order of their bytes. A name that several users have comes several times.
  /// - Throws: what reading can throw.
  package mutating func userNames(
    from lower: String, below upper: String, limit: Int
  ) throws(StoreError) -> [String] {
    try perform("find names of users") { connection throws(SQLiteError) in
      var names: [String] = []
      try connection.withStatement(RecordSQL.names) { statement throws(SQLiteError) in
        try statement.bind(lower, at: 1)
        try statement.bind(upper, at: 2)
        try statement.bind(Int64(limit), at: 3)
        while try statement.step() { names.append(statement.text(0)) }
      }
      // Not by SQLite, which would sort the names of all users before it takes so many.
      return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
  }

  /// The first and the last of the names from one on, up to another one: what both begin with, all between them begin with.
  ///
  /// Goes through all users: a tenth of a second for a million.
  ///
  /// - Parameters:
  ///   - lower: The first name that is meant.
  ///   - upper: The first that is not.
  /// - Returns: both; nothing when there is none.
  /// - Throws: what reading can throw.
  package mutating func outermostUserNames(from lower: String, below upper: String) throws(StoreError) -> [String] {
    try perform("find names of users") { connection throws(SQLiteError) in
      try connection.first(RecordSQL.outermostNames, .text(lower), .text(upper)) { row in
        row.isNull(0) ? [] : [row.text(0), row.text(1)]
      } ?? []
    }
  }

  /// How many users there are.
  ///
  /// - Throws: what reading can throw.
  public var userCount: Int {
    mutating get throws(StoreError) {
      try perform("count the users") { connection throws(SQLiteError) in
        try connection.first(RecordSQL.count) { Int($0.integer(0)) } ?? 0
      }
    }
  }

  /// The names of the further attributes that users have, each once, in the order of their bytes.
  ///
  /// Goes through all attributes: some tenths of a second for a million.
  ///
  /// - Throws: what reading can throw.
  public var attributeNames: [String] {
    mutating get throws(StoreError) {
      try perform("read the names of attributes") { connection throws(SQLiteError) in
        try connection.withStatement(RecordSQL.attributeNames) { statement throws(SQLiteError) in
          var names: [String] = []
          while try statement.step() { names.append(statement.text(0)) }
          // Not by SQLite, which would sort the names of all rows before it takes each once.
          return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }
      }
    }
  }

  /// Whether any user has a further attribute with this name.
  ///
  /// Goes through attributes until it finds one.
  package mutating func hasAttribute(_ name: String) throws(StoreError) -> Bool {
    try perform("look for an attribute") { connection throws(SQLiteError) in
      try connection.first(RecordSQL.hasAttribute, .text(name)) { _ in true } ?? false
    }
  }

  /// Reads one attribute.
  ///
  /// - Parameters:
  ///   - attribute: Which one.
  ///   - id: Whose.
  /// - Returns: the value; nil when it is not set, or nobody has the id.
  /// - Throws: `StoreError.undecodable` when what is stored is not of the attribute's type, and what reading can throw.
  public mutating func value<Value>(_ attribute: Attribute<Value>, of id: User.ID) throws(StoreError) -> Value? {
    try attribute.decode(storedValue(attribute.name, of: id), of: id)
  }

  /// Reads one attribute as it is stored.
  ///
  /// - Parameters:
  ///   - attribute: Its name.
  ///   - id: Whose.
  /// - Returns: the stored value; null when it is not set, or nobody has the id.
  /// - Throws: what reading can throw.
  public mutating func storedValue(_ attribute: String, of id: User.ID) throws(StoreError) -> StoredValue {
    try perform("read the \(attribute) of user \(id)") { connection throws(SQLiteError) in
      let key = StoredValue.integer(id.rawValue)
      return switch attribute {
      case "name": try connection.first(RecordSQL.name, key) { $0.value(0) } ?? .null
      case "hair_color": try connection.first(RecordSQL.hairColor, key) { $0.value(0) } ?? .null
      default: try connection.first(RecordSQL.attribute, key, .text(attribute)) { $0.value(0) } ?? .null
      }
    }
  }
}

/// The statements on users and attributes.
enum RecordSQL {
  private static let columns = """
    SELECT users.id, users.name, users.hair_color, attributes.name, attributes.value
    FROM users LEFT JOIN attributes ON attributes.user_id = users.id
    """
  static let user = Query(columns + " WHERE users.id = ?1")
  static let users = Query(columns + " ORDER BY users.id")
  static let named = Query("SELECT id FROM users WHERE name = ?1 ORDER BY id")
  static let names = Query("SELECT name FROM users WHERE name >= ?1 AND name < ?2 LIMIT ?3")
  static let outermostNames = Query("SELECT min(name), max(name) FROM users WHERE name >= ?1 AND name < ?2")
  static let count = Query("SELECT count(*) FROM users")
  static let attributeNames = Query("SELECT DISTINCT name FROM attributes")
  static let hasAttribute = Query("SELECT 1 FROM attributes WHERE name = ?1 LIMIT 1")
  static let name = Query("SELECT name FROM users WHERE id = ?1")
  static let hairColor = Query("SELECT hair_color FROM users WHERE id = ?1")
  static let attribute = Query("SELECT value FROM attributes WHERE user_id = ?1 AND name = ?2")

  // A null id takes the next one.
  static let insertUser = Query("INSERT INTO users (id, name, hair_color) VALUES (?1, ?2, ?3)")
  /// The largest id that was given, or is said to have been; and whose it is now.
  static let largestID = Query(
    """
    SELECT max(coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = 'users'), 0), coalesce((SELECT max(id) FROM users), 0)),
      (SELECT id FROM users WHERE id = \(Int64.max))
    """)
  static let noIDLeft =
    "no id is left for a new user: a foreign writer gave the largest there is, \(Int64.max); remove that user if it is there, and set the number of users in the table sqlite_sequence to the largest id in use"
  static let deleteUser = Query("DELETE FROM users WHERE id = ?1")
  // Each leaves a row alone whose value is the same already, so that the count of rows says whether something changed.
  static let updateName = Query("UPDATE users SET name = ?2 WHERE id = ?1 AND name IS NOT ?2")
  static let updateHairColor = Query("UPDATE users SET hair_color = ?2 WHERE id = ?1 AND hair_color IS NOT ?2")
  static let updateAttribute = Query(
    """
    UPDATE attributes SET value = ?3
    WHERE user_id = ?1 AND name = ?2 AND (value IS NOT ?3 OR typeof(value) IS NOT typeof(?3))
    """)
  static let insertAttribute = Query("INSERT INTO attributes (user_id, name, value) VALUES (?1, ?2, ?3)")
  static let deleteAttribute = Query("DELETE FROM attributes WHERE user_id = ?1 AND name = ?2")
}

extension User {
  /// Adds a row of `RecordSQL.user` or `.users` to the user that it belongs to.
  fileprivate static func collect(_ row: borrowing Statement, into user: inout User?) {
    var present = user ?? User(id: ID(row.integer(0)), storedValues: ["name": row.value(1)])
    if user == nil, !row.isNull(2) { present.storedValues["hair_color"] = row.value(2) }
    if !row.isNull(3) {
      let attribute = row.text(3)
      // Kept out by a CHECK, which somebody may have turned off: the columns are what counts everywhere else.
      if attribute != "name", attribute != "hair_color" { present.storedValues[attribute] = row.value(4) }
    }
    user = present
  }
}
