import Foundation
import TestSupport
import Testing

@Suite(.bounded, .serialized) struct `Unique attributes on the command line` {
  private func makeWorkspace() throws -> Workspace {
    let workspace = try Workspace()
    try workspace.run("add", "NIX", "--set", "email=nix@x.de", "--set", "code=1")
    try workspace.run("add", "Zoë", "--set", "email=NIX@x.de", "--set", "code=2")
    return workspace
  }

  @Test func `an attribute is made unique, listed, and made not unique`() throws {
    let workspace = try makeWorkspace()
    let none = try workspace.run("unique")
    #expect(none.status == 0 && none.output.isEmpty && none.errors == "no attribute is unique\n", "\(none)")
    let added = try workspace.run("unique", "add", "email", "code")
    #expect(added.status == 0 && added.errors == "\"email\" is unique now\n\"code\" is unique now\n", "\(added)")
    #expect(try workspace.run("unique", "add", "code").errors == "unchanged: \"code\" is unique\n")
    let list = try workspace.run("unique")
    #expect(list.output == "code\tmatters\nemail\tmatters\n" && list.errors.isEmpty, "\(list)")
    let refused = try workspace.run("set", "2", "email=nix@x.de")
    #expect(refused.status == 4, "\(refused)")
    #expect(refused.errors.contains("user 2 cannot have the email “nix@x.de”: user 1 has it"), "\(refused)")
    let removed = try workspace.run("unique", "remove", "email")
    #expect(removed.status == 0 && removed.errors == "\"email\" is not unique any more\n", "\(removed)")
    #expect(
      try workspace.run("unique", "list", "--format", "json").lines == [
        "[", #"{"attribute":"code","case":"matters"}"#, "]",
      ])
    #expect(try workspace.run("set", "2", "email=nix@x.de").status == 0)
  }

  @Test func `case is ignored with the flag, also for an attribute that is unique`() throws {
    let workspace = try makeWorkspace()
    try workspace.run("set", "2", "email=zoe@x.de")
    try workspace.run("unique", "add", "email")
    let changed = try workspace.run("unique", "add", "email", "--ignore-case")
    #expect(changed.errors == "\"email\" is unique now\n", "\(changed)")
    #expect(try workspace.run("unique").output == "email\tignored\n")
    #expect(try workspace.run("set", "2", "email=NIX@X.de").status == 4)
  }

  @Test func `values that several users have are named, and nothing changes`() throws {
    let workspace = try makeWorkspace()
    #expect(try workspace.run("unique", "add", "email", "-n").errors == "dry run: would make \"email\" unique\n")
    let dry = try workspace.run("unique", "add", "email", "--ignore-case", "-n")
    #expect(dry.status == 4, "\(dry)")
    #expect(dry.errors.contains("\"email\" cannot be unique: 1 value belongs to several users"), "\(dry)")
    let refused = try workspace.run("unique", "add", "email", "--ignore-case")
    #expect(refused.status == 4, "\(refused)")
    #expect(
      refused.errors.contains("“email” cannot be unique: 1 value belongs to several users: “nix@x.de” (users 1, 2)"),
      "\(refused)")
    for name in ["Ann", "Bob"] { try workspace.run("add", name, "--set", "email=ann@x.de") }
    let more = try workspace.run("unique", "add", "email", "--ignore-case", "-n")
    #expect(more.errors.contains("\"email\" cannot be unique: 2 values belong to several users"), "\(more)")
    #expect(try workspace.run("unique").output.isEmpty)
  }

  @Test func `a removal of an attribute that is not unique removes none, and a dry run removes nothing`() throws {
    let workspace = try makeWorkspace()
    try workspace.run("unique", "add", "email", "code")
    let missing = try workspace.run("unique", "remove", "code", "emial")
    #expect(missing.status == 3, "\(missing)")
    #expect(missing.errors.contains("\"emial\" is not unique (did you mean \"email\"?)"), "\(missing)")
    #expect(
      missing.errors.contains("hint: usertool unique lists the unique attributes; nothing was changed"), "\(missing)")
    #expect(
      try workspace.run("unique", "remove", "code", "-n").errors == "dry run: would make \"code\" not unique\n")
    #expect(try workspace.run("unique").output == "code\tmatters\nemail\tmatters\n")
    // The second time, it is gone.
    let twice = try workspace.run("unique", "remove", "code", "code")
    #expect(twice.status == 0, "\(twice)")
    #expect(twice.errors == "\"code\" is not unique any more\nunchanged: \"code\" is not unique\n")
  }

  @Test(arguments: [
    (["add"], "add needs an attribute"), (["remove"], "remove needs an attribute"),
    (["list", "age"], "attributes and --dry-run need add or remove"),
    (["-n"], "attributes and --dry-run need add or remove"), (["list", "--ignore-case"], "--ignore-case needs add"),
    (["remove", "age", "--ignore-case"], "--ignore-case needs add"), (["add", "id"], "the id is always unique"),
    (["create", "age"], "usertool unique add age"),
  ]) func `mistakes are usage errors`(arguments: [String], message: String) throws {
    let workspace = try makeWorkspace()
    let outcome = try workspace.finish([Workspace.tool, "unique"] + arguments)
    #expect(outcome.status == 64 && outcome.errors.contains(message), "\(outcome)")
  }

  @Test func `an import names the line whose value another user has`() throws {
    let workspace = try makeWorkspace()
    try workspace.run("unique", "add", "email")
    try workspace.write(Data("name,email\nAnn,ann@x.de\nBob,nix@x.de\n".utf8), to: "people.csv")
    let before = try workspace.dump()
    let outcome = try workspace.run("import", workspace.folder + "/people.csv")
    #expect(outcome.status == 65, "\(outcome)")
    #expect(outcome.errors.contains("people.csv:3: the email \"nix@x.de\" belongs to user 1"), "\(outcome)")
    #expect(try workspace.dump() == before)
  }
}
