/// Looks through a database and notes what is wrong with it, in memory that does not grow with it.
///
/// Whoever runs it has a transaction open on the connection. Nothing is written.
struct StoreCheck {
  private(set) var findings: [Finding] = []
  private var counts: [Finding.Kind: Int] = [:]

  /// So many findings of one kind are told one by one, and the rest by their number.
  static let limit = 20

  static let purpose = "check the store"

  /// Looks at everything that lies in the database.
  ///
  /// - Parameters:
  ///   - connection: It has a transaction open.
  ///   - progress: Gets the part of the work that was done; the parts are as long as they are in a store of a million users.
  /// - Throws: `StoreError` when it is none of ours, newer than the library, or cannot be read at all.
  mutating func run(
    on connection: borrowing Connection, progress: (Double) -> Void = { _ in }
  ) throws(StoreError) {
    do {
      // First: a table that is not ours may compute what it shows.
      guard try checkSchema(of: connection) else { return }
      try checkIntegrity(of: connection)
      progress(0.3)
      try checkLog(of: connection)
      progress(0.9)
      try checkRecords(of: connection)
      progress(1)
      try checkScratch(of: connection)
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
      findings.append(
        Finding(
          severity: severity, kind: kind, message: "and \(count - Self.limit) more of this kind", user: nil,
          attribute: nil))
    }
  }

  // MARK: Schema

  /// - Returns: whether its rows may be read.
  private mutating func checkSchema(of connection: borrowing Connection) throws(StoreError) -> Bool {
    do {
      let (version, broken) = try Schema.inspect(connection)
      if version < Migration.latest {
        note(
          .warning, .schema,
          "the database has schema \(version); the next that opens it for writing brings it to \(Migration.latest)")
      }
      for name in broken {
        note(.problem, .trigger, "the trigger \(name) is missing or changed: what was written since is not in the log")
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
          check.note(.warning, .scratch, "\(row.integer(0)) rows are left in \(table); the next INSERT clears them")
        }
      }
    }
  }

  // MARK: Integrity

  /// A table of another program may compute what is checked of it, for as long as it likes, or with functions that only
  /// that program has: with one there, ours are checked one by one, and the account of all pages is left out.
  private mutating func checkIntegrity(of connection: borrowing Connection) throws(StoreError) {
    let own = try SchemaCheck.tables
    var tables: [String] = []
    try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", to: Self.purpose) {
      tables.append($0.text(0))
    }
    let isAlone = tables.allSatisfy { own.contains($0) }
    for part in isAlone ? ["\(Self.limit)"] : ["sqlite_schema"] + tables.filter({ own.contains($0) }) {
      // Twice, if need be: a page that could not be read for a moment, for want of memory, is damaged in SQLite's words.
      if try problems(in: part, of: connection).isEmpty { continue }
      for text in try problems(in: part, of: connection) { note(.problem, .integrity, text) }
    }
  }

  private func problems(in part: String, of connection: borrowing Connection) throws(StoreError) -> [String] {
    var texts: [String] = []
    try connection.rows("PRAGMA integrity_check(\(part))", to: Self.purpose) { texts.append($0.text(0)) }
    return texts.filter { $0 != "ok" }
  }

  /// The same for who wants no list.
  ///
  /// - Throws: `StoreError.Code.corrupt` with the first that there is; `.ioError` and the like when a part could not be read: the
  ///   check of SQLite calls that damaged.
  static func requireIntegrity(_ connection: borrowing Connection) throws(StoreError) {
    var check = StoreCheck()
    try check.checkIntegrity(of: connection)
    if !check.findings.isEmpty, let error = connection.readError { throw StoreError(error, "read the file") }
    try check.requireNone()
  }

  /// What else `check` looks for when pages are whole: a log that does not tell the records, and what no reader decodes.
  ///
  /// - Throws: `StoreError.Code.problemsFound` with the first problem.
  static func requireNoProblems(_ connection: borrowing Connection) throws(StoreError) {
    var check = StoreCheck()
    try check.checkLog(of: connection)
    try check.checkRecords(of: connection)
    guard let first = check.findings.first(where: { $0.severity == .problem }) else { return }
    let count = check.counts.values.reduce(0, +)
    throw StoreError(.problemsFound, "check finds \(count) problem\(count == 1 ? "" : "s"): \(first.message)")
  }

  /// - Throws: `StoreError.Code.corrupt` with the first problem.
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
}
