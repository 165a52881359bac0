import Foundation
import Testing

/// The commands of the README, of the article “Upkeep”, and of “usertool”, from top to bottom, as a new user types them.
@Suite(.bounded, .serialized) struct `The documented commands` {
  @Test func `all commands of the documentation succeed in their order`() throws {
    let workspace = try Workspace()
    let articles = "Sources/UserStore/UserStore.docc/"
    let paths = ["README.md", articles + "Storing/Upkeep.md", articles + "Machines/UserTool.md"]
    let commands = try paths.flatMap { path in
      let text = try String(contentsOf: Workspace.project.appendingPathComponent(path), encoding: .utf8)
      let commands = Self.commands(in: text)
      #expect(commands.count > 2, "\(path)")
      return commands
    }
    #expect(commands.count > 12 && commands.contains { $0.hasPrefix("usertool undo") }, "\(commands)")
    let head = ["cd ~", "mkdir bin", "ln -s '\(Workspace.tool)' bin/usertool", "PATH=$HOME/bin:$PATH", Self.files]
    // Job control, as at a prompt, where %1 is the first command in the background.
    let script = head + ["set -m", "exec 2>errors"] + commands.map(Self.checked) + [Self.last]
    let outcome = try workspace.finish(["bash", "-c", script.joined(separator: "\n")], ["USERTOOL_DB": ""])
    let errors = try String(contentsOfFile: workspace.folder + "/errors", encoding: .utf8)
    #expect(outcome.status == 0 && !outcome.output.contains("FAILED"), "\(outcome)\(errors)")
    #expect(errors.contains("stopped at revision") && errors.contains("undid revision"), "\(errors)")
  }

  @Test func `a terminal shows what the documentation shows`() throws {
    let workspace = try Workspace()
    let folder = URL(fileURLWithPath: Workspace.tool).deletingLastPathComponent().path
    let environment = [
      "USERTOOL_DB": "", "NO_COLOR": "1", "PATH": folder + ":" + (workspace.environment["PATH"] ?? ""),
    ]
    var steps = try ["README.md", "Sources/UserStore/UserStore.docc/Storing/Upkeep.md"].flatMap(Self.steps)[...]
    while let step = steps.popFirst() {
      var words = step.command.split(separator: " ").map(String.init)
      var shown = step.lines
      var actions: [TerminalSession.Action] = []
      if words.last == "&" {
        words.removeLast()
        var last = step
        // What is done while the command runs, until it is ended.
        while let next = steps.popFirst() {
          actions.append(.wait(for: try #require(last.lines.last { $0 != Self.others })))
          actions.append(next.command == "kill -INT %1" ? .signal(SIGINT) : .run(["sh", "-c", next.command]))
          shown += next.lines
          last = next
          if next.command == "kill -INT %1" { break }
        }
      }
      try #require(words.removeFirst() == "usertool", "\(step)")
      let session = try TerminalSession(
        words.map { $0.hasPrefix("users-") ? workspace.folder + "/" + $0 : $0 }, columns: 200, rows: 24, in: workspace,
        environment: environment, actions)
      let output = String(decoding: session.output, as: UTF8.self)
        .replacing("\r\n", with: "\n").replacing(workspace.folder + "/users-", with: "users-")
        .replacing(workspace.folder, with: "/home/zoe")
      let pattern = Self.pattern(shown)
      #expect(
        shown.isEmpty || output.range(of: "^\(pattern)$", options: .regularExpression) != nil,
        "\(step.command): \(output)\nis not\n\(pattern)")
    }
  }

  /// Stands for lines that are not shown.
  private static let others = "  …"

  /// The commands of the screens in a page, without their comments, and the lines that the page shows below each.
  private static func steps(_ path: String) throws -> [(command: String, lines: [String])] {
    let text = try String(contentsOf: Workspace.project.appendingPathComponent(path), encoding: .utf8)
    let screens = text.matches(of: /```console\n\$ ((?s).*?)\n```/).map(\.1)
    #expect(!screens.isEmpty, "\(path)")
    return screens.flatMap { screen in
      screen.components(separatedBy: "\n$ ").map { step in
        let lines = step.components(separatedBy: "\n")
        return (
          lines[0].components(separatedBy: "  #")[0].trimmingCharacters(in: .whitespaces), Array(lines.dropFirst())
        )
      }
    }
  }

  /// An expression for lines, in which a time and a cursor stand for any.
  private static func pattern(_ lines: [String]) -> String {
    lines.map { line in
      if line == others { return #"(.*\n)+"# }
      return NSRegularExpression.escapedPattern(for: line).replacing(/\d\d:\d\d:\d\d/, with: #"\d\d:\d\d:\d\d"#)
        .replacing(/v1-[-0-9a-f]+/, with: "v1-[-0-9a-f]+") + #"\n"#
    }
    .joined()
  }

  /// A watch that the documentation does not end would keep the output open; one that was told to end has ten seconds.
  private static let last = """
    for _ in {1..1000}; do [ -n "$(jobs -r)" ] || break; sleep 0.01; done
    if [ -n "$(jobs -r)" ]; then kill %%; echo FAILED: a command still runs; fi
    """

  /// Creates the files that the examples read but do not create.
  private static let files =
    #"echo 'name,age' > people.csv; echo 'Ann,1,2' >> people.csv; echo 'id,name' > users.csv; "#
    + #"echo 'Kunde;PLZ;Betrag' > kunden.csv; echo 'Zoë;01067;1,5' >> kunden.csv"#

  /// The commands after prompts, and those in the lists of indented commands.
  private static func commands(in text: String) -> [String] {
    text.split(separator: "\n").compactMap { line in
      for prompt in ["$ ", "    "] where line.hasPrefix(prompt + (prompt == "$ " ? "" : "usertool ")) {
        return String(line.dropFirst(prompt.count))
      }
      return nil
    }
  }

  private static func checked(_ command: String) -> String {
    // The next command runs when the watch has reported that it misses no change from now on.
    if command.hasSuffix("&") { return command + "\nuntil grep -q ^watching errors; do sleep 0.01; done" }
    return "{ \(command)\n} || echo \"FAILED with $?: \"\(quoted(command))"
  }

  private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}
