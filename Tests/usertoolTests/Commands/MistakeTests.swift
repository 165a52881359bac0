import Foundation
import Testing

/// What people met who had only the README.
@Suite struct `Mistakes of new users` {
  @Test(arguments: ["list", "get 1", "add Zoë"])
  func `a closed standard output is a failure, and nobody hangs`(command: String) throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let outcome = try workspace.finish(["sh", "-c", "exec '\(Workspace.tool)' \(command) >&-"])
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("cannot write the output"))
  }

  @Test func `watching an attribute that no listener hears is refused`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let outcome = try workspace.run("watch", "--attribute", "nmae")
    #expect(outcome.status == 64)
    #expect(outcome.errors.contains("no listener hears nmae"))
  }

  @Test func `asking a list for an attribute that nobody has is answered`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX", "--set", "age=7")
    for (option, asked) in [("--where", "agee=7"), ("--sort", "agee")] {
      let outcome = try workspace.run("list", option, asked)
      #expect(outcome.status == 0)
      #expect(outcome.errors.contains(#"no user has "agee" (did you mean "age"?)"#))
      #expect(try workspace.run("list", "--quiet", option, asked).errors.isEmpty)
    }
    #expect(try workspace.run("list", "--where", "age=8", "--sort", "id").errors.isEmpty)
    let hostile = try workspace.run("list", "--sort", "\u{1B}[31mage").errors
    #expect(hostile.contains(#"no user has "\u{1B}[31mage""#))
  }

  @Test func `init makes a store of an empty file, and says so`() throws {
    let workspace = try Workspace()
    try Data().write(to: URL(filePath: workspace.database))
    #expect(try workspace.run("init").errors.contains("created"))
    #expect(try workspace.run("init").errors.contains("unchanged"))
  }

  @Test func `a log that ends within a set says how to go on`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    #expect(try workspace.run("log", "--limit", "1").errors.contains("larger --limit"))
    try workspace.run("rename", "NIX", "Zoë")
    #expect(try workspace.run("log", "--limit", "2").errors.contains("go on with --after"))
  }

  @Test func `a cursor file leaves no draft behind when its reader goes away`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let cursor = workspace.folder + "/cursor"
    try workspace.finish(["sh", "-c", "'\(Workspace.tool)' watch --cursor-file '\(cursor)' 2>/dev/null | head -n 1"])
    let files = try FileManager.default.contentsOfDirectory(atPath: workspace.folder)
    #expect(!files.contains { $0.hasSuffix(".tmp") }, "\(files)")
  }
}
