import Foundation
import Testing
import UserStore

@Suite(.bounded, .serialized) struct `Using the tool` {
  private static let commands = [
    "init", "add", "get", "list", "rename", "rename-attribute", "set", "remove", "watch", "log", "undo", "consumers",
    "listeners",
    "backup", "restore", "check", "compact", "purge", "export", "import", "follow", "sync",
    "replicas", "demo", "completion", "man",
  ]

  @Test func `the help of each command starts with examples and fits into 80 columns`() throws {
    let workspace = try Workspace()
    for command in Self.commands {
      let help = try workspace.run(command, "--help")
      #expect(help.status == 0 && help.errors.isEmpty)
      let examples = try #require(help.output.range(of: "Examples:\n  usertool "), "\(command)")
      let usage = try #require(help.output.range(of: "USAGE:"), "\(command)")
      #expect(examples.lowerBound < usage.lowerBound)
      #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(help.output)")
    }
    #expect(try workspace.run().output.contains("SUBCOMMANDS"))
  }

  @Test func `the version of the tool is that of the library and of the newest entry in the changelog`() throws {
    #expect(try Workspace().run("--version").output == UserStore.version + "\n")
    let changelog = try String(contentsOf: Workspace.project.appendingPathComponent("CHANGELOG.md"), encoding: .utf8)
    let entry = try #require(changelog.split(separator: "\n").first { $0.hasPrefix("## ") })
    #expect(entry.hasPrefix("## [\(UserStore.version)] - "))
  }

  @Test func `common options may precede the command`() throws {
    let workspace = try Workspace()
    let other = workspace.folder + "/other.db"
    try workspace.run("--db", other, "-q", "add", "NIX")
    #expect(try workspace.run("--db=\(other)", "--format", "json", "get", "1", "name").output == "\"NIX\"\n")
  }

  @Test func `the database is specified by the option, the variable, or the user's data folder`() throws {
    let workspace = try Workspace()
    let environment = ["USERTOOL_DB": "", "XDG_DATA_HOME": workspace.folder + "/data"]
    try workspace.run("add", "data", environment: environment)
    #expect(workspace.bytes(of: "data/usertool/users.db") != nil)
    try workspace.run("add", "home", environment: ["USERTOOL_DB": "", "XDG_DATA_HOME": "relative"])
    #expect(workspace.bytes(of: ".local/share/usertool/users.db") != nil)
    let nowhere = try workspace.run("list", environment: ["USERTOOL_DB": "", "HOME": ""])
    #expect(nowhere.status == 64)
  }

  @Test func `color depends on the flag, then NO_COLOR, then CLICOLOR_FORCE`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    func isColored(_ arguments: String..., in environment: [String: String]) throws -> Bool {
      try workspace.finish([Workspace.tool, "log", "--format", "table"] + arguments, environment).output.contains(
        "\u{1B}")
    }
    #expect(try !isColored(in: [:]))
    #expect(try isColored(in: ["CLICOLOR_FORCE": "1"]))
    #expect(try !isColored(in: ["CLICOLOR_FORCE": "1", "NO_COLOR": "1"]))
    #expect(try isColored("--color", "always", in: ["NO_COLOR": "1"]))
    #expect(try !isColored("--color", "never", in: ["CLICOLOR_FORCE": "1"]))
  }

  @Test func `control characters and disguises are escaped, in CSV only on a terminal`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    // Another program can store an escape sequence, a tab, a right-to-left override, and a zero-width space.
    try workspace.sqlite(
      "UPDATE users SET name = 'a' || char(27) || '[31m' || char(9) || char(8238) || char(8203) || 'é'")
    let escaped = "a\\u{1B}[31m\\t\\u{202E}\\u{200B}é"
    for arguments in [["list", "--format", "table"], ["log", "--format", "table"]] {
      let output = try workspace.finish([Workspace.tool] + arguments).output
      #expect(output.contains(escaped) && !output.contains("\u{1B}"), "\(output)")
    }
    let plain = ["get 1 name", "get 1 name --format plain", "list --format plain", "log --format plain"]
    let csv = ["get 1 name --format csv", "get 1 --format csv", "list --format csv", "log --format csv"]
    for arguments in plain + csv + ["export --format csv"] {
      let output = try workspace.finish(["script", "-qec", "\(Workspace.tool) \(arguments)", "/dev/null"]).output
      #expect(output.contains(escaped) && !output.contains("\u{1B}"), "\(output)")
    }
    #expect(try workspace.run("list", "--format", "json").output.contains("\"a\\u001b[31m\\t\\u202e\u{200B}é\""))
    #expect(try workspace.run("list", "--format", "csv").output.contains("a\u{1B}[31m\t\u{202E}\u{200B}é"))
    #expect(try workspace.run("export", "--format", "csv").output.contains("a\u{1B}[31m\t\u{202E}\u{200B}é"))
    try workspace.sqlite("INSERT INTO attributes VALUES (1, char(27) || '[2J' || char(8238), 1)")
    for format in ["csv", "json", "jsonl", "table", "plain"] {
      let command = "\(Workspace.tool) list --color never --format \(format)"
      let output = try workspace.finish(["script", "-qec", command, "/dev/null"]).output
      #expect(!output.contains("\u{1B}") && !output.contains("\u{202E}") && output.contains("[2J"), "\(output)")
    }
    #expect(try !workspace.run("get", "\u{1B}[31mX").errors.contains("\u{1B}"))
  }

  @Test func `times are local for people and UTC for programs`() throws {
    let workspace = try Workspace()
    try workspace.run("init")
    try workspace.sqlite("INSERT INTO users (name) VALUES ('x'); UPDATE changes SET at = 1795238411482")
    let environment = ["TZ": "EST5"]
    #expect(
      try workspace.run("log", "--format", "table", environment: environment).output.contains("  2026-11-21 00:20:11  ")
    )
    for format in ["jsonl", "csv", "plain"] {
      let output = try workspace.run("log", "--format", format, environment: environment).output
      #expect(output.contains("2026-11-21T05:20:11.482Z"), "\(output)")
    }
  }
}
