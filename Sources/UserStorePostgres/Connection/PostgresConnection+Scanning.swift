import UserStore

extension PostgresConnection {
  /// Calls `body` with each row of a query, in the open transaction, until it returns false; at most `rowsPerTrip` rows are in
  /// memory.
  ///
  /// A cursor has advantages over receiving row by row (`PQsetSingleRowMode`): a scan that stops early need not cancel the query
  /// or receive the rest, `body` may run other statements on the connection, and libpq builds one result for a thousand rows. The
  /// first round trip already returns rows; fewer than `rowsPerTrip` rows need no second one.
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
    // The next batch closes the outermost cursor. Inner ones are closed here, because each row may have opened one.
    if scanDepth > 1, transactionStatus == .inTransaction { try run(close) }
  }
}
