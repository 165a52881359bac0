/// Checks of the rows: of the log, whether it is valid and agrees with the tables, and of users and attributes.
extension StoreCheck {
  // MARK: Log

  mutating func checkLog(of connection: borrowing Connection) throws(StoreError) {
    guard let horizon = try checkRows(of: connection) else { return }
    // Without a trigger they differ, and that has been noted.
    if findings.contains(where: { $0.kind == .trigger }) { return }
    try checkOldValues(after: horizon, of: connection)
    try checkLastValues(after: horizon, of: connection)
    if horizon == 0 { try checkNothingUnlogged(in: connection) }
  }

  /// Checks the log alone, and returns where it begins; nil if that is unknown.
  @discardableResult
  mutating func checkRows(of connection: borrowing Connection) throws(StoreError) -> Int64? {
    guard let horizon = try checkMeta(of: connection) else { return nil }
    try checkSequence(after: horizon, of: connection)
    try checkRows(after: horizon, of: connection)
    return horizon
  }

  private mutating func checkMeta(of connection: borrowing Connection) throws(StoreError) -> Int64? {
    var horizon: Int64?
    var last: Int64?
    try rows("SELECT horizon FROM meta WHERE id = 1", of: connection) { horizon = $1.integer(0) }
    try rows("SELECT max(seq) FROM changes", of: connection) { last = $1.isNull(0) ? nil : $1.integer(0) }
    guard let horizon else {
      note(.problem, .log, "the log has no meta row")
      return nil
    }
    // Compaction never deletes the newest row.
    if horizon < 0 || horizon > last ?? 0 || (last ?? 0) >= 1 << Int64(Revision.bits) {
      note(.problem, .log, "the log begins after \(horizon) and ends at \(last ?? 0)")
      return nil
    }
    return horizon
  }

  private mutating func checkSequence(after horizon: Int64, of connection: borrowing Connection) throws(StoreError) {
    // Revisions are unique, so that none is missing if the count is right: counting takes a tenth of the time of comparing each
    // with the one before.
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
        nonce IS NULL OR op IS NULL OR op NOT BETWEEN 0 AND \(Note.pushedOperation)
        OR op = 0 AND (typeof(old) IS NOT 'integer' OR old NOT BETWEEN 1 AND seq - 1)
        OR op BETWEEN 1 AND 4 AND (user IS NULL OR attribute IS NULL)
        OR op = \(Note.purgedOperation) AND user IS NULL
        OR op = \(Note.eventOperation) AND typeof(old) IS NOT 'text'
        OR op = \(Note.joinedOperation) AND coalesce(user, old, new) IS NOT NULL
        OR op = \(Note.pulledOperation) AND (typeof(old) NOT IN ('text', 'null') OR coalesce(user, new) IS NOT NULL)
        OR op = \(Note.pushedOperation) AND (typeof(old) IS NOT 'integer' OR coalesce(user, new) IS NOT NULL)
        OR op > 4 AND attribute IS NOT NULL)
      """
    try rows(sql, of: connection) { check, row in
      let what = row.integer(1) == 1 ? "has no nonce" : "was not written by this library or its triggers"
      check.note(.problem, .log, "revision \(row.integer(0)) of the log \(what)")
    }
  }

  /// Checks that the old value of each change is the new value of the one before: this reveals a write that is not in the log,
  /// even if a later write has overwritten it.
  ///
  /// Only for existing users, because a purge may have removed values of others. Revisions are sorted, not values.
  private mutating func checkOldValues(after horizon: Int64, of connection: borrowing Connection) throws(StoreError) {
    let sql = """
      SELECT later.user, later.attribute, later.seq, earlier.seq FROM (
        SELECT seq, lag(seq) OVER (PARTITION BY user, attribute ORDER BY seq) AS before FROM changes
        WHERE seq > \(horizon) AND op BETWEEN 1 AND 3 AND user IN (SELECT id FROM users)) AS pair
      CROSS JOIN changes AS later ON later.seq = pair.seq
      CROSS JOIN changes AS earlier ON earlier.seq = pair.before
      WHERE later.old IS NOT earlier.new OR typeof(later.old) IS NOT typeof(earlier.new)
      """
    try problems(.log, sql, of: connection) { user, attribute, row in
      "the \(attribute) of user \(user) has another value before revision \(row.integer(2)) than after revision \(row.integer(3))"
    }
  }

  /// Checks that the last row of each user and attribute has the stored value.
  ///
  /// The grouping sorts, on disk if the connection's `temp_store` allows it; then both sides are read in the same order.
  private mutating func checkLastValues(after horizon: Int64, of connection: borrowing Connection) throws(StoreError) {
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
    try problems(.log, sql, of: connection) { user, attribute, row in
      "the \(attribute) of user \(user) differs from its last value in the log, at revision \(row.integer(2))"
    }
  }

  /// Checks that everything is in the log, if it begins with an empty store.
  private mutating func checkNothingUnlogged(in connection: borrowing Connection) throws(StoreError) {
    let sql = """
      SELECT id, 'name' FROM users UNION ALL SELECT id, 'hair_color' FROM users WHERE hair_color IS NOT NULL
      UNION ALL SELECT user_id, name FROM attributes
      EXCEPT SELECT user, attribute FROM changes WHERE op BETWEEN 1 AND 3
      """
    try problems(.log, sql, of: connection) { user, attribute, _ in
      "the \(attribute) of user \(user) is not in the log"
    }
  }

  // MARK: Records

  mutating func checkRecords(of connection: borrowing Connection) throws(StoreError) {
    try checkOrphans(of: connection)
    // SQLite's own check names neither user nor attribute, and skips CHECKs if the file is read-only (seen with 3.40.1).
    let reserved = "SELECT user_id, name FROM attributes WHERE name IN ('id', 'name', 'hair_color')"
    try problems(.value, reserved, of: connection) { user, attribute, _ in
      "user \(user) has an attribute of the reserved name \(attribute), which is never read"
    }
    try checkIDs(of: connection)
    let colors = "SELECT id, 'hair_color', hair_color FROM users WHERE hair_color IS NOT NULL ORDER BY id"
    // Only text can be invalid; other values are not even copied.
    let texts = "SELECT user_id, name, CASE typeof(value) WHEN 'text' THEN value END FROM attributes"
    for sql in ["SELECT id, 'name', name FROM users ORDER BY id", colors, texts] {
      try rows(sql, of: connection) { $0.checkValue($1) }
    }
  }

  /// Finds values of unique attributes that several users have: written while a trigger was missing.
  mutating func checkUniqueValues(of connection: borrowing Connection) throws(StoreError) {
    for index in uniqueAttributes {
      try connection.eachDuplicate(of: index) { value, users in
        let message = "\(users.listed) have the same \(index.attribute), which is unique: \(value.forMessages)"
        note(.problem, .value, message, user: users.first?.rawValue, attribute: index.attribute.text)
        return true
      }
    }
  }

  mutating func checkOrphans(of connection: borrowing Connection) throws(StoreError) {
    let sql = "SELECT user_id, name FROM attributes WHERE NOT EXISTS (SELECT 1 FROM users WHERE id = user_id)"
    try problems(.orphan, sql, of: connection) { user, attribute, _ in
      "the attribute \(attribute) belongs to user \(user), who does not exist"
    }
  }

  /// After the largest integer, SQLite cannot assign another id.
  private mutating func checkIDs(of connection: borrowing Connection) throws(StoreError) {
    try rows(SQLiteSession.largestID.text, of: connection) { check, row in
      guard row.integer(0) == Int64.max else { return }
      check.note(.problem, .value, SQLiteSession.noIDLeft, user: row.isNull(1) ? nil : row.integer(1))
    }
  }

  /// Checks a row of user, attribute and value.
  private mutating func checkValue(_ row: borrowing Statement) {
    let (user, attribute) = (row.integer(0), row.text(1))
    if case .invalidText = row.value(1) {
      let message = "the name of an attribute of user \(user) is not valid UTF-8: \(attribute)"
      note(.problem, .value, message, user: user, attribute: attribute)
    }
    switch row.value(2) {
    case .invalidText:
      note(.problem, .value, "the \(attribute) of user \(user) is not valid UTF-8", user: user, attribute: attribute)
    case let value where attribute == "hair_color" && Color(storedValue: value) == nil:
      let message = "the hair_color of user \(user) is not a color: \(value.forMessages)"
      note(.problem, .value, message, user: user, attribute: attribute)
    default: break
    }
  }
}
