import Foundation
import TestSupport
import Testing

/// usertool without usertool-postgres, which opens databases on a server.
@Suite(.bounded, .serialized) struct `A database on a server, without its program` {
  @Test func `the message says how to get the program, and nothing is read or created`() throws {
    let workspace = try Workspace()
    let tool = try lonelyTool(in: workspace)
    let hint = "usertool: hint: scripts/install in the sources of UserStore installs it\n"
    for arguments in [
      ["list", "--db", "postgres://x/y"], ["--db=postgresql:///", "init"], ["add", "NIX", "--db", "postgres://x"],
    ] {
      let outcome = try workspace.finish([tool] + arguments)
      #expect(outcome.status == 1 && outcome.output.isEmpty && outcome.errors.hasSuffix(hint), "\(outcome)")
    }
    let variable = try workspace.finish([tool, "list"], ["USERTOOL_DB": "postgres://x/y"])
    #expect(variable.status == 1 && variable.errors.hasSuffix(hint), "\(variable)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: workspace.folder) == ["usertool"])
  }

  @Test func `help and files need no other program`() throws {
    let workspace = try Workspace()
    let tool = try lonelyTool(in: workspace)
    #expect(try workspace.finish([tool, "list", "--help"], ["USERTOOL_DB": "postgres://x/y"]).status == 0)
    #expect(try workspace.finish([tool, "add", "NIX", "--db", workspace.folder + "/users.db"]).status == 0)
  }

  /// Copies usertool into the folder, because it looks for the other program beside itself.
  ///
  /// Another process copies: what this one has open for writing is also open, for a moment, in each process that it starts, and
  /// a file that is open for writing cannot be run.
  private func lonelyTool(in workspace: Workspace) throws -> String {
    let tool = workspace.folder + "/usertool"
    try #require(try workspace.finish(["/bin/cp", Workspace.tool, tool]).status == 0)
    return tool
  }
}
