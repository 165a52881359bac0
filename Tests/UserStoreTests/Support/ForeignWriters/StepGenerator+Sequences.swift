import TestSupport

/// Sequences of statements that foreign writers use, and that chance alone produces too seldom.
extension StepGenerator {
  mutating func sequence() -> [Step] {
    random.choose(replaceUser(), restore(), replaceAttribute(), upsertLarge())
  }

  /// Replaces a user and then uses it.
  private mutating func replaceUser() -> [Step] {
    let user = key()
    return [
      Step("INSERT OR REPLACE INTO users (id, name, hair_color) VALUES (?, ?, ?)", user, userName(), hairColor()),
      Step("INSERT INTO attributes (user_id, name, value) VALUES (?, 'a', ?)", user, attributeValue()),
      Step("DELETE FROM attributes WHERE user_id = ?", user),
    ]
  }

  /// Replaces the same attribute repeatedly, with values that are nearly equal.
  private mutating func replaceAttribute() -> [Step] {
    let (user, name) = (key(), attributeName())
    var values: [PlainValue] = random.choose([1, .real(1), "1"], ["a", "A", .blob([0x61])], ["", .blob([]), "\0"])
    values.append(attributeValue())
    return values.shuffled(using: &random).map {
      Step("INSERT OR REPLACE INTO attributes (user_id, name, value) VALUES (?, ?, ?)", user, name, $0)
    }
  }

  /// Inserts many rows in one statement, some of them twice, each larger than a page.
  private mutating func upsertLarge() -> [Step] {
    let (user, other) = (key(), key())
    if random.oneIn(4) {
      let upsert = "ON CONFLICT (id) DO UPDATE SET \(random.choose("name", "hair_color")) = excluded.name"
      return [Step("DELETE FROM users WHERE id > 1"), insertLarge(into: "users (id, name)", [user, other], upsert)]
    }
    let upsert = "ON CONFLICT (user_id, name) DO UPDATE SET value = excluded.value"
    return [
      Step("DELETE FROM attributes WHERE user_id = ?", user),
      insertLarge(into: "attributes (user_id, name, value)", [user], upsert),
    ]
  }

  private mutating func insertLarge(into table: String, _ users: [PlainValue], _ clause: String) -> Step {
    let count = random.choose(600, 1_500, 4_000)
    let names: [PlainValue] = ["a", "a", "b", "b", "A", "A", "b"]
    let rows = names.enumerated().map { index, name in
      let large = PlainValue.text(Array(repeating: random.choose(0x61, 0x62, 0x63), count: count))
      return users.count == 1 ? [users[0], name, large] : [users[index / 2 % 2], large]
    }
    let marks = rows.map { "(\($0.map { _ in "?" }.joined(separator: ", ")))" }.joined(separator: ", ")
    return Step("INSERT INTO \(table) VALUES \(marks) \(clause)", rows.flatMap(\.self))
  }

  /// Has the effect of a dump and a restore between an ignored insert and the statements after it.
  ///
  /// A dump and a restore assign other rowids to a table without INTEGER PRIMARY KEY, but do not change the table next to it.
  private mutating func restore() -> [Step] {
    let (user, name) = (key(), attributeName())
    let insert = "INSERT OR IGNORE INTO attributes (user_id, name, value) VALUES (?, ?, ?)"
    return [
      Step(insert, user, name, attributeValue()), Step(insert, user, name, attributeValue()),
      Step("UPDATE displaced_attributes SET id = id + 1000"),
      Step("DELETE FROM attributes WHERE user_id = ?", user), Step(insert, user, name, attributeValue()),
    ]
  }
}
