import TestSupport
import Testing
import UserStore

/// The tool prints the JSON text that the library has for a program.
@Suite(.bounded, .serialized) struct `The JSON of the library` {
  private let workspace: Workspace
  private let store: UserStore
  private let start: UserStore.Cursor

  /// Stores values of every kind, some of which only another program can store, and purges a user.
  init() throws {
    workspace = try Workspace()
    store = try UserStore(path: workspace.database)
    start = try store.read { try $0.cursor }
    try workspace.run("add", "\"\u{301}Zoë\u{2028}", "--hair-color", "red", "--set", "real=1.0", "--set", "big=1e999")
    try workspace.run("add", "NIX", "--set", "text:=\u{1}\u{7F}\u{85}\\\n", "--set", "data={\"base64\":\"AP8=\"}")
    try workspace.sqlite(
      """
      UPDATE users SET name = CAST(x'61ff62' AS TEXT), hair_color = 'zebra' WHERE id = 1;
      INSERT INTO attributes (user_id, name, value) VALUES (1, 'note', CAST(x'610062' AS TEXT)),
        (2, 'invalid', CAST(x'c328' AS TEXT)), (2, 'max', 9223372036854775807), (2, 'low', -9e999);
      """)
    try workspace.run("add", "purged", "--set", "age=41")
    try workspace.run("remove", "purged", "--yes")
    try workspace.run("purge", "3", "--yes")
  }

  @Test func `get and list print users, and get prints values`() throws {
    let users = try store.read { try $0.users() }
    #expect(users.count == 2 && users.map { $0.json.contains(#"{"text_base64":"#) } == [true, true])
    #expect(try workspace.run("list", "--format", "jsonl").output == users.map { $0.json + "\n" }.joined())
    var valueCount = 0
    for user in users {
      for format in ["json", "jsonl"] {
        #expect(try workspace.run("get", "\(user.id)", "--format", format).output == user.json + "\n")
      }
      for (name, value) in user.storedValues {
        let outcome = try workspace.run("get", "\(user.id)", name.text, "--format", "json")
        // The tool refuses to print an invalid value.
        if outcome.status != 0 { continue }
        #expect(outcome.output == value.json + "\n")
        valueCount += 1
      }
    }
    #expect(valueCount == 8)
  }

  @Test(arguments: [["watch", "--per-change", "--count"], ["log", "--limit"]])
  func `watch and log print changes, after the revision and the cursor of their set`(_ command: [String]) throws {
    var lines: [String] = []
    for set in try store.page(after: start) {
      let changes = try set.changes
      lines += changes.enumerated().map { $1.json(in: set, isLast: $0 == changes.count - 1) }
    }
    #expect(lines.count { $0.contains(#"{"text_base64":"#) } == 2)
    #expect(lines.count { $0.hasSuffix(#""purged":true}"#) } == 4)
    let command = [Workspace.tool] + command + ["\(lines.count)", "--after", "\(start)", "--format", "jsonl"]
    #expect(try workspace.finish(command).lines == lines)
  }
}
