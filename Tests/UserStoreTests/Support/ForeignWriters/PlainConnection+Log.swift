import TestSupport

@testable import UserStore

/// The SQL that is compiled into the library.
enum Migrations {
  static let all = Migration.all.map(\.sql).joined(separator: "\n")
}

extension PlainConnection {
  /// A new database in memory with the library's tables, with the settings of a careful foreign writer.
  static func withTables(
    recursiveTriggers: Bool = false, pageSize: Int = 4096
  ) throws(PlainError) -> PlainConnection {
    let connection = try PlainConnection()
    try connection.script("PRAGMA page_size = \(pageSize); \(Migrations.all)")
    try connection.script("PRAGMA trusted_schema = OFF")
    if recursiveTriggers { try connection.script("PRAGMA recursive_triggers = ON") }
    return connection
  }

  /// The log after a position: op, user, attribute, old and new, in SQL notation.
  func log(after seq: Int64 = 0) throws(PlainError) -> [String] {
    let sql = "SELECT op, user, attribute, old, new FROM changes WHERE seq > ? ORDER BY seq"
    return try run(sql, [.integer(seq)]).map { $0.map(\.description).joined(separator: " ") }
  }

  /// The number of the newest change.
  func position() throws -> Int64 {
    guard case .integer(let seq) = try value("SELECT max(seq) FROM changes") else { return 0 }
    return seq
  }

  /// The first and the last row that the log has, the number of its rows, and its horizon.
  func extent() throws -> (first: Int64, last: Int64, count: Int64, horizon: Int64) {
    let row = try run("SELECT min(seq), max(seq), count(*), (SELECT horizon FROM meta) FROM changes")[0].map { value in
      if case .integer(let integer) = value { integer } else { Int64(0) }
    }
    return (row[0], row[1], row[2], row[3])
  }
}
