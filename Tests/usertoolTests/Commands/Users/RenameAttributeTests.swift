import Foundation
import TestSupport
import Testing

@Suite(.bounded, .serialized) struct `Renaming an attribute on the command line` {
  private func makeWorkspace() throws -> Workspace {
    let workspace = try Workspace()
    try workspace.run("add", "NIX", "--set", "mail=a@x.de", "--set", "age=41")
    try workspace.run("add", "Zoë", "--set", "mail=1")
    try workspace.run("add", "Tim", "--set", "age=3")
    return workspace
  }

  @Test func `all users are changed in one write, which can be undone`() throws {
    let workspace = try makeWorkspace()
    let outcome = try workspace.run("rename-attribute", "mail", "e-mail")
    #expect(outcome.status == 0 && outcome.output.isEmpty, "\(outcome)")
    #expect(outcome.errors == "renamed \"mail\" to \"e-mail\", for 2 users\n")
    #expect(try workspace.run("get", "1", "e-mail").output == "a@x.de\n")
    #expect(try workspace.run("get", "2", "e-mail", "--format", "json").output == "1\n")
    #expect(try workspace.run("list", "--count", "--with", "mail").output == "0\n")
    #expect(try workspace.run("undo").status == 0)
    #expect(try workspace.run("list", "--count", "--with", "mail").output == "2\n")
    #expect(try workspace.run("check").status == 0)
  }

  @Test func `a dry run changes nothing`() throws {
    let workspace = try makeWorkspace()
    let outcome = try workspace.run("rename-attribute", "age", "years", "-n")
    #expect(outcome.errors == "dry run: would rename \"age\" to \"years\", for 2 users\n")
    #expect(try workspace.run("list", "--count", "--with", "age").output == "2\n")
  }

  @Test func `users who have both attributes are a conflict`() throws {
    let workspace = try makeWorkspace()
    let outcome = try workspace.run("rename-attribute", "mail", "age")
    #expect(outcome.status == 4, "\(outcome)")
    #expect(
      outcome.errors == """
        usertool: error: “mail” cannot be renamed: 1 user has both attributes
        usertool: hint: nothing was changed; usertool list --with mail --with age shows them

        """, "\(outcome)")
    #expect(try workspace.run("list", "--count", "--with", "mail").output == "2\n")
  }

  @Test func `an attribute that nobody has is noted`() throws {
    let workspace = try makeWorkspace()
    let outcome = try workspace.run("rename-attribute", "maill", "e-mail")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(outcome.errors == "unchanged\nno user has \"maill\" (did you mean \"mail\"?)\n")
    #expect(try workspace.run("rename-attribute", "mail", "mail").errors == "unchanged\n")
  }

  @Test(
    arguments: [
      (["name", "x"], 65), (["x", "hair-color"], 65), (["id", "x"], 65), (["mail"], 64), (["mail", "a", "b"], 64),
      (["", "x"], 64),
    ] as [([String], Int32)]) func `mistakes are errors`(arguments: [String], status: Int32) throws
  {
    let workspace = try makeWorkspace()
    let outcome = try workspace.finish([Workspace.tool, "rename-attribute"] + arguments)
    #expect(outcome.status == status && outcome.errors.hasPrefix("usertool: error: "), "\(outcome)")
  }
}
