import Foundation
import TestSupport
import Testing

@Suite(.bounded, .serialized) struct `Resuming a watch` {
  @Test func `with --after, a watch prints the changes after the cursor, without the current state`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let first = try Line.decode(workspace.run("rename", "1", "one", "--listener", "A").lines[0])
    try workspace.run("rename", "1", "two")
    try workspace.run("rename", "1", "three")
    let cursor = try #require(first.cursor)
    let outcome = try workspace.run("watch", "--after", cursor, "--listener", "A", "--count", "2")
    #expect(try outcome.summaries == ["update 1 name 'one'>'two' @A", "update 1 name 'two'>'three' @A"])
    #expect(outcome.status == 0)
  }

  @Test func `with a cursor file, a watch continues where the last one stopped, without a gap`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let file = workspace.folder + "/cursor"
    let first = try workspace.start("watch", "--listener", "A=name", "--cursor-file", file, "--count", "1")
    try first.waitUntilWatching()
    try workspace.run("rename", "1", "one")
    #expect(first.wait() == 0)
    try workspace.run("rename", "1", "two")
    try workspace.run("set", "1", "age=7")
    let second = try workspace.run("watch", "--listener", "A=name", "--cursor-file", file, "--count", "1")
    #expect(try second.summaries == ["update 1 name 'one'>'two' @A"])
    let third = try workspace.run("watch", "--listener", "A", "--cursor-file", file, "--count", "1")
    #expect(try third.summaries == ["update 1 age null>7 @A"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: workspace.folder).filter { $0.contains("tmp") } == [])
  }

  @Test func `a cursor file of less than 4 KiB is read, and a larger one is refused`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let file = workspace.folder + "/cursor"
    try workspace.takePosition("--cursor-file", file)
    let cursor = try #require(workspace.bytes(of: "cursor"))
    for (size, timeout, status) in [(4_095, "1ms", 124), (4_096, "300s", 65)] as [(Int, String, Int32)] {
      try workspace.write(cursor + Data(repeating: 0x20, count: size - cursor.count), to: "cursor")
      let outcome = try workspace.run("watch", "--cursor-file", file, "--timeout", timeout)
      #expect(outcome.status == status, "\(outcome)")
      if status == 65 { #expect(outcome.errors.contains("is too large: expected less than 4 KiB"), "\(outcome)") }
    }
  }

  @Test func `a set that --count cuts short is printed again, a set that the filters hide is not`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let file = workspace.folder + "/cursor"
    try workspace.takePosition("--cursor-file", file)
    let start = workspace.bytes(of: "cursor")
    try workspace.run("rename", "1", "one")
    let cut = try workspace.run(
      "watch", "--listener", "A=name", "--listener", "B=name", "--cursor-file", file, "--once")
    #expect(try cut.summaries == ["update 1 name 'NIX'>'one' @A"])
    #expect(workspace.bytes(of: "cursor") == start)
    let hidden = try workspace.start("watch", "--attribute", "age", "--cursor-file", file, "--listener", "A", "--once")
    try hidden.waitUntilWatching()
    try workspace.run("set", "1", "age=7")
    #expect(hidden.output.next(2).count == 1)
    #expect(hidden.wait() == 0)
    #expect(workspace.bytes(of: "cursor") != start)
  }

  @Test(arguments: ["--cursor-file", "--consumer"], [true, false])
  func `a watch that cannot print all of the current state saves no position`(option: String, isClosed: Bool) throws {
    let workspace = try Workspace()
    try workspace.run("init")
    try workspace.sqlite(
      "INSERT INTO users (name) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n"
    )
    let position = option == "--consumer" ? "sync" : workspace.folder + "/cursor"
    let watcher = try workspace.start("watch", "--per-change", "--format", "jsonl", option, position)
    #expect(watcher.output.next() != nil)
    // The pipe is full now, and the watch waits for its reader.
    if isClosed { watcher.output.closeEnd() } else { watcher.send(SIGINT) }
    #expect(watcher.wait() == (isClosed ? 141 : 130))
    #expect(workspace.bytes(of: "cursor") == nil)
    #expect(try workspace.run("consumers").output.isEmpty)
    let next = try workspace.start("watch", "--per-change", "--format", "jsonl", option, position)
    #expect(next.output.next(10_000).count == 10_000)
  }

  @Test func `a cursor of another database resets the watch to the current state, or is exit code 6`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    let outcome = try workspace.firstLines(2, "watch", "--after", "v1-1-1-1", "--listener", "A=name")
    #expect(outcome.lines.first == #"{"op":"reset","reason":"diverged"}"#)
    #expect(try outcome.summaries.dropFirst() == ["snapshot 1 name null>'NIX' @A"])
    let refused = try workspace.run("watch", "--after", "v1-1-1-1", "--no-resync")
    #expect(refused.status == 6 && refused.output.isEmpty)
    #expect(try workspace.run("log", "--after", "v1-1-1-1").status == 6)
  }

  @Test func `after the database file is replaced, the watch follows the new file from its current state`() throws {
    let workspace = try Workspace()
    try workspace.run("add", "NIX")
    try workspace.run("--db", workspace.folder + "/other.db", "add", "Other")
    let watcher = try workspace.start("watch", "--listener", "A=name", "--no-initial", "--timeout", "300s")
    try watcher.waitUntilWatching()
    try FileManager.default.removeItem(atPath: workspace.database)
    try FileManager.default.moveItem(atPath: workspace.folder + "/other.db", toPath: workspace.database)
    #expect(watcher.output.next(2).last.map { try? Line.decode($0).summary } == "snapshot 1 name null>'Other' @A")
    try workspace.run("rename", "1", "renamed")
    #expect(try watcher.output.next().map(Line.decode)?.summary == "update 1 name 'Other'>'renamed' @A")
  }
}
