/// The log: whether it can be, and whether it says what the tables hold.
extension StoreCheck {
  mutating func checkLog(of connection: borrowing Connection) throws(StoreError) {
    guard let horizon = try checkRows(of: connection) else { return }
    // Where a trigger is missing they differ, and that was said.
    if findings.contains(where: { $0.kind == .trigger }) { return }
    try checkOldValues(after: horizon, of: connection)
    try checkLastValues(after: horizon, of: connection)
    if horizon == 0 { try checkNothingUnlogged(in: connection) }
  }

  /// Whether the log can be, whatever the tables hold.
  ///
  /// - Returns: where it begins; nil when nobody can know.
  @discardableResult
  mutating func checkRows(of connection: borrowing Connection) throws(StoreError) -> Int64? {
    guard let horizon = try checkMeta(of: connection) else { return nil }
    try checkSequence(after: horizon, of: connection)
    try checkRows(after: horizon, of: connection)
    return horizon
  }

  /// - Returns: where the log begins; nil when nobody can know.
  private mutating func checkMeta(of connection: borrowing Connection) throws(StoreError) -> Int64? {
    var horizon: Int64?
    var last: Int64?
    try rows("SELECT horizon FROM meta WHERE id = 1", of: connection) { horizon = $1.integer(0) }
    try rows("SELECT max(seq) FROM changes", of: connection) { last = $1.isNull(0) ? nil : $1.integer(0) }
    guard let horizon else {
      note(.problem, .log, "the log has no meta row")
      return nil
    }
    // The newest row stays when the others are forgotten.
    if horizon < 0 || horizon > last ?? 0 || (last ?? 0) >= 1 << Int64(Revision.bits) {
      note(.problem, .log, "the log begins after \(horizon) and ends at \(last ?? 0)")
      return nil
    }
    return horizon
  }

  /// Numbers follow each other from where the log begins.
  private mutating func checkSequence(after horizon: Int64, of connection: borrowing Connection) throws(StoreError) {
    // No number comes twice, so that as many as there must be are all of them: counting takes a tenth of the time that
    // comparing each with the one before takes.
    var isWhole = false
    try rows("SELECT count(*), max(seq) FROM changes WHERE seq > \(horizon)", of: connection) {
      isWhole = $1.integer(0) == ($1.isNull(1) ? 0 : $1.integer(1) - horizon)
    }
    if isWhole { return }
    let sql = """
      SELECT before, seq FROM
        (SELECT seq, lag(seq, 1, \(horizon)) OVER (ORDER BY seq) AS before FROM changes WHERE seq > \(horizon))
      WHERE seq <> before + 1
      """
    try rows(sql, of: connection) { check, row in
      check.note(.problem, .log, "the log has a gap: revision \(row.integer(1)) follows \(row.integer(0))")
    }
  }

  private mutating func checkRows(after horizon: Int64, of connection: borrowing Connection) throws(StoreError) {
    let sql = """
      SELECT seq, nonce IS NULL, op, old FROM changes WHERE seq > \(horizon) AND (
        nonce IS NULL OR op IS NULL OR op NOT BETWEEN 0 AND 3
        OR op = 0 AND (typeof(old) IS NOT 'integer' OR old NOT BETWEEN 1 AND seq - 1)
        OR op > 0 AND (user IS NULL OR attribute IS NULL))
      """
    try rows(sql, of: connection) { check, row in
      let what = row.integer(1) == 1 ? "has no nonce" : "is none that a writer of this library or a trigger makes"
      check.note(.problem, .log, "revision \(row.integer(0)) of the log \(what)")
    }
  }

  /// Each change begins with what the one before it left: what a writer did behind the log's back shows here, also where
  /// a later write has covered it up.
  ///
  /// Only of users who are there: of others a purge may have blanked a part. Numbers are sorted, and no values.
  private mutating func checkOldValues(
    after horizon: Int64, of connection: borrowing Connection
  ) throws(StoreError) {
    let sql = """
      SELECT later.user, later.attribute, later.seq, earlier.seq FROM (
        SELECT seq, lag(seq) OVER (PARTITION BY user, attribute ORDER BY seq) AS before FROM changes
        WHERE seq > \(horizon) AND op BETWEEN 1 AND 3 AND user IN (SELECT id FROM users)) AS pair
      CROSS JOIN changes AS later ON later.seq = pair.seq
      CROSS JOIN changes AS earlier ON earlier.seq = pair.before
      WHERE later.old IS NOT earlier.new OR typeof(later.old) IS NOT typeof(earlier.new)
      """
    try rows(sql, of: connection) { check, row in
      let (user, attribute) = (row.integer(0), row.text(1))
      check.note(
        .problem, .log,
        "the \(attribute) of user \(user) was at revision \(row.integer(2)) not what revision \(row.integer(3)) of the log says it became",
        user: user, attribute: attribute)
    }
  }

  /// The present state as the log would tell it: the last row of each user and attribute.
  ///
  /// The grouping sorts, on disk if the connection's `temp_store` lets it; then both sides are met in the same order.
  private mutating func checkLastValues(
    after horizon: Int64, of connection: borrowing Connection
  ) throws(StoreError) {
    let sql = """
      SELECT user, attribute, seq FROM (
        SELECT last.user, last.attribute, last.seq, changes.new AS logged,
          CASE last.attribute
            WHEN 'name' THEN users.name WHEN 'hair_color' THEN users.hair_color ELSE attributes.value END AS present
        FROM (
          SELECT user, attribute, max(seq) AS seq FROM changes
          WHERE seq > \(horizon) AND op BETWEEN 1 AND 3 GROUP BY user, attribute) AS last
        CROSS JOIN changes ON changes.seq = last.seq
        LEFT JOIN users ON users.id = last.user
        LEFT JOIN attributes ON attributes.user_id = last.user AND attributes.name = last.attribute)
      WHERE logged IS NOT present OR typeof(logged) IS NOT typeof(present)
      """
    try rows(sql, of: connection) { check, row in
      let (user, attribute) = (row.integer(0), row.text(1))
      check.note(
        .problem, .log,
        "the \(attribute) of user \(user) is not what the log says it became at revision \(row.integer(2))",
        user: user, attribute: attribute)
    }
  }

  /// A log that begins with an empty store has told of everything.
  private mutating func checkNothingUnlogged(in connection: borrowing Connection) throws(StoreError) {
    let sql = """
      SELECT id, 'name' FROM users UNION ALL SELECT id, 'hair_color' FROM users WHERE hair_color IS NOT NULL
      UNION ALL SELECT user_id, name FROM attributes
      EXCEPT SELECT user, attribute FROM changes WHERE op BETWEEN 1 AND 3
      """
    try rows(sql, of: connection) { check, row in
      let (user, attribute) = (row.integer(0), row.text(1))
      check.note(
        .problem, .log, "the log does not say how user \(user) came to have the \(attribute)", user: user,
        attribute: attribute)
    }
  }
}
