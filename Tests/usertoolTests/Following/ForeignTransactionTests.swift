import Foundation
import TestSupport
import Testing

@Suite(.bounded, .serialized) struct `Watching foreign transactions` {
  /// Starts a watch, runs `sql` in the sqlite3 shell, then a known last write, and returns the lines before that.
  private func watch(_ workspace: Workspace, _ sql: String) throws -> [String] {
    try workspace.run("add", "NIX", "--set", "age=41")
    let watcher = try workspace.start(
      "watch", "--format", "jsonl", "--no-initial", "--timeout", "300s", "--listener", "A")
    try watcher.waitUntilWatching()
    try workspace.sqlite(sql)
    try workspace.sqlite("INSERT INTO users (name) VALUES ('the end')")
    var seen: [String] = []
    while let line = watcher.output.next() {
      let summary = try Line.decode(line).summary
      if summary.contains("the end") { break }
      seen.append(summary)
    }
    return seen
  }

  @Test func `a transaction that is rolled back prints nothing`() throws {
    let seen = try watch(Workspace(), "BEGIN; UPDATE users SET name = 'never'; DELETE FROM attributes; ROLLBACK;")
    #expect(seen == [])
  }

  @Test func `of a transaction with a savepoint that is rolled back, only the rest is printed`() throws {
    let seen = try watch(
      Workspace(),
      """
      BEGIN; UPDATE users SET name = 'first'; SAVEPOINT s; UPDATE users SET name = 'never';
      INSERT INTO users (name) VALUES ('never'); ROLLBACK TO s; RELEASE s; UPDATE users SET name = 'last'; COMMIT;
      """)
    #expect(seen == ["update 1 name 'NIX'>'first' @A", "update 1 name 'first'>'last' @A"])
  }

  @Test func `a statement that fails halfway prints nothing`() throws {
    let seen = try watch(
      Workspace(),
      """
      INSERT INTO users (id, name) VALUES (2, 'two');
      INSERT INTO users (id, name) VALUES (10, 'never'), (11, 'never'), (2, 'taken');
      UPDATE users SET name = CASE id WHEN 1 THEN 'never' ELSE NULL END;
      """)
    #expect(seen == ["insert 2 name null>'two' @A", "insert 2 hair_color null>null @A"])
  }

  @Test func `a transaction is printed completely, with its attributes and their types`() throws {
    let seen = try watch(
      Workspace(),
      """
      BEGIN; INSERT OR REPLACE INTO attributes (user_id, name, value) VALUES (1, 'age', 41.5);
      INSERT INTO attributes (user_id, name, value) VALUES (1, 'photo', x'00ff'), (1, 'zip', '007');
      DELETE FROM users; COMMIT;
      """)
    let (updates, deletions) = (seen.prefix(3), seen.dropFirst(3))
    #expect(
      Array(updates) == ["update 1 age 41>41.5 @A", "update 1 photo null>b64:AP8= @A", "update 1 zip null>'007' @A"])
    #expect(
      deletions.sorted() == [
        "delete 1 age 41.5>null @A", "delete 1 hair_color null>null @A", "delete 1 name 'NIX'>null @A",
        "delete 1 photo b64:AP8=>null @A", "delete 1 zip '007'>null @A",
      ])
  }
}
