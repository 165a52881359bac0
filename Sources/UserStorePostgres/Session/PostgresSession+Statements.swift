import UserStore

/// Running statements, each with what is due before it.
extension PostgresSession {
  func run(_ statement: PostgresStatement, _ values: PostgresValue...) throws(StoreError) -> PostgresResult {
    try pipeline { batch throws(PostgresError) in try batch.add(statement, values) }
  }

  /// Runs a statement and makes a value of each row.
  func all<Value>(
    _ statement: PostgresStatement, _ values: PostgresValue...,
    make: (PostgresRow) throws(PostgresError) -> Value
  ) throws(StoreError) -> [Value] {
    let result = try pipeline { batch throws(PostgresError) in try batch.add(statement, values) }
    return try decoding { () throws(PostgresError) in
      var values: [Value] = []
      values.reserveCapacity(result.count)
      try result.each { row throws(PostgresError) in
        values.append(try make(row))
        return true
      }
      return values
    }
  }

  /// Runs a statement and makes a value of the first row; nil if there is none.
  func first<Value>(
    _ statement: PostgresStatement, _ values: PostgresValue...,
    awaiting awaited: (revision: Int64, epoch: Int64)? = nil,
    make: (PostgresRow) throws(PostgresError) -> Value
  ) throws(StoreError) -> Value? {
    let result = try pipeline(awaiting: awaited) { batch throws(PostgresError) in try batch.add(statement, values) }
    return try decoding { () throws(PostgresError) in
      try result.first.map { row throws(PostgresError) in try make(row) }
    }
  }

  /// Calls `body` with each row, a page at a time, until it returns false.
  func scan(
    _ statement: PostgresStatement, _ values: [PostgresValue] = [],
    while body: (PostgresRow) throws(PostgresError) -> Bool
  ) throws(StoreError) {
    try sendDue()
    try decoding { () throws(PostgresError) in try connection.scan(statement, values, while: body) }
  }

  /// Runs statements without parameters.
  func execute(_ sql: String, to purpose: String) throws(StoreError) {
    try sendDue()
    try decoding { () throws(PostgresError) in try connection.execute(sql, to: purpose) }
  }

  func decoding<Value>(_ body: () throws(PostgresError) -> Value) throws(StoreError) -> Value {
    do throws(PostgresError) { return try body() } catch { throw StoreError(inOpenStore: error) }
  }
}
