import Foundation
import TestSupport
import Testing

/// Damaged files, and values that attack terminals: every command exits with a documented code.
@Suite(.bounded, .serialized) struct `Hostile files` {
  private static let reading = [
    ["list"], ["get", "1"], ["log", "--format", "table"], ["check"], ["export"], ["consumers"],
  ]
  private static let writing = [["rename", "1", "x"], ["add", "y"], ["compact"], ["undo"]]
  private static let documented: Set<Int32> = [0, 1, 3, 4, 5, 6, 64, 65, 66, 73, 77]

  private func makeWorkspace() throws -> Workspace {
    let workspace = try Workspace()
    try workspace.run("add", "Zoë", "--set", "note=" + String(repeating: "long ", count: 1_000))
    for number in 1...6 { try workspace.run("add", "user \(number)") }
    return workspace
  }

  /// Runs a command, and expects a documented exit code, and no output that acts on a terminal.
  @discardableResult
  private func run(_ arguments: [String], _ workspace: Workspace, _ what: String) throws -> Workspace.Outcome {
    let outcome = try workspace.finish([Workspace.tool] + arguments)
    #expect(Self.documented.contains(outcome.status), "\(what), \(arguments): \(outcome)")
    // JSON and tab-separated fields are for programs: control characters are escaped there, invisible characters are not.
    // A single value is printed unchanged.
    let isTable = arguments.contains("table")
    if isTable { expectSafe(outcome.output, [.control, .format, .lineSeparator], "\(what), \(arguments)") }
    if arguments.count < 3 || arguments[0] != "get" { expectSafe(outcome.output, [.control], "\(what), \(arguments)") }
    expectSafe(outcome.errors, [.control, .format, .lineSeparator], "\(what), \(arguments)")
    return outcome
  }

  private func expectSafe(_ text: String, _ escaped: Set<Unicode.GeneralCategory>, _ what: String) {
    for scalar in text.unicodeScalars where !["\n", "\t"].contains(scalar) {
      #expect(!escaped.contains(scalar.properties.generalCategory), "\(what): U+\(String(scalar.value, radix: 16))")
    }
  }

  @Test func `with random bytes in any page, commands exit with a documented code, and reading changes nothing`() throws
  {
    let workspace = try makeWorkspace()
    let whole = try #require(workspace.bytes())
    var generator = SplitMix64(seed: Seed.base)
    let pageSize = 2_048
    for page in stride(from: 0, to: whole.count / pageSize, by: 4) {
      var damaged = whole
      let bytes = (0..<pageSize).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
      damaged.replaceSubrange(page * pageSize..<(page + 1) * pageSize, with: bytes)
      for end in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: workspace.database + end) }
      try workspace.write(damaged, to: "users.db")
      let what = "page \(page + 1), USERSTORE_SEED=\(Seed.base)"
      for arguments in Self.reading { try run(arguments, workspace, what) }
      #expect(try run(["check"], workspace, what).status != 0, "\(what) is not noticed")
      #expect(workspace.bytes() == damaged, "\(what) was changed by a reading command")
      let command = Self.writing[page / 4 % Self.writing.count]
      try run(command, workspace, what)
    }
  }

  private static let hostile = [
    "\u{1B}[2J\u{1B}]0;owned\u{7}\u{9B}31m", "\u{202E}gnp.exe\u{2066}\u{E0041}", "a\u{200B}\u{FEFF}b\r\n\ty",
  ]

  @Test(arguments: hostile)
  func `hostile names, values, attributes and origins are escaped in all output`(_ text: String) throws {
    let workspace = try makeWorkspace()
    let quoted = "CAST(x'" + text.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "' AS TEXT)"
    try workspace.sqlite(
      """
      UPDATE users SET name = \(quoted), hair_color = \(quoted) WHERE id <= 2;
      INSERT INTO attributes VALUES (1, \(quoted), \(quoted)), (2, 'note', \(quoted));
      INSERT INTO attributes VALUES (99, 'a', 1);
      INSERT INTO consumers VALUES (\(quoted), 1, 2, 3, 4, 9223372036854775807);
      UPDATE changes SET attribute = \(quoted) WHERE seq = 2; DELETE FROM users WHERE id = 3;
      UPDATE changes SET at = -9223372036854775807 - 1 WHERE seq = 3
      """)
    let commands = [
      ["list"], ["list", "--format", "table"], ["get", "1"], ["get", "1", text], ["get", "1", "name"], ["get", text],
      ["rename", text, "x"], ["rename", "2", "z"], ["log"], ["log", "--format", "table"], ["log", text], ["check"],
      ["consumers"], ["consumers", "--format", "table"],
      ["purge", text, "--yes"], ["set", "1", "hair_color=" + text], ["remove", text, "--yes"], ["undo"],
      ["import", text],
      ["list", "--where", text], ["--db", text, "list"], [text], ["list", "--format", text], ["log", "--after", text],
    ]
    for arguments in commands { try run(arguments, workspace, text.debugDescription) }
  }
}
