@testable import UserStore

extension Connection {
  /// A database in memory with one table whose column takes every value as it is.
  static func withTable() throws -> Connection {
    let connection = try Connection(path: nil, access: .readWrite, busyTimeout: 0)
    try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, value ANY) STRICT")
    return connection
  }

  /// The first column of the first row, as text; nil without a row.
  func text(_ sql: String) throws(SQLiteError) -> String? {
    var text: String?
    try rows(sql) { row in if text == nil { text = row.text(0) } }
    return text
  }
}
