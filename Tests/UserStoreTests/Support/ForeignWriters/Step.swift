import TestSupport

/// One statement of a foreign writer.
struct Step: CustomStringConvertible {
  let sql: String
  let values: [PlainValue]

  init(_ sql: String, _ values: PlainValue...) {
    self.init(sql, values)
  }

  init(_ sql: String, _ values: [PlainValue]) {
    self.sql = sql
    self.values = values
  }

  /// Whether the statement names tables that only the library's schema has.
  var touchesLog: Bool { sql.contains("changes") || sql.contains("displaced") }

  /// The statement for the sqlite3 shell.
  var description: String {
    var values = values.makeIterator()
    return sql.map { $0 == "?" ? values.next()?.description ?? "?" : String($0) }.joined() + ";"
  }
}
