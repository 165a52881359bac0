import Foundation
import TestSupport
import Testing

@Suite(.bounded, .serialized) struct `Compacting and purging` {
  private let workspace: Workspace

  init() throws {
    workspace = try Workspace()
    try workspace.run("add", "NIX", "--hair-color", "auburn")
    for number in 1...5 { try workspace.run("rename", "1", "NIX \(number)") }
  }

  /// The cursors, one per write, on its last line.
  private func cursors() throws -> [String] {
    try workspace.run("log").lines.compactMap { try Line.decode($0).cursor }
  }

  @Test func `compact deletes once what a dry run reports`() throws {
    let before = try workspace.dump()
    let dry = try workspace.run("compact", "--keep", "4", "--dry-run")
    #expect(dry.status == 0 && dry.output == "4\t5\t646\t9\n" && dry.errors.contains("nothing was deleted"))
    #expect(try workspace.dump() == before)
    #expect(try workspace.run("compact", "--keep", "4").output == dry.output)
    #expect(try workspace.run("log").lines.count == 2)
    let json = try workspace.run("compact", "--keep", "4", "--format", "jsonl")
    #expect(json.output == #"{"writes":0,"changes":0,"bytes":0,"horizon":9}"# + "\n")
    #expect(try workspace.run("get", "1", "name").output == "NIX 5\n")
  }

  @Test func `compact deletes by age and by size, and by default nothing recent`() throws {
    #expect(try workspace.run("compact").output == "0\t0\t0\t0\n")
    #expect(try workspace.run("compact", "--older-than", "1d").output == "0\t0\t0\t0\n")
    try workspace.sqlite("UPDATE changes SET at = at - 2 * 86400000 WHERE seq <= 7")
    #expect(try workspace.run("compact", "--older-than", "1d").output.hasSuffix("\t7\n"))
    #expect(try workspace.run("compact", "--max-size", "1K").output.hasSuffix("\t7\n"))
    #expect(try workspace.run("compact", "--max-size", "0").output.hasSuffix("\t13\n"))
    try workspace.run("rename", "1", "later")
    #expect(try workspace.run("log").lines.map { try Line.decode($0).revision } == [15])
  }

  @Test(arguments: [
    ["--keep=-1"], ["--keep", "x"], ["--max-size", "1X"], ["--max-size", "-1"], ["--older-than", "x"],
  ])
  func `invalid limits are usage errors`(_ arguments: [String]) throws {
    let before = try workspace.dump()
    #expect(try workspace.finish([Workspace.tool, "compact"] + arguments).status == 64)
    #expect(try workspace.dump() == before)
  }

  @Test func `compact keeps what a named consumer needs, and reports it`() throws {
    try workspace.sqlite("INSERT INTO consumers SELECT 'sync', epoch, 5, 0, 0, 0 FROM meta")
    let outcome = try workspace.run("compact", "--keep", "0")
    #expect(outcome.output.hasSuffix("\t5\n") && outcome.errors.contains("named consumer"))
  }

  // MARK: Compacted cursors

  @Test func `a cursor before the horizon is exit code 6, a cursor at the horizon continues`() throws {
    let cursors = try cursors()
    try workspace.run("compact", "--keep", "4")
    let behind = try workspace.run("log", "--after", cursors[2])
    #expect(behind.status == 6 && behind.errors.contains("starts after 9"))
    #expect(try workspace.run("log", "--after", cursors[3]).lines.count == 2)
    let refused = try workspace.run("watch", "--after", cursors[2], "--no-resync")
    #expect(refused.status == 6 && refused.output.isEmpty)
  }

  @Test func `a watch from a compacted cursor prints a reset and the current state`() throws {
    let cursor = try cursors()[0]
    try workspace.run("compact", "--keep", "0")
    try workspace.write(Data((cursor + "\n").utf8), to: "cursor")
    let file = workspace.folder + "/cursor"
    let outcome = try workspace.firstLines(2, "watch", "--cursor-file", file, "--listener", "A=name")
    #expect(outcome.lines.first == #"{"op":"reset","reason":"compacted"}"#)
    #expect(try outcome.summaries.dropFirst() == ["snapshot 1 name null>'NIX 5' @A"])
    try workspace.run("rename", "1", "Zoë")
    let next = try workspace.run("watch", "--cursor-file", file, "--listener", "A=name", "--once")
    #expect(try next.summaries == ["update 1 name 'NIX 5'>'Zoë' @A"])
  }

  @Test(arguments: [false, true])
  func `a watch that was suspended while the log was compacted is reset`(_ refuses: Bool) throws {
    let watcher =
      refuses
      ? try workspace.start("watch", "--no-initial", "--listener", "A=name", "--no-resync")
      : try workspace.start("watch", "--no-initial", "--listener", "A=name")
    try watcher.waitUntilWatching()
    watcher.send(SIGSTOP)
    try workspace.run("rename", "1", "unseen")
    try workspace.run("rename", "1", "seen")
    try workspace.run("compact", "--keep", "0")
    watcher.send(SIGCONT)
    if refuses {
      #expect(watcher.wait() == 6)
    } else {
      #expect(watcher.output.next() == #"{"op":"reset","reason":"compacted"}"#)
      #expect(try watcher.output.next().map(Line.decode)?.summary == "snapshot 1 name null>'seen' @A")
    }
  }

  // MARK: Purging

  @Test func `purge erases a removed user's values from the log and the files, by id or by last name`() throws {
    try workspace.run("remove", "1", "--yes")
    let dry = try workspace.run("purge", "NIX 5", "-n")
    #expect(dry.output == "1\t9\t9\n" && dry.errors.contains("nothing was purged"))
    #expect(try workspace.run("log").output.contains("NIX 3"))
    #expect(try workspace.run("purge", "NIX 5", "--yes").output == "1\t9\t9\n")
    let lines = try workspace.run("log").lines
    #expect(lines.count == 9 && lines.allSatisfy { $0.contains(#""old":null,"new":null"#) })
    #expect(lines.count { $0.contains(#""purged":true"#) } == 7)
    #expect(try workspace.run("log", "--format", "table").output.contains("name (purged)"))
    #expect(workspace.bytes()?.range(of: Data("NIX".utf8)) == nil)
    #expect(try workspace.run("purge", "NIX 5", "--yes").status == 3)
    #expect(try workspace.run("purge", "1", "--yes", "--vacuum").output == "1\t9\t0\n")
  }

  @Test func `purge refuses an existing user, an unknown user, and an ambiguous name`() throws {
    let before = try workspace.dump()
    for user in ["1", "NIX 5"] {
      let outcome = try workspace.run("purge", user, "--yes")
      #expect(outcome.status == 4 && outcome.errors.contains("usertool remove 1"))
    }
    #expect(try workspace.run("purge", "99", "--yes").status == 3)
    #expect(try workspace.run("purge", "1").status == 64)
    #expect(try workspace.dump() == before)
    try workspace.run("remove", "1", "--yes")
    try workspace.run("add", "NIX 5")
    try workspace.run("remove", "2", "--yes")
    let several = try workspace.run("purge", "NIX 5", "--yes")
    #expect(several.status == 3 && several.errors.contains("  1\tremoved") && several.errors.contains("  2\tremoved"))
  }
}
