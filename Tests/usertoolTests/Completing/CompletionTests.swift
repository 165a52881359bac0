import ArgumentParser
import Foundation
import Testing

@testable import UserToolCommands

@Suite(.bounded, .serialized) struct `Completion and the manual page` {
  /// The completions that bash offers for the last word.
  private func offered(_ words: String..., in workspace: Workspace) throws -> [String] {
    let script = """
      PATH="$1:$PATH"; cd "$2"; shift 2
      source <(usertool completion bash)
      COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
      function=$(complete -p usertool); function=${function#*-F }
      "${function% usertool}" usertool "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    let folder = URL(fileURLWithPath: Workspace.tool).deletingLastPathComponent().path
    let outcome = try workspace.finish(
      ["bash", "-c", script, "bash", folder, workspace.folder, "usertool"] + words)
    #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(outcome)")
    return outcome.lines
  }

  @Test func `a name that looks like an id is offered with its prefix`() throws {
    let workspace = try Workspace()
    for name in ["7", "id:8", "id:x"] { try workspace.run("add", name) }
    #expect(try offered("get", "nam", in: workspace) == ["name:7", "name:id:8"])
    #expect(try offered("get", "id", in: workspace) == ["id:x"])
  }

  @Test func `negative ids are completed after id:, and words after them`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX", "--set", "age=1")
    try workspace.sqlite("INSERT INTO users (id, name) VALUES (-5, 'minus'), (-4611686018427387904, 'least')")
    #expect(try offered("rename", "id:-", in: workspace) == ["id:-4611686018427387904", "id:-5"])
    #expect(try offered("rename", "id:-4", in: workspace) == ["id:-4611686018427387904"])
    #expect(try offered("rename", "", in: workspace) == ["NIX", "least", "minus"])
    #expect(try offered("set", "id:-5", "a", in: workspace) == ["age="])
    // A shell would insert what the first thousand have in common.
    try workspace.sqlite(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
        + "INSERT INTO users (id, name) SELECT -4000 - i, 'x' FROM n")
    #expect(try offered("rename", "id:-", in: workspace) == [])
  }

  @Test func `bash completes commands, options, their values, users and attributes`() throws {
    let workspace = try Workspace()
    for name in ["Ann Lee", "Anton", "Zoë", "7"] { try workspace.run("add", name, "--set", "age=1") }
    #expect(try offered("ren", in: workspace) == ["rename", "rename-attribute"])
    #expect(try offered("import", "--rej", in: workspace) == ["--rejects"])
    #expect(try offered("list", "--format", "js", in: workspace) == ["json", "jsonl"])
    #expect(try offered("get", "An", in: workspace) == ["Ann\\ Lee", "Anton"])
    #expect(try offered("get", "name", in: workspace) == ["name:7"])
    #expect(try offered("get", "Anton", "a", in: workspace) == ["age"])
    #expect(try offered("set", "Anton", "h", in: workspace) == ["hair_color="])
    #expect(try offered("list", "--where", "a", in: workspace) == ["age="])
    #expect(try offered("list", "--sort", "a", in: workspace) == ["age"])
    #expect(try offered("list", "--without", "h", in: workspace) == ["hair_color"])
    #expect(try offered("index", "re", in: workspace) == ["remove"])
    #expect(try offered("index", "add", "a", in: workspace) == ["age"])
    #expect(try offered("sync", "re", in: workspace) == ["refusals"])
    #expect(try offered("get", "--db", workspace.folder + "/none.db", "A", in: workspace) == [])
    #expect(workspace.bytes(of: "none.db") == nil)
  }

  @Test func `nothing is read for a path that the shell would expand`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "Ann")
    // These folders have the names of what would be expanded.
    for name in ["~", "#", "$x", "*", "plain"] {
      try FileManager.default.createDirectory(
        atPath: workspace.folder + "/" + name, withIntermediateDirectories: false)
      try FileManager.default.copyItem(atPath: workspace.database, toPath: workspace.folder + "/\(name)/users.db")
      #expect(
        try offered("get", "--db", name + "/users.db", "A", in: workspace) == (name == "plain" ? ["Ann"] : []),
        "\(name)")
    }
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func `each shell can read its script`(shell: String) throws {
    let workspace = try Workspace()
    let script = try workspace.run("completion", shell)
    #expect(script.status == 0 && script.output.contains("usertool") && script.output.contains("rename"))
    try workspace.write(Data(script.output.utf8), to: "script")
    let check = try workspace.finish([
      "sh", "-c", "command -v \(shell) > /dev/null || exit 0; \(shell) -n \(workspace.folder)/script",
    ])
    #expect(check.status == 0 && check.errors.isEmpty, "\(check)")
    #expect(try workspace.run("completion", "tcsh").status == 64)
  }

  /// The help of the parser as data.
  private struct Help: Decodable {
    struct Argument: Decodable {
      struct Name: Decodable {
        let kind: String
        let name: String
      }
      let abstract: String?
      let shouldDisplay: Bool
      let kind: String
      let isRepeating: Bool
      let names: [Name]?
    }
    struct Command: Decodable {
      let commandName: String
      let arguments: [Argument]?
      let subcommands: [Command]?
    }
    let command: Command
  }

  private func help() throws -> Help { try JSONDecoder().decode(Help.self, from: Data(UserTool._dumpHelp().utf8)) }

  /// The parser checks this itself, but not in the release that a whole run of `scripts/test` builds.
  @Test func `no two options of a command have the same name, and nothing follows an argument that repeats`() throws {
    var commands = [try help().command]
    while let command = commands.popLast() {
      commands += command.subcommands ?? []
      let names = (command.arguments ?? []).flatMap { $0.names ?? [] }.map { "\($0.kind) \($0.name)" }
      #expect(Set(names).count == names.count, "\(command.commandName): \(names)")
      let positional = (command.arguments ?? []).filter { $0.kind == "positional" }
      #expect(!positional.dropLast().contains { $0.isRepeating }, "\(command.commandName)")
    }
  }

  @Test func `the manual page describes every option of every command`() throws {
    let help = try help()
    for command in UserTool.configuration.subcommands {
      let entries = ManualPage.entries(UserTool.helpMessage(for: command, columns: 10_000))
      for entry in entries {
        #expect(!entry.description.isEmpty && entry.term.last != ".", "\(command._commandName): \(entry)")
      }
      let own = try #require(help.command.subcommands?.first { $0.commandName == command._commandName })
      let texts = (own.arguments ?? []).filter(\.shouldDisplay).compactMap(\.abstract)
      #expect(entries.count == texts.count || command._commandName == "serve", "\(entries)")
      for text in texts where command._commandName != "serve" {
        #expect(entries.contains { $0.description.hasPrefix(text) }, "\(command._commandName): \(text)")
      }
    }
  }

  @Test func `the manual page has every command and formats without warnings`() throws {
    let workspace = try Workspace()
    let page = try workspace.run("man")
    #expect(page.status == 0 && page.output.hasPrefix(".TH USERTOOL 1 "))
    for command in ["init", "rename", "import", "man"] { #expect(page.lines.contains(".SS \(command)")) }
    #expect(page.lines.contains("\\fB\\-\\-hair\\-color <color>\\fR"))
    #expect(page.lines.count { $0.hasPrefix("\\fB\\-\\-db ") } == 1)
    // Arguments, and the description of a long term, which the help has on a line of its own.
    #expect(page.output.contains("\\fB<user>\\fR\nThe user's id or name.\n"))
    #expect(page.output.contains("\\fB\\-\\-listener <name[=attribute]>\\fR\nBind this listener instead"))
    let terms = zip(page.lines, page.lines.dropFirst()).filter { $0.0 == ".TP" }.map(\.1)
    #expect(terms.allSatisfy { $0.hasPrefix("\\fB<") || $0.hasPrefix("\\fB\\-") || $0.hasPrefix("\\fI") }, "\(terms)")
    try workspace.write(Data(page.output.utf8), to: "usertool.1")
    let check = try workspace.finish([
      "sh", "-c",
      "command -v groff > /dev/null || exit 0; groff -ww -man -Tutf8 -K utf8 -z \(workspace.folder)/usertool.1",
    ])
    #expect(check.status == 0 && check.errors.isEmpty, "\(check)")
  }
}
