import TestSupport

extension StepGenerator {
  mutating func begin() -> Step {
    Step(random.choose("BEGIN", "BEGIN IMMEDIATE", "SAVEPOINT a", "SAVEPOINT b"))
  }

  mutating func end() -> Step {
    Step(random.choose("COMMIT", "ROLLBACK", "ROLLBACK TO a", "ROLLBACK TO b", "RELEASE a", "RELEASE b"))
  }

  /// A row of the log that is no change of the tables: an expectation, the purge of a user, or an event.
  mutating func note() -> Step {
    let user = PlainValue.integer(random.choose(1, 2, 3))
    let insert = "INSERT INTO changes (op, user, attribute, old, new) VALUES"
    return random.choose(
      Step("\(insert) (4, ?, 'a', 1, 1)", user), Step("\(insert) (5, ?, NULL, NULL, NULL)", user),
      Step("\(insert) (6, ?, NULL, 'x', 2)", user), Step("\(insert) (6, NULL, NULL, 'x', NULL)"))
  }

  /// Statements that usually fail, and then must leave nothing behind.
  mutating func refused() -> Step {
    // abs fails for the smallest integer: for the user whose id is 1, after some rows or none.
    let overflow = "abs(-9223372036854775807 - user_id)"
    return random.choose(
      Step("INSERT INTO users (nme) VALUES (1)"),
      Step("DELETE FROM changes WHERE seq >= (SELECT max(seq) FROM changes) - 1"),
      Step("INSERT OR FAIL INTO attributes (user_id, name, value) SELECT user_id, 'c', \(overflow) FROM attributes"),
      Step("UPDATE attributes SET value = \(overflow)"))
  }

  /// Statements that change neither table, but may change what the next statement does.
  mutating func maintenance() -> Step {
    random.choose(
      Step("VACUUM"), Step("PRAGMA reverse_unordered_selects = ON"), Step("PRAGMA reverse_unordered_selects = OFF"),
      Step("UPDATE sqlite_sequence SET seq = ?", key()), Step("DELETE FROM sqlite_sequence"),
      random.choose(
        Step("INSERT OR REPLACE INTO users (id, name) VALUES (9223372036854775807, 'beyond')"),
        Step("UPDATE sqlite_sequence SET seq = 9223372036854775806"), Step("VACUUM")))
  }
}
