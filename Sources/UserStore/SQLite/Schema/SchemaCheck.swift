/// Compares the schema of a file with the one that the migrations create, before any of it is run.
struct SchemaCheck {
  /// The library's triggers that are missing or changed: later writes may be missing from the log.
  var brokenTriggers: [String] = []
  /// The indexes and triggers of unique attributes that are missing or changed: several users may have got the same value.
  private(set) var brokenRules: [String] = []
  let uniqueAttributes: [AttributeIndex]
  /// The parts that the file has.
  let parts: Set<SchemaPart>

  private let expected: Objects
  /// The indexes and triggers of the unique attributes.
  private let rules: Objects
  private var hasOwnTriggers = false

  struct Object: Hashable {
    let type: String
    /// Compared by its bytes, as in SQLite, so that no two objects are the same.
    private let key: StoredValue

    var name: String { String(storedValue: key) ?? "" }

    init(type: String, name: String) {
      self.type = type
      key = .text(name)
    }
  }

  typealias Objects = [Object: String]

  /// Every object that all migrations create; compiled in, because running them takes longer than the rest of a short process.
  static let latest = objects(writtenIn: PackageResources.schema_sql)

  private struct Form: Hashable {
    let version: Int64
    let parts: Set<SchemaPart>
  }

  /// What was built: a process opens a file with parts several times, once for each connection.
  private static let known = Lock<[Form: Objects]>([:])

  /// Returns every object that the migrations up to a version, and parts, create.
  static func objects(_ version: Int64, _ parts: Set<SchemaPart> = []) throws(StoreError) -> Objects {
    let form = Form(version: version, parts: parts)
    if let objects = known.withLock({ $0[form] }) { return objects }
    var objects: Objects = [:]
    try built(version, parts).rows("SELECT type, name, sql FROM sqlite_schema", to: "build the schema") { row in
      objects[Object(type: row.text(0), name: row.text(1))] = row.text(2)
    }
    known.withLock { $0[form] = objects }
    return objects
  }

  private static func built(_ version: Int64, _ parts: Set<SchemaPart>) throws(StoreError) -> Connection {
    let connection = try Connection(path: nil, access: .readWrite, busyTimeout: 0)
    let ordered = parts.sorted { $0.rawValue > $1.rawValue }
    for migration in Migration.all.filter({ $0.number <= version }) + ordered.map(\.migration) {
      try connection.execute(migration.sql, to: "build the schema")
    }
    return connection
  }

  /// Reads what `scripts/update-schema` has written: before the SQL of each object, a line with its type and its name.
  private static func objects(writtenIn text: [UInt8]) -> Objects {
    var objects: Objects = [:]
    objects.reserveCapacity(64)
    let lines = text.split(separator: UInt8(ascii: "\n"))
    let heads = lines.indices.filter { lines[$0].starts(with: "-- ".utf8) }
    for (head, end) in zip(heads, heads.dropFirst() + [lines.endIndex]) {
      let words = lines[head].split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
      // The indexes of constraints have no SQL.
      let sql = end - head > 1 ? text[lines[head + 1].startIndex..<lines[end - 1].endIndex] : []
      objects[Object(type: words[1], name: words[2])] = String(decoding: sql, as: UTF8.self)
    }
    return objects
  }

  /// The library's tables, with those of all parts.
  static let tables = Set(latest.keys.filter { $0.type == "table" }.map(\.name) + SchemaPart.allCases.flatMap(\.tables))

  /// The indexes on plain columns that are not unique: a unique one could silently displace rows, one on an expression runs it.
  ///
  /// No table may have the name of a function that this calls, because the table would replace it.
  private static func harmlessIndexes(_ connection: borrowing Connection) throws(StoreError) -> Set<Object> {
    let sql = """
      SELECT list.name FROM (SELECT 'users' AS name UNION SELECT 'attributes') AS tables, pragma_index_list(tables.name) AS list
      WHERE list."unique" = 0 AND list.partial = 0
        AND NOT EXISTS (SELECT 1 FROM pragma_index_xinfo(list.name) WHERE cid = -2)
      """
    var indexes: Set<Object> = []
    try connection.rows(sql, to: "read the schema") { indexes.insert(Object(type: "index", name: $0.text(0))) }
    return indexes
  }

  /// Compares the schema with a version; throws `schemaChanged` for anything that could change what the library's objects do.
  ///
  /// Other tables are accepted, with their indexes and triggers, and views; and so are the indexes of attributes, and other
  /// harmless ones on users and attributes.
  init(_ connection: borrowing Connection, version: Int64 = Migration.latest) throws(StoreError) {
    var found: [Object: (table: String, sql: String)] = [:]
    try connection.rows("SELECT type, name, tbl_name, sql FROM sqlite_schema", to: "read the schema") { row in
      found[Object(type: row.text(0), name: row.text(1))] = (row.text(2), row.text(3))
    }
    let parts = Set(
      SchemaPart.allCases.filter {
        version >= $0.version && found[Object(type: "table", name: $0.table)] != nil
      })
    self.parts = parts
    // Parts are built when a file has them: another file must not take longer to open.
    let expected =
      try parts.isEmpty && version >= Migration.latest ? Self.latest : Self.objects(version, parts)
    self.expected = expected
    for (object, sql) in expected where found[object]?.sql.hasSameBytes(as: sql) != true {
      guard object.type == "trigger" else {
        throw try Self.isChanged(object, exists: found[object] != nil, (version, parts), connection)
      }
      brokenTriggers.append(object.name)
    }
    // The table is the library's, so that reading it runs nothing.
    let hasRules = expected[Object(type: "table", name: "userstore_unique")] != nil
    uniqueAttributes = hasRules ? try AttributeIndex.unique(in: connection) : []
    rules = uniqueAttributes.reduce(into: [:]) { $0.merge($1.objects) { $1 } }
    for (object, sql) in rules where found[object]?.sql.hasSameBytes(as: sql) != true {
      brokenRules.append(object.name)
    }
    let others = found.filter { expected[$0.key] == nil && rules[$0.key] == nil }
    for (object, place) in others {
      let isOnOurs = object.type == "trigger" && expected[Object(type: "table", name: place.table.lowercased())] != nil
      // A table of such a name would replace what SQLite reports about the file.
      if isOnOurs || object.name.lowercased().hasPrefix("pragma_") { throw Self.isForeign(object, on: place.table) }
      if object.type == "table" { try OwnTables.check(object.name, place.sql, on: connection) }
    }
    hasOwnTriggers = others.contains { $0.key.type == "trigger" }
    let indexes = others.filter { object, place in
      object.type == "index" && AttributeIndex(name: object.name, sql: place.sql) == nil
    }
    // Read only if there are others: SQLite needs longer for the answer than for the rest of the check.
    let harmless = try indexes.isEmpty ? [] : Self.harmlessIndexes(connection)
    for (object, place) in indexes where AttributeIndex.isName(object.name) || !harmless.contains(object) {
      if expected[Object(type: "table", name: place.table)] != nil { throw Self.isForeign(object, on: place.table) }
    }
    brokenTriggers.sort()
    brokenRules.sort()
  }

  /// Whether opening the store for writing creates something again.
  var needsRepair: Bool { !brokenTriggers.isEmpty || !brokenRules.isEmpty }

  /// Checks what removing a user can run, on a connection that is outside of a transaction.
  func requireHarmlessRemoval(on connection: borrowing Connection) throws(StoreError) {
    if hasOwnTriggers { try OwnTriggers(beside: expected).requireHarmlessRemoval(on: connection) }
  }

  private static func isForeign(_ object: Object, on table: String) -> StoreError {
    StoreError(
      .schemaChanged,
      "the \(object.type.excerpt) “\(object.name.excerpt)” on “\(table.excerpt)” is not this library's; remove it with DROP \(object.type.excerpt.uppercased()) \(object.name.excerpt.quoted("\""))"
    )
  }

  /// The error for an object that is not as the library created it, with what the user can do about it.
  private static func isChanged(
    _ object: Object, exists: Bool, _ schema: (version: Int64, parts: Set<SchemaPart>),
    _ connection: borrowing Connection
  ) throws(StoreError) -> StoreError {
    let what = "the \(object.type) “\(object.name)”"
    if !exists { return StoreError(.schemaChanged, "\(what) is missing: it was removed or renamed; restore a backup") }
    let extra = object.type == "table" ? try additionalColumns(of: object.name, schema, connection) : []
    if extra.isEmpty { return StoreError(.schemaChanged, "\(what) was changed; restore a backup") }
    let names = extra.map { "“\($0.excerpt)”" }.joined(separator: ", ")
    let statements = extra.map { "ALTER TABLE \(object.name) DROP COLUMN \($0.excerpt.quoted("\""))" }.joined(
      separator: "; ")
    return StoreError(
      .schemaChanged,
      "\(what) has a column that is not this library's (\(names)); move its values to attributes, or to a table of your own, and remove it with \(statements)"
    )
  }

  /// The columns that were added to a table; none if it was changed in another way too.
  private static func additionalColumns(
    of table: String, _ schema: (version: Int64, parts: Set<SchemaPart>), _ connection: borrowing Connection
  ) throws(StoreError) -> [String] {
    let columns = try columns(of: table, connection)
    let expected = try Self.columns(of: table, built(schema.version, schema.parts))
    return columns.starts(with: expected) ? Array(columns.dropFirst(expected.count)) : []
  }

  private static func columns(of table: String, _ connection: borrowing Connection) throws(StoreError) -> [String] {
    var names: [String] = []
    try connection.rows("PRAGMA table_xinfo(\(table))", to: "read the schema") { names.append($0.text(1)) }
    return names
  }

  /// Creates the broken triggers and indexes again, in the caller's transaction.
  ///
  /// Creating an index takes time that grows with the data; without it, so would each write.
  func repair(_ connection: borrowing Connection) throws(StoreError) {
    try Self.create(
      expected.filter { brokenTriggers.contains($0.key.name) }, connection, to: "repair the triggers of the log")
    try Self.create(rules.filter { brokenRules.contains($0.key.name) }, connection, to: "repair a unique attribute")
    if !brokenTriggers.isEmpty { try Self.startNewLog(connection, to: "repair the triggers of the log") }
  }

  /// Creates triggers and indexes; replaces those of the same names.
  private static func create(_ objects: Objects, _ connection: borrowing Connection, to purpose: String)
    throws(StoreError)
  {
    for (object, sql) in objects {
      try connection.execute("DROP \(object.type) IF EXISTS \(object.name.quoted("\""))", to: purpose)
      try connection.execute(sql, to: purpose)
    }
  }

  /// Starts a new epoch after the last row, because the log does not explain the content of the tables; revisions
  /// continue.
  static func startNewLog(_ connection: borrowing Connection, to purpose: String) throws(StoreError) {
    try connection.execute(
      """
      UPDATE meta SET epoch = random(), horizon = last.seq, horizon_nonce = coalesce(last.nonce, 0)
      FROM (SELECT seq, nonce FROM changes ORDER BY seq DESC LIMIT 1) AS last WHERE id = 1;
      UPDATE meta SET epoch = random() WHERE id = 1
      """, to: purpose)
  }
}
