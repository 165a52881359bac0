import Foundation
import TestSupport
import Testing

@Suite(.bounded, .serialized) struct `Creating a database` {
  @Test func `six processes that create the same database at once all succeed`() throws {
    for _ in 0..<10 {
      let workspace = try Workspace()
      let children = try (0..<6).map { try workspace.start("add", "user \($0)") }
      for child in children {
        let errors = child.errors.rest()
        #expect(child.wait() == 0, "\(String(decoding: errors, as: UTF8.self))")
      }
      #expect(try workspace.run("list").lines.count == 6)
      #expect(try workspace.sqlite("PRAGMA integrity_check; SELECT count(*) > 0 FROM migrations").lines == ["ok", "1"])
    }
  }

  @Test func `every command that creates a database says so, except with --quiet`() throws {
    let workspace = try Workspace()
    try workspace.write(Data("{\"name\":\"A\"}\n".utf8), to: "in.jsonl")
    for (index, command) in [
      ["init"], ["add", "A"], ["import", workspace.folder + "/in.jsonl"],
    ].enumerated() {
      let path = workspace.folder + "/new \(index)/x.db"
      let dry = try workspace.finish([Workspace.tool] + command + ["--db", path, "-n"])
      #expect(dry.status == 0 && !dry.errors.contains("created \(path)"), "\(dry)")
      let outcome = try workspace.finish([Workspace.tool] + command + ["--db", path])
      #expect(outcome.status == 0 && outcome.errors.hasPrefix("created \(path)\n"), "\(outcome)")
      #expect(outcome.errors.components(separatedBy: "created").count == 2, "\(outcome)")
      let again = try workspace.finish([Workspace.tool] + command + ["--db", path])
      #expect(again.status == 0 && !again.errors.contains("created"), "\(again)")
      let quiet = try workspace.finish([Workspace.tool] + command + ["--db", path + "2", "-q"])
      #expect(quiet.status == 0 && quiet.errors.isEmpty, "\(quiet)")
    }
  }

  @Test func `init says that it has updated a file of an older layout`() throws {
    let workspace = try Workspace()
    let golden = Workspace.project.appending(path: "Tests/Golden/layout5.db").path
    try FileManager.default.copyItem(atPath: golden, toPath: workspace.database)
    let message = "the tables of \(workspace.database)\n"
    #expect(try workspace.run("init", "-n").errors == "dry run: would update " + message)
    #expect(try workspace.run("init").errors == "updated " + message)
    #expect(try workspace.run("init").errors == "unchanged: \(workspace.database) already exists\n")
  }

  @Test func `init says that it has repaired the log`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    try workspace.sqlite("DROP TRIGGER users_after_update; UPDATE users SET name = 'unseen'")
    let dry = try workspace.run("init", "-n")
    #expect(dry.status == 0 && dry.errors.hasPrefix("dry run: would repair the log"), "\(dry)")
    let outcome = try workspace.run("init")
    let message = "repaired the log of \(workspace.database): a new log starts, and saved cursors diverge\n"
    #expect(outcome.status == 0 && outcome.errors == message, "\(outcome)")
    #expect(try workspace.run("init").errors == "unchanged: \(workspace.database) already exists\n")
    #expect(try workspace.run("check").status == 0)
  }
}
