import UserStore

extension PostgresSession {
  @discardableResult
  func run(_ statement: PostgresStatement, _ values: PostgresValue...) throws(StoreError) -> PostgresResult {
    try pipeline { $0.add(statement, values) }
  }

  func all<Value>(
    _ statement: PostgresStatement, _ values: PostgresValue..., make: (PostgresRow) -> Value
  ) throws(StoreError) -> [Value] {
    try pipeline { $0.add(statement, values) }.all(make: make)
  }

  func first<Value>(
    _ statement: PostgresStatement, _ values: PostgresValue...,
    awaiting awaited: (revision: Int64, epoch: Int64)? = nil, make: (PostgresRow) -> Value
  ) throws(StoreError) -> Value? {
    try pipeline(awaiting: awaited) { $0.add(statement, values) }.first(make: make)
  }

  /// Calls `body` with each row, reading a page at a time, until it returns false.
  func scan(
    _ statement: PostgresStatement, _ values: [PostgresValue] = [], while body: (PostgresRow) -> Bool
  ) throws(StoreError) {
    try sendDue()
    try connection.scan(statement, values, while: body)
  }
}
