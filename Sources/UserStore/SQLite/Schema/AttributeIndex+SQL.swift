// The SQL of an index, which the check of the schema compares byte by byte.
//
// Indexes of further attributes are partial, so that only a write of the attribute pays for them. They contain the name, although
// it is always the same: without it, SQLite 3.40 also reads the row of each entry, to compare its name.
extension AttributeIndex {
  static let prefix = "userstore_index_"
  static let uniquePrefix = "userstore_unique_"

  /// Returns the plain index that the library would create with this name, if its SQL is this one.
  init?(name: String, sql: String) {
    guard Self.isName(name) else { return nil }
    self.init(on: Self.attribute(name))
    guard (try? Limits.checkIndex(on: attribute)) != nil, self.name.hasSameBytes(as: name),
      self.sql.hasSameBytes(as: sql)
    else { return nil }
  }

  /// Whether only the library may give an index this name.
  static func isName(_ name: String) -> Bool { name.utf8.starts(with: prefix.utf8) }

  /// SQLite ignores the case of ASCII letters in the names of indexes: `Age` is `^age`, and `^` is `^^`.
  private var escapedAttribute: String {
    var name: [UInt8] = []
    for byte in attribute.text.utf8 {
      let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      if isUpper || byte == Self.escape { name.append(Self.escape) }
      name.append(isUpper ? byte + 32 : byte)
    }
    return String(decoding: name, as: UTF8.self)
  }

  private static let escape = UInt8(ascii: "^")

  private static func attribute(_ name: String) -> AttributeName {
    var (text, isEscaped): ([UInt8], Bool) = ([], false)
    for byte in name.utf8.dropFirst(prefix.utf8.count) {
      if byte == escape, !isEscaped {
        isEscaped = true
        continue
      }
      let isUpper = isEscaped && byte != escape
      text.append(isUpper ? byte &- 32 : byte)
      isEscaped = false
    }
    return AttributeName(String(decoding: text, as: UTF8.self))
  }

  private var name: String { (isUnique ? Self.uniquePrefix + "index_" : Self.prefix) + escapedAttribute }

  var quotedName: String { name.quoted("\"") }

  var sql: String {
    let collation = ignoresCase ? " COLLATE NOCASE" : ""
    return switch attribute {
    case .name: "CREATE INDEX \(quotedName) ON users (name\(collation))"
    case .hairColor: "CREATE INDEX \(quotedName) ON users (hair_color\(collation)) WHERE hair_color IS NOT NULL"
    default:
      "CREATE INDEX \(quotedName) ON attributes (value\(collation), user_id, name) WHERE name = \(attribute.literal)"
    }
  }
}

// MARK: Unique attributes

extension AttributeIndex {
  /// The objects of a unique attribute: the index, and the triggers that refuse a value that another user has.
  ///
  /// AFTER triggers: a BEFORE trigger would refuse an upsert that then stores nothing.
  var objects: SchemaCheck.Objects {
    var objects: SchemaCheck.Objects = [SchemaCheck.Object(type: "index", name: name): sql]
    for (event, clause) in [("insert", "INSERT"), ("update", "UPDATE OF \(values.column)")] {
      let name = "\(Self.uniquePrefix)\(event)_\(escapedAttribute)"
      let isNamed = values.table == "users" ? "" : "NEW.name = \(attribute.literal) AND "
      objects[SchemaCheck.Object(type: "trigger", name: name)] = """
        CREATE TRIGGER \(name.quoted("\"")) AFTER \(clause) ON \(values.table)
        WHEN \(isNamed)EXISTS (SELECT 1 FROM \(source) AND \(isEqual(to: "NEW.\(values.column)")) AND \(values.id) IS NOT NEW.\(values.id))
        BEGIN
          SELECT RAISE(ABORT, \(refusal.quoted("'")));
        END
        """
    }
    return objects
  }

  /// The message of SQLite when a trigger refuses a value; a foreign key that restricts has the same code.
  var refusal: String { "another user has this value of the unique attribute \(attribute.text)" }

  private var values: (table: String, column: String, id: String) {
    switch attribute {
    case .name: ("users", "name", "id")
    case .hairColor: ("users", "hair_color", "id")
    default: ("attributes", "value", "user_id")
    }
  }

  /// The rows with a value of the attribute.
  private var source: String {
    switch attribute {
    case .name: "users WHERE name IS NOT NULL"
    case .hairColor: "users WHERE hair_color IS NOT NULL"
    default: "attributes WHERE name = \(attribute.literal)"
    }
  }

  private var collation: String { ignoresCase ? " COLLATE NOCASE" : "" }

  private func isEqual(to value: String) -> String { "\(values.column) = \(value)\(collation)" }

  /// Selects a user other than ?2 who has the value ?1.
  var holder: SQL {
    SQL(
      once: "find the user of a unique value",
      "SELECT \(values.id) FROM \(source) AND \(isEqual(to: "?1")) AND \(values.id) IS NOT ?2 LIMIT 1")
  }

  /// Selects each value that several users have, with one of the users, in the order of the values and then of the users.
  var duplicates: SQL {
    let column = values.column + collation
    return SQL(
      once: "find values of several users",
      """
      SELECT \(values.column), \(values.id) FROM \(source) AND \(column) IN
        (SELECT \(values.column) FROM \(source) GROUP BY \(column) HAVING count(*) > 1)
      ORDER BY \(column), \(values.id)
      """)
  }

  /// The unique attributes of a file, in the order of their names.
  static func unique(in connection: borrowing Connection) throws(StoreError) -> [AttributeIndex] {
    var (indexes, failure): ([AttributeIndex], StoreError?) = ([], nil)
    // One more than there can be, so that a hostile table is noticed.
    let sql = "SELECT attribute, ignores_case FROM userstore_unique ORDER BY attribute LIMIT \(uniqueLimit + 1)"
    try connection.rows(sql, to: "read the unique attributes") { row in
      let index = AttributeIndex(uniqueOn: AttributeName(row.text(0)), ignoringCase: row.integer(1) != 0)
      do throws(StoreError) { try Limits.checkIndex(on: index.attribute) } catch { failure = error }
      indexes.append(index)
    }
    if failure != nil || indexes.count > uniqueLimit {
      throw StoreError(
        .schemaChanged, "the table “userstore_unique” was changed: \(failure?.message ?? "it has too many rows")")
    }
    return indexes
  }
}

extension Connection {
  /// Calls `body` with each value that several users have, and these users, in order, until it returns false.
  func eachDuplicate(of index: AttributeIndex, while body: (StoredValue, [User.ID]) -> Bool) throws(StoreError) {
    var holders = ValueHolders(of: index)
    try query(index.duplicates, []) { holders.add(User.ID($0.integer(1)), $0.value(0), while: body) }
    holders.end(body)
  }
}
