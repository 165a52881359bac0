import ArgumentParser
import Foundation
import Testing

@testable import UserToolCommands

/// The examples of the help texts.
@Suite(.bounded, .serialized) struct `The examples in help` {
  private static let commands = UserTool.configuration.subcommands

  /// The commands in the examples of a help text, without those that need a server.
  private static func examples(in discussion: String) -> [String] {
    discussion.split(separator: "\n").filter {
      $0.hasPrefix("  ") && $0.contains("usertool ") && !$0.contains("postgres://")
    }
    .map { $0.trimmingCharacters(in: .whitespaces) }
  }

  /// What the examples of a command need in addition.
  private static let preparations = [
    "purge": "usertool remove 7 --yes -q; usertool add 'Zoë Müller' -q; usertool remove 'Zoë Müller' --yes -q",
    "consumers": "sqlite3 \"$USERTOOL_DB\" \"INSERT INTO consumers SELECT 'sync', epoch, 5, 0, 0, 0 FROM meta\"",
    "restore": "usertool backup users-2026-11-21.db -q", "check": "usertool backup users-2026-11-21.db -q",
    "backup": "usertool backup users-2026-11-21.db -q",
    "import": """
    usertool export users.jsonl -q; usertool export users.csv -q; usertool export | gzip > huge.jsonl.gz
    printf 'name,age\\nAnn,1,2\\n' > people.csv; printf 'Kunde;PLZ\\nAnn;01067\\n' > kunden.csv
    """,
    "completion": "mkdir -p .zfunc .config/fish/completions", "rename-attribute": "usertool set 7 mail=x -q",
    "undo": "usertool rename 7 Zoe -q",
    "sync": """
    usertool follow http://127.0.0.1:9 --db copy.db --write --timeout 1ms -q > /dev/null; usertool add Zoë --db copy.db -q
    sqlite3 copy.db "INSERT INTO userstore_refusals VALUES (12, 1, 1, 'conflict', NULL)"
    """,
    "init": "sqlite3 \"$USERTOOL_DB\" .dump | sqlite3 copy.db; unset USERTOOL_DB",
  ]

  /// A database with users, the seventh of whom is Zoë.
  private static let files = Result {
    let workspace = try Workspace()
    for name in ["one", "two", "three", "four", "five", "six"] { try workspace.run("add", name) }
    try workspace.run("add", "Zoë", "--hair-color", "auburn", "--set", "age=41", "--set", "room:=007")
    return try workspace.files()
  }

  /// Programs that are not the tool's are scripts.
  private static let head = """
    cd ~; mkdir bin stick man1; ln -s "$1" bin/usertool; export PATH="$HOME/bin:$PATH"
    for name in jq man userserver; do printf '#!/bin/sh\\ncat > /dev/null' > bin/$name; done
    cp bin/jq sync-elsewhere; chmod +x bin/* sync-elsewhere
    """

  /// Ends a watch, a replica, and a command that waits for input; no server has replicas to list.
  private static let function = """
    usertool() {
      case " $* " in
        *" watch "* | *" --follow "* | *" follow "*) command usertool "$@" --timeout 1ms < /dev/null; [ $? = 124 ] ;;
        *" replicas "*) command usertool "$@" --quiet < /dev/null; [ $? = 1 ] ;;
        *" import - "*) command usertool "$@" ;;
        *) command usertool "$@" < /dev/null ;;
      esac
    }
    set -o pipefail
    """

  private func isolated(_ example: String) -> String {
    example.replacing("/media/stick", with: "stick").replacing("/usr/local/share/man/man1", with: "man1")
      .replacing("v1-5c0ffee-2a-9e3779b9", with: "\"$cursor\"")
  }

  @Test(arguments: commands.map { $0._commandName })
  func `every example of a command succeeds`(command: String) throws {
    let type = try #require(Self.commands.first { $0._commandName == command })
    let examples = Self.examples(in: type.configuration.discussion)
    #expect(!examples.isEmpty || command == "list")
    // Those that ask are answered on a terminal; the others run one after the other.
    for example in examples {
      let isAsking = ["remove", "restore", "purge"].contains(command) && !example.contains("--")
      let isFirst = ["index", "unique"].contains(command) ? examples.prefix { $0 != example } : []
      let workspace = try Workspace(Self.files.get())
      let script =
        [
          Self.head, Self.preparations[command] ?? "",
          "cursor=$(usertool log two | grep -o 'v1-[-0-9a-f]*' | tail -n 1)",
          Self.function,
        ] + isFirst.map(isolated) + [isAsking ? "exit 0" : "{ \(isolated(example))\n} || exit $?"]
      let outcome = try workspace.finish(["bash", "-c", script.joined(separator: "\n"), "bash", Workspace.tool])
      #expect(outcome.status == 0, "\(example): \(outcome)")
      guard isAsking else { continue }
      let words = example.split(separator: " ").dropFirst().map {
        String($0).replacing("users-", with: workspace.folder + "/users-")
      }
      let results = try TerminalBatch.results(of: [.init(arguments: words, typed: "y\n")], in: workspace)
      #expect(results[0].status == 0, "\(example): \(results)")
    }
  }

  @Test func `the examples of the tool succeed in their order`() throws {
    let examples = Self.examples(in: UserTool.configuration.discussion)
    #expect(examples.count == 7)
    let workspace = try Workspace()
    let head = "cd ~; mkdir bin; ln -s \"$1\" bin/usertool; export PATH=\"$HOME/bin:$PATH\""
    let script = [head, Self.function] + examples.map { "{ \($0)\n} || exit $?" }
    let outcome = try workspace.finish(["bash", "-c", script.joined(separator: "\n"), "bash", Workspace.tool])
    #expect(outcome.status == 0, "\(outcome)")
  }
}
