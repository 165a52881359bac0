import TestSupport

extension StepGenerator {
  mutating func insertAttributes() -> Step {
    let target = attributeTarget()
    return Step(
      "INSERT \(orClause()) INTO attributes (\(target.columns)) VALUES \(target.sql)\(returning())", target.values)
  }

  mutating func upsertAttributes() -> Step {
    let target = attributeTarget()
    let conflict = random.choose(
      "ON CONFLICT (user_id, name) DO UPDATE SET value = excluded.value", "ON CONFLICT DO NOTHING",
      "ON CONFLICT (user_id, name) DO UPDATE SET value = excluded.value WHERE typeof(value) = 'integer'",
      "ON CONFLICT (user_id, name) DO NOTHING", "ON CONFLICT (rowid) DO NOTHING",
      "ON CONFLICT (rowid) DO UPDATE SET value = excluded.value", "ON CONFLICT DO UPDATE SET value = 'kept'",
      "ON CONFLICT (rowid) DO UPDATE SET name = excluded.name",
      "ON CONFLICT (rowid) DO NOTHING ON CONFLICT (user_id, name) DO UPDATE SET value = excluded.value")
    return Step(
      "INSERT \(orClause()) INTO attributes (\(target.columns)) VALUES \(target.sql) \(conflict)\(returning())",
      target.values)
  }

  mutating func copyAttributes() -> Step {
    let (columns, source) = random.choose(
      ("user_id, name, value", "SELECT user_id + 1, name, value FROM attributes WHERE user_id <> ?"),
      ("user_id, name, value", "SELECT id, 'copy', name FROM users WHERE id <> ?"),
      ("user_id, name, value", "SELECT user_id, name, \(conversion()) FROM attributes WHERE user_id >= ?"),
      ("user_id, name, value", "SELECT user_id, name, \(conversion()) FROM attributes WHERE user_id = ?"),
      ("rowid, user_id, name, value", "SELECT rowid + 1, user_id, name, 'up' FROM attributes WHERE user_id >= ?"),
      ("rowid, user_id, name, value", "SELECT rowid, user_id, name || 'x', value FROM attributes WHERE user_id >= ?"),
      ("rowid, user_id, name, value", "SELECT rowid, user_id, name, \(conversion()) FROM attributes WHERE user_id >= ?")
    )
    return Step("INSERT \(orClause()) INTO attributes (\(columns)) \(source) LIMIT 3\(returning())", key())
  }

  /// Keys that SQLite evaluates once for BEFORE triggers and once for the row: all of them, or one.
  mutating func computeAttributeKey() -> Step {
    let user = random.choose("varying(4)", "varying(2) + 1", "1", "2")
    let name = random.choose("char(97 + varying(2))", "'a'", "'b'")
    let value = random.choose("varying(2)", "1", "'x'")
    let conflict = random.choose(
      "", "", "", "ON CONFLICT DO NOTHING", "ON CONFLICT DO UPDATE SET value = excluded.value")
    let (columns, row) = random.choose(
      ("", ""), ("rowid, ", "varying(3), "), ("rowid, ", "varying(5), "), ("oid, ", "2, "), ("rowid, ", "NULL, "))
    // Displaced rows are the most likely to be logged wrongly.
    let clause = random.oneIn(2) ? "OR REPLACE" : orClause()
    return Step(
      "INSERT \(clause) INTO attributes (\(columns)user_id, name, value) VALUES (\(row)\(user), \(name), \(value)) \(conflict)\(returning())"
    )
  }

  mutating func updateAttributes() -> Step {
    if random.oneIn(3) {
      return Step("UPDATE \(orClause()) attributes SET value = \(conversion()) WHERE user_id >= ?", key())
    }
    return Step(
      "UPDATE \(orClause()) attributes SET value = ? WHERE user_id >= ?\(returning())", attributeValue(), key())
  }

  mutating func changeAttributeKey() -> Step {
    let column = random.choose("user_id", "name", "rowid", "oid", "_rowid_")
    let value = column == "name" ? attributeName() : key()
    return Step(
      "UPDATE \(orClause()) attributes SET value = 'moved', \(column) = ? WHERE user_id = ?", value, key())
  }

  mutating func deleteAttributes() -> Step {
    if random.oneIn(8) { return Step("DELETE FROM attributes") }
    if random.oneIn(2) {
      let column = random.choose("rowid", "user_id")
      return Step("DELETE FROM attributes WHERE \(column) = ?\(returning())", key())
    }
    return Step("DELETE FROM attributes WHERE name = ?\(returning())", attributeName())
  }

  /// An expression for a new value, often one that a careless comparison takes for equal.
  private mutating func conversion() -> String {
    random.choose(
      "CAST(value AS TEXT)", "CAST(value AS BLOB)", "CAST(value AS REAL)", "CAST(value AS INTEGER)", "upper(value)",
      "lower(value)", "value", "typeof(value)", "(SELECT name FROM users WHERE id = user_id)",
      "(SELECT hair_color FROM users WHERE id = user_id)")
  }

  /// Rows with or without a rowid of their own: both the rowid and (user_id, name) can displace another row.
  private mutating func attributeTarget() -> (columns: String, sql: String, values: [PlainValue]) {
    if random.oneIn(2) {
      let rows = rows { [$0.key(), $0.attributeName(), $0.attributeValue()] }
      return ("user_id, name, value", rows.sql, rows.values)
    }
    let rows = rows { [$0.keyOrNone(), $0.key(), $0.attributeName(), $0.attributeValue()] }
    return (random.choose("rowid", "oid", "_rowid_") + ", user_id, name, value", rows.sql, rows.values)
  }
}
