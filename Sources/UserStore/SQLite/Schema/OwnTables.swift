/// The tables of an application in the store's file, and their foreign keys, which may refer to `users(id)` only.
enum OwnTables {
  /// A foreign key to one of the library's tables.
  private struct Key {
    let parent: String
    /// The columns of the table itself.
    var children: [String] = []
    /// The columns of the parent; nil for its primary key.
    var columns: [String?] = []
    var isValid: Bool { parent == "users" && (columns == [nil] || columns == ["id"]) }
  }

  /// Throws `schemaChanged` for a key that refers to anything else of the library than `users(id)`.
  ///
  /// A key on `users(name)`, which is not unique, would let every later write of a name fail, and one on `changes` would keep the
  /// log from being compacted.
  static func check(_ table: String, _ sql: String, on connection: borrowing Connection) throws(StoreError) {
    for key in try keys(of: table, sql, on: connection) where !key.isValid {
      let columns = key.columns.compactMap { $0?.excerpt }.joined(separator: ", ")
      throw StoreError(
        .schemaChanged,
        """
        a foreign key of the table “\(table.excerpt)” refers to \(key.parent)\(columns.isEmpty ? "" : "(\(columns))"); only users(id) \
        can be referred to
        """)
    }
  }

  /// Throws `stillReferenced` if rows of a table refer to users that do not exist.
  static func requireKeys(on connection: borrowing Connection) throws(StoreError) {
    for (table, count) in try orphans(on: connection) {
      let rows = count == 1 ? "1 row of “\(table.excerpt)” refers" : "\(count) rows of “\(table.excerpt)” refer"
      throw StoreError(
        .stillReferenced, "the backup cannot be restored: \(rows) to users that it does not have",
        hint: "remove those rows first")
    }
  }

  /// The tables with rows that refer to users that do not exist, and the number of those rows.
  static func orphans(on connection: borrowing Connection) throws(StoreError) -> [(table: String, count: Int)] {
    var orphans: [(table: String, count: Int)] = []
    for (table, sql) in try all(on: connection) {
      guard try keys(of: table, sql, on: connection).contains(where: \.isValid) else { continue }
      var count = 0
      try connection.rows("PRAGMA foreign_key_check(\(table.quoted("\"")))", to: "check foreign keys") { row in
        if row.text(2).lowercased() == "users" { count += 1 }
      }
      if count > 0 { orphans.append((table, count)) }
    }
    return orphans
  }

  /// The keys to users whose column no index begins with.
  static func keysWithoutIndex(
    on connection: borrowing Connection
  ) throws(StoreError) -> [(table: String, column: String)] {
    var found: [(table: String, column: String)] = []
    for (table, sql) in try all(on: connection) {
      let keys = try keys(of: table, sql, on: connection)
      if keys.isEmpty { continue }
      let indexed = try indexedColumns(of: table, on: connection)
      for key in keys where !key.children.contains(where: { indexed.contains($0.lowercased()) }) {
        found.append((table, key.children.joined(separator: ", ")))
      }
    }
    return found
  }

  /// The first columns of the indexes that cover all rows, and the primary key.
  private static func indexedColumns(
    of table: String, on connection: borrowing Connection
  ) throws(StoreError) -> Set<String> {
    var columns: Set<String> = []
    var indexes: [String] = []
    try connection.rows("PRAGMA table_info(\(table.quoted("\"")))", to: "read the schema") { row in
      if row.integer(5) == 1 { columns.insert(row.text(1).lowercased()) }
    }
    try connection.rows("PRAGMA index_list(\(table.quoted("\"")))", to: "read the schema") { row in
      if row.integer(4) == 0 { indexes.append(row.text(1)) }
    }
    for index in indexes {
      try connection.rows("PRAGMA index_info(\(index.quoted("\"")))", to: "read the schema") { row in
        if row.integer(0) == 0 { columns.insert(row.text(2).lowercased()) }
      }
    }
    return columns
  }

  private static func all(on connection: borrowing Connection) throws(StoreError) -> [(name: String, sql: String)] {
    var tables: [(name: String, sql: String)] = []
    let sql = "SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name"
    try connection.rows(sql, to: "read the schema") { tables.append(($0.text(0), $0.text(1))) }
    return tables.filter { !SchemaCheck.tables.contains($0.name) }
  }

  private static func keys(
    of table: String, _ sql: String, on connection: borrowing Connection
  ) throws(StoreError) -> [Key] {
    // Most tables have no key, and SQLite needs longer for the answer.
    let words = sql.lowercased().utf8.split { !(UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
    guard words.contains(where: { $0.elementsEqual("references".utf8) }) else { return [] }
    var keys: [Int64: Key] = [:]
    try connection.rows("PRAGMA foreign_key_list(\(table.quoted("\"")))", to: "read the schema") { row in
      let parent = row.text(2).lowercased()
      guard SchemaCheck.tables.contains(parent) else { return }
      let key = row.integer(0)
      keys[key, default: Key(parent: parent)].columns.append(row.textOrNil(4)?.lowercased())
      keys[key]?.children.append(row.text(3))
    }
    return keys.sorted { $0.key < $1.key }.map(\.value)
  }
}
