/// How large rows of the log are.
enum LogSize {
  /// What a row takes without its values.
  static let rowBytes: Int64 = 64
  /// Of one row: as `LogRow.byteCount`.
  static let expression = "\(rowBytes) + \(value("old")) + \(value("new"))"

  private static func value(_ column: String) -> String {
    """
    CASE typeof(\(column)) WHEN 'null' THEN 0 WHEN 'integer' THEN 8 WHEN 'real' THEN 8
    ELSE length(CAST(\(column) AS BLOB)) END
    """
  }

  private static let selectRows = Query(
    "SELECT seq, \(expression) FROM changes WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3")
  private static let selectUsed = Query(
    "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size")

  /// The first rows after one, through another, as many as one step takes, by number and by size.
  ///
  /// - Returns: the last of them, and how large they are together; `start` when there is none.
  static func step(
    after start: Int64, through end: Int64, limit: Int, _ connection: borrowing Connection
  ) throws(StoreError) -> (last: Int64, bytes: Int64) {
    try storing("read the log") { () throws(SQLiteError) in
      try connection.withStatement(selectRows) { statement throws(SQLiteError) in
        try statement.bind(start, at: 1)
        try statement.bind(end, at: 2)
        try statement.bind(Int64(limit), at: 3)
        var (last, bytes) = (start, Int64(0))
        while bytes < LogPage.byteLimit, try statement.step() {
          last = statement.integer(0)
          bytes += statement.integer(1)
        }
        return (last, bytes)
      }
    }
  }

  /// What the records and the log take in the file together: the log is not larger.
  static func upperBound(_ connection: borrowing Connection) throws(StoreError) -> Int64 {
    try storing("read the log") { () throws(SQLiteError) in
      try connection.first(selectUsed) { $0.integer(0) } ?? .max
    }
  }
}
