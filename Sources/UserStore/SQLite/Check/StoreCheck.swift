/// Finds what is wrong with a database, in the caller's transaction, without writing, and in memory that does not grow with it.
struct StoreCheck {
  private(set) var findings: [Finding] = []
  private var counts: [Finding.Kind: Int] = [:]
  private(set) var uniqueAttributes: [AttributeIndex] = []

  /// The number of findings of one kind that are listed; the others are counted.
  static let limit = 20

  static let purpose = "check the store"

  /// Checks everything in the database; throws only if it is not a store, is newer than the library, or cannot be read at all.
  ///
  /// `progress` receives the fraction that is done, in the proportions of a store of a million users.
  mutating func run(
    on connection: borrowing Connection, progress: (Double) -> Void = { _ in }
  ) throws(StoreError) {
    do {
      // The schema comes first: a table of another program may compute its content.
      guard try checkSchema(of: connection) else { return }
      try checkIntegrity(of: connection)
      progress(0.3)
      try checkLog(of: connection)
      progress(0.9)
      try checkRecords(of: connection)
      try checkUniqueValues(of: connection)
      progress(1)
      try checkScratch(of: connection)
      try checkOwnTables(of: connection)
      try checkOutbox(of: connection)
    } catch {
      guard error.code == .corrupt else { throw error }
      note(.problem, .integrity, error.message)
    }
    noteRest()
  }

  mutating func note(
    _ severity: Finding.Severity, _ kind: Finding.Kind, _ message: String, user: Int64? = nil, attribute: String? = nil
  ) {
    counts[kind, default: 0] += 1
    guard counts[kind, default: 0] <= Self.limit else { return }
    findings.append(
      Finding(
        severity: severity, kind: kind, message: message, user: user.map { User.ID($0) },
        attribute: attribute.map { AttributeName($0) }))
  }

  private mutating func noteRest() {
    for (kind, count) in counts.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where count > Self.limit {
      let severity = findings.last { $0.kind == kind }?.severity ?? .problem
      let message = "and \(count - Self.limit) more of this kind"
      findings.append(Finding(severity: severity, kind: kind, message: message, user: nil, attribute: nil))
    }
  }

  // MARK: Schema

  /// Returns whether the rows may be read.
  private mutating func checkSchema(of connection: borrowing Connection) throws(StoreError) -> Bool {
    do {
      let (version, check) = try Schema.inspect(connection)
      uniqueAttributes = check.uniqueAttributes
      if version < Migration.latest {
        note(
          .warning, .schema,
          "the database has schema version \(version); opening it for writing migrates it to \(Migration.latest)")
      }
      for name in check.brokenTriggers {
        note(.problem, .trigger, "the trigger \(name) is missing or changed: later writes may be missing from the log")
      }
      for name in check.brokenRules {
        note(
          .problem, .schema,
          "\(name) of a unique attribute is missing or changed: several users may have got the same value; opening the store for writing creates it again"
        )
      }
      return true
    } catch {
      guard error.code == .schemaChanged else { throw error }
      note(.problem, .schema, error.message)
      return false
    }
  }

  private mutating func checkScratch(of connection: borrowing Connection) throws(StoreError) {
    for table in ["displaced_users", "displaced_attributes"] {
      try rows("SELECT count(*) FROM \(table)", of: connection) { check, row in
        if row.integer(0) > 0 {
          check.note(.warning, .scratch, "\(table) has \(row.integer(0)) leftover rows; the next INSERT deletes them")
        }
      }
    }
  }

  /// Warns about the application's own tables, which the library does not repair.
  private mutating func checkOwnTables(of connection: borrowing Connection) throws(StoreError) {
    for (table, count) in try OwnTables.orphans(on: connection) {
      let rows = count == 1 ? "1 row of “\(table.excerpt)” refers" : "\(count) rows of “\(table.excerpt)” refer"
      note(.warning, .orphan, "\(rows) to users that do not exist")
    }
    for (table, columns) in try OwnTables.keysWithoutIndex(on: connection) {
      note(
        .warning, .schema,
        "the foreign key of “\(table.excerpt)” on \(columns.excerpt) has no index: removing a user reads the whole table"
      )
    }
  }

  // MARK: Integrity

  /// Runs SQLite's integrity check, twice if it fails: without memory to read a page, it reports the page as damaged.
  ///
  /// A table of another program may need that program's functions, or unlimited time, to be checked. If there is one, ours are
  /// checked one by one, without the check that every page is used.
  private mutating func checkIntegrity(of connection: borrowing Connection) throws(StoreError) {
    let own = SchemaCheck.tables
    var tables: [String] = []
    try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", to: Self.purpose) {
      tables.append($0.text(0))
    }
    let isAlone = tables.allSatisfy { own.contains($0) }
    for part in isAlone ? ["\(Self.limit)"] : ["sqlite_schema"] + tables.filter({ own.contains($0) }) {
      if try problems(in: part, of: connection).isEmpty { continue }
      for text in try problems(in: part, of: connection) { note(.problem, .integrity, text) }
    }
  }

  private func problems(in part: String, of connection: borrowing Connection) throws(StoreError) -> [String] {
    var texts: [String] = []
    try connection.rows("PRAGMA integrity_check(\(part))", to: Self.purpose) { texts.append($0.text(0)) }
    return texts.filter { $0 != "ok" }
  }

  /// Throws `corrupt` with the first damage, or the read error, such as `ioError`, which SQLite's check reports as damage.
  static func requireIntegrity(_ connection: borrowing Connection) throws(StoreError) {
    var check = StoreCheck()
    try check.checkIntegrity(of: connection)
    if !check.findings.isEmpty, let error = connection.readError { throw StoreError(error, "read the file") }
    try check.requireNone()
  }

  /// Throws `problemsFound` with the first problem of undamaged pages: a log that contradicts the records, undecodable values.
  static func requireNoProblems(_ connection: borrowing Connection) throws(StoreError) {
    var check = StoreCheck()
    try check.checkLog(of: connection)
    try check.checkRecords(of: connection)
    guard let first = check.findings.first(where: { $0.severity == .problem }) else { return }
    let count = check.counts.values.reduce(0, +)
    throw StoreError(.problemsFound, "check finds \(count) problem\(count == 1 ? "" : "s"): \(first.message)")
  }

  /// Throws `corrupt` with the first problem.
  func requireNone() throws(StoreError) {
    guard let problem = findings.first(where: { $0.severity == .problem }) else { return }
    throw StoreError(.corrupt, "the database is damaged: \(problem.message)")
  }

  // MARK: Reading

  mutating func rows(
    _ sql: String, of connection: borrowing Connection, _ body: (inout StoreCheck, borrowing Statement) -> Void
  ) throws(StoreError) {
    try connection.rows(sql, to: Self.purpose) { row in body(&self, row) }
  }

  /// Notes a problem for each row of a query whose first columns are a user and an attribute.
  mutating func problems(
    _ kind: Finding.Kind, _ sql: String, of connection: borrowing Connection,
    _ message: (_ user: Int64, _ attribute: String, borrowing Statement) -> String
  ) throws(StoreError) {
    try rows(sql, of: connection) { check, row in
      let (user, attribute) = (row.integer(0), row.text(1))
      check.note(.problem, kind, message(user, attribute, row), user: user, attribute: attribute)
    }
  }

  // MARK: Surroundings

  /// SQLite 3.7.0 to 3.51.2 can damage a WAL database if a checkpoint and a commit coincide.
  private static let librariesWithWALReset = 3_007_000...3_051_002

  mutating func checkLibrary(version: Int = Connection.libraryVersion) {
    guard Self.librariesWithWALReset.contains(version) else { return }
    let name = [version / 1_000_000, version / 1_000 % 1_000, version % 1_000].map { String($0) }.joined(separator: ".")
    note(
      .warning, .library,
      "SQLite \(name) can damage the file if a checkpoint and a commit coincide (fixed in 3.51.3); this library avoids it, other programs that write to the file may not"
    )
  }

  mutating func checkNames(of file: DatabaseFile) {
    guard let count = try? Files.linkCount(of: file.path), count > 1 else { return }
    note(
      .warning, .links,
      "\(file.path) has \(count) names (hard links): it can be read, but is opened for writing only with a single name")
  }

  /// Warns of a read transaction that is held open, on a connection that has just started to read: a long check holds one open.
  ///
  /// SQLite does not report such readers, and the size of the -wal file is no evidence: one large transaction leaves it long.
  /// But the pages in it that are not yet in the database are few more than the limit of a checkpoint, unless it is blocked.
  mutating func checkReaders(on connection: borrowing Connection) {
    guard let pages = connection.uncopiedPages, pages > Checkpoints.waitingLimit else { return }
    note(
      .warning, .reader,
      "\(pages) pages of the -wal file are not in the database yet, and the file grows: a program holds a read transaction open, or writes without checkpoints; the next write after it ends copies them"
    )
  }

  mutating func checkPermissions(of file: DatabaseFile) {
    for path in [file.path, file.walPath, file.path + "-shm"] {
      guard let mode = try? Files.mode(of: path), mode & 0o077 != 0 else { continue }
      note(
        .warning, .permissions,
        "other users may read or write \(path) (mode \(String(mode & 0o777, radix: 8))); 600 restricts it to you")
    }
    let folder = Files.split(file.path).folder
    // With the sticky bit, as on /tmp, others may not remove the owner's files.
    guard let mode = try? Files.mode(of: folder), mode & 0o022 != 0, mode & 0o1000 == 0 else { return }
    note(
      .warning, .permissions,
      "other users may replace the store with another file: \(folder) has mode \(String(mode & 0o777, radix: 8))")
  }
}
