import TestSupport

extension StepGenerator {
  mutating func insertUsers() -> Step {
    if random.oneIn(6) { return Step("INSERT \(orClause()) INTO users (name) VALUES (?)\(returning())", userName()) }
    let rows = rows { [$0.keyOrNone(), $0.userName(), $0.hairColor()] }
    let columns = "\(keyColumn()), name, hair_color"
    return Step("INSERT \(orClause()) INTO users (\(columns)) VALUES \(rows.sql)\(returning())", rows.values)
  }

  mutating func upsertUsers() -> Step {
    let rows = rows { [$0.keyOrNone(), $0.userName(), $0.hairColor()] }
    let conflict = random.choose(
      "ON CONFLICT (id) DO UPDATE SET name = excluded.name",
      "ON CONFLICT (id) DO UPDATE SET hair_color = '#abcdef' WHERE name <> excluded.name",
      "ON CONFLICT DO UPDATE SET hair_color = name", "ON CONFLICT (id) DO UPDATE SET id = id + 1",
      "ON CONFLICT DO NOTHING", "ON CONFLICT (id) DO NOTHING")
    return Step(
      "INSERT \(orClause()) INTO users (id, name, hair_color) VALUES \(rows.sql) \(conflict)\(returning())",
      rows.values)
  }

  mutating func copyUsers() -> Step {
    let source = random.choose(
      "SELECT id + ?, name, ? FROM users", "SELECT id, name || ?, ? FROM users", "SELECT NULL, name || ?, ? FROM users",
      "SELECT user_id + ?, name, ? FROM attributes")
    let change = random.choose(1, -1, 0)
    return Step(
      "INSERT \(orClause()) INTO users (id, name, hair_color) \(source) LIMIT 3\(returning())",
      .integer(Int64(change)), hairColor())
  }

  /// A key that SQLite evaluates once for BEFORE triggers and once for the row.
  ///
  /// Never null and never −1: the second evaluation of these cannot be detected.
  mutating func computeUserKey() -> Step {
    let conflict = random.choose("", "", "", "ON CONFLICT DO NOTHING", "ON CONFLICT (id) DO UPDATE SET name = 'met'")
    return Step(
      "INSERT \(orClause()) INTO users (\(keyColumn()), name, hair_color) VALUES (varying(4), ?, ?) \(conflict)\(returning())",
      userName(), hairColor())
  }

  mutating func updateUsers() -> Step {
    let set = random.choose(
      "name = ?, hair_color = ?", "hair_color = ?, name = ?", "name = ifnull(?, name), hair_color = ?",
      "id = id, name = upper(?), hair_color = ?")
    let values = [userName(), hairColor()]
    return Step("UPDATE \(orClause()) users SET \(set) WHERE id >= ?\(returning())", values + [key()])
  }

  mutating func changeUserKey() -> Step {
    let set = "\(keyColumn()) = \(random.choose("?", "? + 0", "nullif(?, 0)"))"
    return Step("UPDATE \(orClause()) users SET name = 'moved', \(set) WHERE id = ?", key(), key())
  }

  mutating func deleteUsers() -> Step {
    if random.oneIn(20) { return Step("DELETE FROM users") }
    return Step("DELETE FROM users WHERE id \(random.choose("=", "=", "=", ">")) ?\(returning())", key())
  }

  mutating func keyColumn() -> String {
    random.choose("id", "id", "rowid", "oid", "_rowid_")
  }
}
