import Foundation
import Testing
import UserStore

@Suite(.bounded, .serialized) struct `Consumers` {
  let workspace: Workspace

  init() throws {
    workspace = try Workspace()
    try workspace.run("add", "NIX")
  }

  @Test func `consumers are listed with their lag in every format`() throws {
    #expect(try workspace.run("consumers").output.isEmpty)
    try workspace.takePosition("--consumer", "sync")
    try workspace.run("rename", "1", "one")
    try workspace.run("set", "1", "age=7", "hair_color=red")
    try workspace.takePosition("--consumer", "mail")
    try workspace.sqlite("UPDATE consumers SET at = 1795238411482; UPDATE consumers SET epoch = 1 WHERE name = 'mail'")
    let plain = try workspace.run("consumers").lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false) }
    #expect(
      plain.map { $0.prefix(4) } == [
        ["mail", "8", "", "2026-11-21T05:20:11.482Z"], ["sync", "3", "3", "2026-11-21T05:20:11.482Z"],
      ])
    let cursor = plain[1][4]
    let json = try workspace.run("consumers", "--format", "jsonl").lines
    #expect(
      json[1] == #"{"name":"sync","revision":3,"lag":3,"at":"2026-11-21T05:20:11.482Z","cursor":"\#(cursor)"}"#)
    #expect(json[0].contains(#""lag":null"#))
    #expect(try workspace.run("consumers", "--format", "csv").lines[0] == "name,revision,lag,at,cursor")
    let table = try workspace.run("consumers", "--format", "table", environment: ["TZ": "EST5"]).lines
    #expect(table[0].hasPrefix("NAME  REVISION  LAG  AT "))
    #expect(table[2].hasPrefix("sync         3    3  2026-11-21 00:20:11  v1-"))
  }

  @Test func `removing a consumer needs its exact name and --yes`() throws {
    try workspace.takePosition("--consumer", "sync")
    #expect(try workspace.run("consumers", "remove", "sync").status == 64)
    let missing = try workspace.run("consumers", "remove", "synk", "--yes")
    #expect(missing.status == 3 && missing.errors.contains("did you mean \"sync\"?"))
    #expect(try workspace.run("consumers", "remove", "sync", "--dry-run").errors == "dry run: would remove \"sync\"\n")
    #expect(try workspace.run("consumers").lines.count == 1)
    let outcome = try workspace.run("--db", workspace.database, "consumers", "remove", "sync", "--yes")
    #expect(outcome.status == 0 && outcome.output.isEmpty && outcome.errors == "removed \"sync\"\n")
    #expect(try workspace.run("consumers").output.isEmpty)
  }

  @Test func `on a terminal, remove asks for confirmation`() throws {
    try workspace.takePosition("--consumer", "sync")
    // script(1) creates a terminal.
    let command = "'\(Workspace.tool)' consumers remove sync"
    let refused = try workspace.finish(["script", "-qec", command, "/dev/null"], [:], "n\n")
    #expect(
      refused.output.contains("Remove the consumer \"sync\" (at revision 3, 0 changes behind)? [y/N]"), "\(refused)")
    #expect(try workspace.run("consumers").lines.count == 1)
    try workspace.finish(["script", "-qec", command, "/dev/null"], [:], "y\n")
    #expect(try workspace.run("consumers").output.isEmpty)
  }

  @Test(arguments: [["remove"], ["forget", "sync"], ["--yes"], ["--dry-run"]])
  func `an invalid command line is a usage error with a hint`(arguments: [String]) throws {
    let outcome = try workspace.finish([Workspace.tool, "consumers"] + arguments)
    #expect(outcome.status == 64 && outcome.errors.contains("usertool consumers --help"), "\(outcome)")
  }
}
