import Foundation
import Testing

@Suite(.bounded, .serialized) struct `Exporting` {
  private func makeWorkspace() throws -> Workspace {
    let workspace = try Workspace()
    try workspace.run("add", "A", "--hair-color", "red", "--set", "age=1")
    try workspace.run("add", "B", "--set", "age=2.0")
    return workspace
  }

  @Test func `an export is readable only by its owner, and replaces a file only with --force`() throws {
    let workspace = try makeWorkspace()
    let file = workspace.folder + "/users.jsonl"
    let first = try workspace.run("export", file)
    #expect(first.status == 0 && first.output.isEmpty && first.errors == "exported 2 users to \(file)\n")
    let rights = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
    #expect(rights == 0o600)
    let before = workspace.bytes(of: "users.jsonl")
    let second = try workspace.run("export", file, "--where", "age=2")
    #expect(second.status == 73 && second.errors.contains("already exists"), "\(second)")
    #expect(workspace.bytes(of: "users.jsonl") == before)
    #expect(try workspace.run("export", file, "--where", "age=2", "--force").status == 0)
    #expect(workspace.bytes(of: "users.jsonl").map { String(decoding: $0, as: UTF8.self) }?.contains("\"A\"") == false)
    #expect(try drafts(workspace).isEmpty)
  }

  private func drafts(_ workspace: Workspace) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: workspace.folder).filter { $0.hasSuffix(".partial") }
  }

  @Test func `a failed export leaves neither a file nor a draft`() throws {
    let workspace = try Workspace()
    let file = workspace.folder + "/users.jsonl"
    #expect(try workspace.run("export", file).status == 66)
    try workspace.run("add", "A")
    #expect(try workspace.run("export", workspace.folder + "/nowhere/users.csv").status == 73)
    #expect(try workspace.run("export", workspace.database, "--force").errors.contains("is the database"))
    #expect(try workspace.run("export", file, "--format", "table").status == 64)
    #expect(workspace.bytes(of: "users.jsonl") == nil)
    #expect(try drafts(workspace).isEmpty)
  }

  @Test func `a folder for temporary files that does not exist is passed over`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let outcome = try workspace.run("export", environment: ["TMPDIR": workspace.folder + "/none"])
    #expect(outcome.status == 0 && outcome.output.contains("NIX"), "\(outcome)")
  }

  @Test func `an export that does not fit leaves neither a file nor a draft`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "A", "--set", "note=" + String(repeating: "x", count: 100_000))
    let file = workspace.folder + "/users.jsonl"
    // Without SIGXFSZ, a write beyond the limit of 64 KiB fails.
    let script = "trap '' XFSZ; ulimit -f 64; exec '\(Workspace.tool)' export '\(file)'"
    let outcome = try workspace.finish(["bash", "-c", script])
    #expect(outcome.status == 1, "\(outcome)")
    #expect(outcome.errors.hasPrefix("usertool: error: cannot write \(file): File too large"), "\(outcome)")
    #expect(workspace.bytes(of: "users.jsonl") == nil)
    #expect(try drafts(workspace).isEmpty)
  }

  @Test func `the format is that of the option, else that of the file name`() throws {
    let workspace = try makeWorkspace()
    for (name, format, isCSV) in [("a.csv", nil, true), ("a.csv", "jsonl", false), ("a", nil, false)] {
      let file = workspace.folder + "/" + name
      let options = format.map { ["--format", $0] } ?? []
      try workspace.finish([Workspace.tool, "export", file, "--force"] + options)
      #expect(workspace.bytes(of: name)?.starts(with: Data("id,".utf8)) == isCSV, "\(name) \(options)")
    }
  }

  @Test func `without users, JSON lines are empty and CSV is a header line`() throws {
    let workspace = try makeWorkspace()
    let none = try workspace.run("export", "--where", "name=x")
    #expect(none.status == 0 && none.output.isEmpty && none.errors.isEmpty)
    #expect(try workspace.run("export", "--where", "name=x", "--format", "csv").output == "id,name,hair_color,age\n")
    #expect(try workspace.run("export", "--where", "age=2").lines.count == 1)
  }

  @Test func `export changes no byte of the database`() throws {
    let workspace = try makeWorkspace()
    let before = workspace.bytes()
    try workspace.run("export")
    try workspace.run("export", workspace.folder + "/x.csv")
    #expect(workspace.bytes() == before)
  }
}
