import Foundation
import TestSupport
import Testing

/// In some containers and jails there is no /proc, from which Swift's runtime reads the arguments of a program.
@Suite(.bounded, .serialized, .enabled(if: Procless.canBeSet, "this process may not create a mount namespace"))
struct `Without /proc` {
  @Test func `the arguments of a command mean the same`() throws {
    let workspace = try Workspace()
    let other = workspace.folder + "/other.db"
    let added = try Procless.run([Workspace.tool, "--db", other, "add", "Zoë", "--set", "note=a b"], workspace)
    #expect(added.status == 0 && added.output == "1\n", "\(added)")
    #expect(try workspace.run("get", "1", "note", "--db", other).output == "a b\n")
    #expect(!FileManager.default.fileExists(atPath: workspace.database))
    let version = try Procless.run([Workspace.tool, "--version"], workspace)
    #expect(try version.status == 0 && version.output == workspace.run("--version").output, "\(version)")
    let mistake = try Procless.run([Workspace.tool, "list", "--no-such-option"], workspace)
    #expect(try mistake.status == 64 && mistake.errors == workspace.run("list", "--no-such-option").errors)
  }

  @Test func `an argument that is not UTF-8 is refused there too`() throws {
    let workspace = try Workspace()
    let script = "exec '\(Workspace.tool)' get \"$(printf 'a\\377')\""
    let outcome = try Procless.run(["sh", "-c", script], workspace)
    #expect(outcome.status == 65 && outcome.errors.contains("argument 2 is not valid UTF-8"), "\(outcome)")
  }

  @Test func `a file is exported`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let file = workspace.folder + "/users.csv"
    #expect(try Procless.run([Workspace.tool, "export", file], workspace).status == 0)
    #expect(workspace.bytes(of: "users.csv")?.isEmpty == false)
  }

  @Test(arguments: ["beside usertool", "in PATH"])
  func `the program for another engine gets the command line`(_ place: String) throws {
    let workspace = try Workspace()
    let bin = workspace.folder + "/bin"
    try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: false)
    // Another process writes them: a file that this one has open for writing cannot be run.
    let script = """
      for name in usertool-postgres userserver; do
        printf '%s\\n' '#!/bin/sh' 'printf "%s|" "$@"' > "$0/$name" && chmod +x "$0/$name"
      done
      """
    try #require(try workspace.finish(["sh", "-c", script, bin]).status == 0)
    let isBeside = place == "beside usertool"
    let tool = (isBeside ? bin : workspace.folder) + "/usertool"
    try #require(try workspace.finish(["/bin/cp", Workspace.tool, tool]).status == 0)
    let path = workspace.environment["PATH"] ?? ""
    let environment = ["PATH": isBeside ? path : bin + ":" + path]
    let list = try Procless.run([tool, "list", "--db", "postgres://x/y"], workspace, environment)
    #expect(list.output == "list|--db|postgres://x/y|", "\(list)")
    let serve = try Procless.run([tool, "serve", "--listen", "127.0.0.1:0"], workspace, environment)
    #expect(serve.output == "--listen|127.0.0.1:0|", "\(serve)")
  }
}

/// A mount namespace in which an empty file system is mounted over /proc.
enum Procless {
  static let canBeSet: Bool = {
    guard let workspace = try? Workspace(), let outcome = try? run(["ls", "/proc"], workspace) else { return false }
    return outcome.status == 0 && outcome.output.isEmpty
  }()

  static func run(
    _ command: [String], _ workspace: Workspace, _ environment: [String: String] = [:]
  ) throws -> Workspace.Outcome {
    let script = "mount -t tmpfs none /proc && exec \"$@\""
    return try workspace.finish(
      ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"] + command, environment)
  }
}
