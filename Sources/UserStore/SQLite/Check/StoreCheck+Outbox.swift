extension StoreCheck {
  /// The log of a replica is kept for what its server has not decided, and for refusals; a longer time than this is worth a warning.
  private static let longestHold: Int64 = 30 * 86_400_000

  /// Checks that the log of a replica still has what is to be sent, and warns if it has been kept for long.
  mutating func checkOutbox(of connection: borrowing Connection) throws(StoreError) {
    guard try SchemaPart.outbox.exists(on: connection) else { return }
    // A set is known by the number of its last row; gaps of the log itself were found before.
    let lost = """
      SELECT last FROM userstore_outbox AS own WHERE NOT EXISTS
        (SELECT 1 FROM changes WHERE seq = own.last AND nonce = own.nonce) OR first <= (SELECT horizon FROM meta)
      UNION ALL SELECT taken FROM userstore_replica WHERE (writes = 1 OR EXISTS (SELECT 1 FROM userstore_outbox))
        AND taken > (SELECT horizon FROM meta) AND NOT EXISTS (SELECT 1 FROM changes WHERE seq = taken AND nonce = seen_nonce)
      """
    try rows(lost, of: connection) { check, row in
      check.note(
        .problem, .log,
        "the log lacks changes through revision \(row.integer(0)) that are to be sent to the server; discard what was not sent"
      )
    }
    let held = """
      SELECT (SELECT count(*) FROM userstore_outbox), (SELECT count(*) FROM userstore_refusals), min(at) FROM changes WHERE seq IN
        (SELECT min(first) FROM userstore_outbox UNION ALL SELECT min(first) FROM userstore_refusals)
      """
    try rows(held, of: connection) { check, row in
      if row.isNull(2) || WallClock.milliseconds - row.integer(2) < Self.longestHold { return }
      let since = Timestamp(milliseconds: row.integer(2)).utc
      check.note(
        .warning, .log,
        "the log is kept since \(since) for writes that the server has not decided (\(row.integer(0))) and refusals that nobody has acknowledged (\(row.integer(1)))"
      )
    }
  }
}
