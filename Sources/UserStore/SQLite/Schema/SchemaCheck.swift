/// Compares what a file's schema says with what the migrations make, before anything of it is run.
struct SchemaCheck {
  /// Triggers of ours that are missing or changed: what was written since is not in the log.
  var brokenTriggers: [String] = []

  private struct Object: Hashable {
    let type: String
    /// Compared by its bytes, as SQLite compares it, so that one object does not pass for another.
    private let key: StoredValue

    var name: String { String(storedValue: key) ?? "" }

    init(type: String, name: String) {
      self.type = type
      key = .text(name)
    }
  }

  private typealias Objects = [Object: String]

  /// Every object that the migrations make, with its SQL: after the first one, after the second, and so on.
  ///
  /// Kept when it was made once. Not a static constant: that would keep a failure, and a process in which memory was short
  /// for a moment could open no store any more.
  private static let made = Lock<[Objects]?>(nil)

  private static func expected() throws(StoreError) -> [Objects] {
    if let made = made.withLock({ $0 }) { return made }
    let versions = try make()
    made.withLock { $0 = versions }
    return versions
  }

  private static func make() throws(StoreError) -> [Objects] {
    let connection = try Connection(path: nil, access: .readWrite, busyTimeout: 0)
    var versions: [Objects] = []
    let purpose = "build the schema"
    for migration in Migration.all {
      try connection.execute(migration.sql, to: purpose)
      var objects: Objects = [:]
      try connection.rows("SELECT type, name, sql FROM sqlite_schema", to: purpose) { row in
        objects[Object(type: row.text(0), name: row.text(1))] = row.text(2)
      }
      versions.append(objects)
    }
    return versions
  }

  private let version: Int64

  /// Indexes on plain columns: one that is unique could displace rows unseen, one on an expression would run it.
  private static let harmlessIndexes = """
    SELECT list.name FROM (SELECT 'users' AS name UNION SELECT 'attributes') AS tables, pragma_index_list(tables.name) AS list
    WHERE list."unique" = 0 AND list.partial = 0
      AND NOT EXISTS (SELECT 1 FROM pragma_index_xinfo(list.name) WHERE cid = -2)
    """

  /// - Parameters:
  ///   - connection: Whose schema.
  ///   - version: Which one it must be, counted from 1.
  /// - Throws: `StoreError.Code.schemaChanged` for what is not ours and could change what ours does. Further tables are let be,
  ///   and so are further indexes on users and attributes that are not unique: a unique one could displace rows unseen.
  init(_ connection: borrowing Connection, version: Int64 = Migration.latest) throws(StoreError) {
    self.version = version
    let expected = try Self.expectedObjects(version)
    var found: [Object: (table: String, sql: String)] = [:]
    try connection.rows("SELECT type, name, tbl_name, sql FROM sqlite_schema", to: "read the schema") { row in
      found[Object(type: row.text(0), name: row.text(1))] = (row.text(2), row.text(3))
    }
    for (object, sql) in expected where found[object]?.sql.hasSameBytes(as: sql) != true {
      guard object.type == "trigger" else {
        throw StoreError(.schemaChanged, "the \(object.type) \(object.name) is not as this library made it")
      }
      brokenTriggers.append(object.name)
    }
    let further = found.filter { expected[$0.key] == nil }
    for (object, place) in further { try Self.refuse(object, on: place.table) }
    // Now that nobody else can answer to the names of SQLite's own functions.
    var harmless: Set<Object> = []
    try connection.rows(Self.harmlessIndexes, to: "read the schema") {
      harmless.insert(Object(type: "index", name: $0.text(0)))
    }
    for (object, place) in further where object.type == "index" && !harmless.contains(object) {
      if expected[Object(type: "table", name: place.table)] != nil { throw Self.isForeign(object, on: place.table) }
    }
    brokenTriggers.sort()
  }

  /// Whatever runs by itself, and tables that stand in the way of what SQLite answers about the file.
  private static func refuse(_ object: Object, on table: String) throws(StoreError) {
    let isKnown = object.type == "table" || object.type == "index"
    if !isKnown || object.name.lowercased().hasPrefix("pragma_") { throw isForeign(object, on: table) }
  }

  private static func isForeign(_ object: Object, on table: String) -> StoreError {
    StoreError(
      .schemaChanged,
      "the database has a \(object.type.excerpt) “\(object.name.excerpt)” on “\(table.excerpt)” that is not this library's; remove it"
    )
  }

  /// The tables that the library makes.
  static var tables: Set<String> {
    get throws(StoreError) { Set(try expectedObjects(Migration.latest).keys.filter { $0.type == "table" }.map(\.name)) }
  }

  /// Makes the broken triggers again.
  ///
  /// The caller has a transaction open.
  func repair(_ connection: borrowing Connection) throws(StoreError) {
    let expected = try Self.expectedObjects(version)
    let purpose = "repair the triggers of the log"
    for name in brokenTriggers {
      try connection.execute("DROP TRIGGER IF EXISTS \(name)", to: purpose)
      try connection.execute(expected[Object(type: "trigger", name: name)]!, to: purpose)
    }
    // The log does not say what happened without them: it starts anew after its last row, with numbers going on.
    try connection.execute(
      """
      UPDATE meta SET epoch = random(), horizon = last.seq, horizon_nonce = coalesce(last.nonce, 0)
      FROM (SELECT seq, nonce FROM changes ORDER BY seq DESC LIMIT 1) AS last WHERE id = 1;
      UPDATE meta SET epoch = random() WHERE id = 1
      """, to: purpose)
  }

  private static func expectedObjects(_ version: Int64) throws(StoreError) -> [Object: String] {
    try expected()[Int(version) - 1]
  }
}
