import Foundation
import Testing

/// The commands of the README, of the article “Upkeep”, and of “usertool”, from top to bottom, as a new user types them.
@Suite(.bounded) struct `The documented commands` {
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
