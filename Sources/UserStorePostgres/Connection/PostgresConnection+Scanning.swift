import UserStore

extension PostgresConnection {
  /// Calls `body` with each row of a query, in the open transaction, until it returns false.
  ///
  /// `rowsPerTrip` rows are in memory.
  ///
  /// It reads through a cursor, and not row by row as they arrive (`PQsetSingleRowMode`): a scan that stops early then needs
  /// neither to cancel the query nor to receive the rest, `body` may run other statements of the connection, and libpq makes one
  /// result for a thousand rows and not one for each. The first round trip returns rows already; a result of fewer than
  /// `rowsPerTrip` rows needs no second one.
  ///
  /// - Throws: `.unexpected` if no transaction is open.
  func scan(
    _ statement: PostgresStatement, _ values: [PostgresValue] = [], rowsPerTrip: Int = 1_000,
    while body: (PostgresRow) -> Bool
  ) throws(StoreError) {
    if isOpen, transactionStatus != .inTransaction {
      throw StoreError(PostgresError(.unexpected, "a scan needs an open transaction", purpose: statement.purpose))
    }
    scanCount += 1
    let cursor = "userstore_scan_\(scanCount)"
    let open = PostgresStatement(
      once: statement.purpose, "DECLARE \(cursor) NO SCROLL CURSOR FOR \(statement.text)", types: statement.types)
    let fetch = PostgresStatement(once: statement.purpose, "FETCH \(rowsPerTrip) FROM \(cursor)")
    let close = PostgresStatement(once: statement.purpose, "CLOSE \(cursor)")
    var rows = try pipeline { batch in
      batch.add(open, values)
      return batch.add(fetch)
    }
    scanDepth += 1
    hasOpenCursors = true
    defer { scanDepth -= 1 }
    while try rows.each(while: body), rows.count == rowsPerTrip { rows = try run(fetch) }
    // The next batch closes the outermost cursor. There may be very many others, one for each row.
    if scanDepth > 1, transactionStatus == .inTransaction { try run(close) }
  }
}
