/// Users and attributes: whether a reader can make sense of them.
extension StoreCheck {
  mutating func checkRecords(of connection: borrowing Connection) throws(StoreError) {
    try checkOrphans(of: connection)
    try checkAttributeNames(of: connection)
    try checkIDs(of: connection)
    try rows("SELECT id, 'name', name FROM users ORDER BY id", of: connection) { $0.checkValue($1) }
    try rows("SELECT id, 'hair_color', hair_color FROM users WHERE hair_color IS NOT NULL ORDER BY id", of: connection)
    {
      $0.checkValue($1)
    }
    // Only text can be wrong in itself; of the others not even a copy is made.
    let texts = "SELECT user_id, name, CASE typeof(value) WHEN 'text' THEN value END FROM attributes"
    try rows(texts, of: connection) { $0.checkValue($1) }
  }

  mutating func checkOrphans(of connection: borrowing Connection) throws(StoreError) {
    let sql = """
      SELECT user_id, name FROM attributes WHERE NOT EXISTS (SELECT 1 FROM users WHERE id = user_id)
      """
    try rows(sql, of: connection) { check, row in
      let (user, attribute) = (row.integer(0), row.text(1))
      check.note(
        .problem, .orphan, "there is no user \(user), but an attribute \(attribute) of it", user: user,
        attribute: attribute)
    }
  }

  /// SQLite's own check names neither user nor attribute, and leaves CHECKs out where the file may only be read (seen with
  /// 3.40.1).
  private mutating func checkAttributeNames(of connection: borrowing Connection) throws(StoreError) {
    let sql = "SELECT user_id, name FROM attributes WHERE name IN ('id', 'name', 'hair_color')"
    try rows(sql, of: connection) { check, row in
      let (user, attribute) = (row.integer(0), row.text(1))
      check.note(
        .problem, .value, "user \(user) has a further attribute called \(attribute), which no reader looks at",
        user: user, attribute: attribute)
    }
  }

  /// After the largest number of all SQLite gives no new id.
  private mutating func checkIDs(of connection: borrowing Connection) throws(StoreError) {
    try rows(SQLiteSession.largestID.sql, of: connection) { check, row in
      guard row.integer(0) == Int64.max else { return }
      check.note(.problem, .value, SQLiteSession.noIDLeft, user: row.isNull(1) ? nil : row.integer(1))
    }
  }

  /// A row of `user, attribute, value`.
  private mutating func checkValue(_ row: borrowing Statement) {
    let (user, attribute) = (row.integer(0), row.text(1))
    if case .invalidText = row.value(1) {
      note(
        .problem, .value, "an attribute of user \(user) has a name that is not valid UTF-8: \(attribute)", user: user,
        attribute: attribute)
    }
    switch row.value(2) {
    case .invalidText:
      note(
        .problem, .value, "the \(attribute) of user \(user) is not valid UTF-8", user: user, attribute: attribute)
    case let value where attribute == "hair_color" && Color(storedValue: value) == nil:
      note(
        .problem, .value, "the hair_color of user \(user) is no colour: \(value.forMessages)", user: user,
        attribute: attribute)
    default: break
    }
  }
}
