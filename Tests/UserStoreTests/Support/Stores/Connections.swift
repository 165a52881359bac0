import Testing

@testable import UserStore

extension Connection {
  /// A database in memory with one table, whose column stores every value unchanged.
  static func withTable() throws -> Connection {
    let connection = try Connection(path: nil, access: .readWrite, busyTimeout: 0)
    try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, value ANY) STRICT")
    return connection
  }

  func execute(_ sql: String) throws(StoreError) { try execute(sql, to: "run a test") }

  func rows(_ sql: String, _ body: (borrowing Statement) -> Void) throws(StoreError) {
    try rows(sql, to: "run a test", body)
  }

  /// The first column of the first row as text, or nil if there is no row.
  func text(_ sql: String) throws(StoreError) -> String? {
    var text: String?
    try rows(sql) { row in if text == nil { text = row.text(0) } }
    return text
  }
}

extension SQLiteSession {
  func execute(_ sql: String) throws(StoreError) { try connection.execute(sql) }

  /// Runs `body` in a transaction and commits it.
  func writing<Result>(_ body: () throws -> Result) throws -> Result {
    try execute("BEGIN IMMEDIATE")
    let result = try body()
    try execute("COMMIT")
    return result
  }
}

extension SQL {
  init(_ sql: String) { self.init("run a test", sql) }
}

extension Transaction {
  /// Runs SQL of SQLite.
  func execute(_ sql: String) throws { try #require(session as? SQLiteSession).execute(sql) }
}

extension UserStore {
  /// The path of the database, or nil for a database in memory.
  var path: String? { (engine as? SQLiteEngine)?.file?.path }

  var checkpoints: Checkpoints? { (engine as? SQLiteEngine)?.checkpoints }
}

extension StoreError {
  /// The error that SQLite reported.
  var sqlite: SQLiteError? { cause as? SQLiteError }
}
