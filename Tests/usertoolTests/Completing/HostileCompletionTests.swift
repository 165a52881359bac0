import Foundation
import TestSupport
import Testing

/// A name is never code: TAB does not run it, and the shell reads the completed word as the name.
@Suite(.bounded, .serialized) struct `TAB among hostile names` {
  private static let endings: [String] = [
    "$(touch X)", "`touch Y`", "'s", "\"q\"", "\\b\\", "~x", ":Lee", "=x", "@x.org", " $HOME  y ", "!ls", "!!",
    ";touch Z",
    "*?[a]{b,c}", "|&<>()#", "\\n", "é 😀", "-x", "^a^b",
  ]

  private static let names: [String] = endings.indices.map { (index: Int) -> String in
    "u" + (index < 10 ? "0" : "") + String(index) + endings[index]
  }

  /// The text that is typed before TAB, and the name that it completes to: each name in one kind of quotes, or in all with
  /// `USERSTORE_RUNS=50`.
  private static let cases: [(String, String)] = {
    var random = SplitMix64(seed: Seed.base)
    var cases: [(String, String)] = [
      ("\\~", "~root"), ("name:-d", "-dash"), ("name:n", "name:x"), ("name:7", "7"), ("\\#", "#c"),
      ("\\$", "$(touch W)"), ("u00\\$", names[0]), ("u06:", names[6]), ("u06:L", names[6]), ("u08@x", names[8]),
      ("u07=", names[7]), ("u09\\ \\$HO", names[9]),
    ]
    for name in names {
      // Not offered: `!` in double quotes, where it recalls commands, and a single quote in single quotes, which it ends.
      let quotes = [""] + (name.contains("!") ? [] : ["\""]) + (name.contains("'") ? [] : ["'"])
      let chosen = Repetitions.count >= 50 ? quotes : [quotes.randomElement(using: &random)!]
      cases += chosen.map { ($0 + name.prefix(3), name) }
    }
    return cases.map { ("usertool get " + $0.0 + "\t", $0.1) }
  }()

  private struct Found: Decodable {
    let name: String
  }

  @Test(arguments: TypingShell.Kind.allCases)
  func `every name is completed to itself, in any quotes`(kind: TypingShell.Kind) throws {
    let workspace = try Workspace()
    try workspace.run("init")
    for name in Self.names + ["~root", "-dash", "name:x", "7", "#c", "$(touch W)"] {
      try workspace.run("add", "-q", "--", name)
    }
    let shell = TypingShell(kind: kind, workspace: workspace)
    let outputs = try shell.outputs(of: Self.cases.map(\.0), end: " --format json")
    for ((typed, name), output) in zip(Self.cases, outputs) {
      let found = try? JSONDecoder().decode(Found.self, from: Data(output.utf8)).name
      #expect(found.map { Array($0.utf8) } == Array(name.utf8), "\(kind), \(typed.debugDescription): \(output)")
    }
    #expect(try shell.traces() == [])
  }

  @Test(arguments: TypingShell.Kind.allCases)
  func `names with a common prefix are listed, and none of them is run`(kind: TypingShell.Kind) throws {
    let workspace = try Workspace()
    try workspace.run("init")
    for name in ["Ann $(touch X)", "Ann `touch Y`", "Ann;touch Z", "Ann"] { try workspace.run("add", "-q", name) }
    try workspace.sqlite("INSERT INTO attributes VALUES (1, 'a$(touch V)', 1), (1, 'a`touch W`', 1)")
    let shell = TypingShell(kind: kind, workspace: workspace)
    // The second TAB lists the candidates. Then the line is deleted.
    let lines = [
      "usertool get An\t\t\u{15}echo", "usertool set Ann a\t\t\u{15}echo", "usertool list --sort a\t\t\u{15}echo",
    ]
    #expect(try shell.outputs(of: lines, end: " done") == ["done\n", "done\n", "done\n"])
    #expect(try shell.traces() == [])
  }

  @Test func `an attribute is completed as one word, and its value follows without a space`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "Ann")
    try workspace.sqlite("INSERT INTO attributes VALUES (1, 'b$(touch V) c', 1)")
    let shell = TypingShell(kind: .bash, workspace: workspace)
    _ = try shell.outputs(of: ["usertool set Ann b\t2", "usertool get Ann b\t"], end: "")
    #expect(try workspace.run("get", "Ann", "b$(touch V) c").output == "2\n")
    #expect(workspace.bytes(of: "typing/out.1") == Data("2\n".utf8))
    #expect(try shell.traces() == [])
  }

  @Test func `a script of an older version gets no completions, because it would run them`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "Ann $(touch X)")
    let words = ["---completion", "get", "--", "positional@0", "2", "2", "usertool", "get", "An"]
    let outcome = try workspace.finish([Workspace.tool] + words, ["SAP_SHELL": "bash"])
    #expect(outcome.status == 0 && !outcome.output.contains("touch"), "\(outcome)")
  }

  @Test func `a user among thousands is completed, and the number of candidates is limited`() throws {
    let workspace = try Workspace()
    try workspace.run("init")
    try workspace.sqlite(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
      INSERT INTO users (name) SELECT 'Ann ' || i FROM n UNION ALL SELECT 'Zoë the last'
      """)
    let shell = TypingShell(kind: .fish, workspace: workspace)
    #expect(try shell.outputs(of: ["usertool get Z\t name"], end: "") == ["Zoë the last\n"])
    let offered = try workspace.finish(
      [Workspace.tool, "---completion", "get", "--", "positional@0", "0", "0", "", "An", "usertool get An"],
      ["SAP_SHELL": "bash"])
    #expect(offered.lines.count == 1_001 && offered.lines.last == "Ann\\ 999", "\(offered.lines.suffix(3))")
  }

  @Test(arguments: [
    ("", ""), ("A", "An"), ("Ann", "Ann1"), ("n", "name:1"), ("name:", "name:"), ("name:A", "name:An"),
    ("name:1", "name:1"),
  ])
  func `TAB adds the common prefix of all users, not that of the first thousand`(
    typed: String, common: String
  ) throws {
    let workspace = try Workspace()
    try workspace.run("init")
    try workspace.sqlite(
      """
      WITH RECURSIVE n(i) AS (SELECT 10001 UNION ALL SELECT i + 1 FROM n WHERE i < 15000)
      INSERT INTO users (name) SELECT 'Ann' || i FROM n UNION ALL SELECT i FROM n;
      INSERT INTO users (name) VALUES ('Anton'), ('zoe');
      """)
    let offered = try workspace.finish(
      [Workspace.tool, "---completion", "get", "--", "positional@0", "0", "0", "", "", "usertool get " + typed],
      ["SAP_SHELL": "fish"])
    let first = try #require(offered.lines.first)
    #expect(offered.lines.reduce(first) { $0.commonPrefix(with: $1) } == common)
    #expect(offered.lines.count > 1_000)
  }
}
