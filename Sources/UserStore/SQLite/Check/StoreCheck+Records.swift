/// Checks of users and attributes.
extension StoreCheck {
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
