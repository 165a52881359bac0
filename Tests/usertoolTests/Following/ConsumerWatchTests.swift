import Foundation
import TestSupport
import Testing
import UserStore

@Suite(.bounded, .serialized) struct `Watching as a consumer` {
  let workspace: Workspace

  init() throws {
    workspace = try Workspace()
    try workspace.run("add", "NIX")
  }

  /// The consumer's revision in the database.
  private func revision(of name: String = "sync") throws -> String {
    try workspace.sqlite("SELECT seq FROM consumers WHERE name = '\(name)'").output.trimmingCharacters(in: .newlines)
  }

  @Test func `a consumer gets the current state only at first, then continues where the last watch stopped`() throws {
    let first = try workspace.start("watch", "--listener", "A=name", "--consumer", "sync", "--count", "1")
    try first.waitUntilWatching()
    #expect(try first.output.next().map(Line.decode)?.op == "snapshot")
    try workspace.run("rename", "1", "one")
    #expect(first.wait() == 0)
    try workspace.run("rename", "1", "two")
    try workspace.run("set", "1", "age=7")
    let second = try workspace.run("watch", "--listener", "A=name", "--consumer", "sync", "--count", "1")
    #expect(try second.summaries == ["update 1 name 'one'>'two' @A"])
    let third = try workspace.run("watch", "--listener", "A", "--consumer", "sync", "--count", "1")
    #expect(try third.summaries == ["update 1 age null>7 @A"])
    let other = try workspace.start("watch", "--consumer", "other", "--count", "1")
    #expect(try other.output.next().map(Line.decode)?.op == "snapshot")
  }

  @Test func `a signal ends it with a message on how to continue, and printed sets are acknowledged`() throws {
    let watcher = try workspace.start(
      "watch", "--per-change", "--no-initial", "--consumer", "sync", "--timeout", "300s")
    try watcher.waitUntilWatching()
    for name in ["one", "two", "three"] { try workspace.run("rename", "1", name) }
    let last = try #require(try watcher.output.next(3).last.map(Line.decode))
    // A set is printed after the previous one is acknowledged.
    watcher.send(SIGINT)
    #expect(watcher.wait() == 130)
    #expect(watcher.errors.next() == "stopped at revision \(try revision()); continue with --consumer sync")
    let rest = try workspace.run("watch", "--per-change", "--consumer", "sync", "--timeout", "2s").lines
    #expect(try rest.isEmpty || rest.map(Line.decode) == [last])
  }

  @Test func `a set that --count cuts short is printed again, a set that the filters hide is not`() throws {
    try workspace.takePosition("--consumer", "sync")
    let start = try revision()
    try workspace.run("rename", "1", "one")
    let cut = try workspace.run("watch", "--listener", "A=name", "--listener", "B=name", "--consumer", "sync", "--once")
    #expect(try cut.summaries == ["update 1 name 'NIX'>'one' @A"])
    #expect(try revision() == start)
    try workspace.run("set", "1", "age=7")
    let hidden = try workspace.run(
      "watch", "--attribute", "age", "--consumer", "sync", "--listener", "A", "--once")
    #expect(try hidden.summaries == ["update 1 age null>7 @A"])
    #expect(try revision() == "7")
  }

  @Test func `a killed watch continues right after the last acknowledgment, every time`() throws {
    try workspace.takePosition("--consumer", "sync")
    let names = try rename(2_000)
    // A rename is a change and the end of its set, so it increases the revision by two.
    let start = try #require(Int(revision()))
    var seen: [Line] = []
    var acknowledged = 0
    var kills = 0
    while seen.count < names.count, kills < 20 {
      let lines = try printed(before: min(400 * kills, names.count - acknowledged))
      kills += 1
      // Repeated lines are identical, including the cursor.
      let again = min(lines.count, seen.count - acknowledged)
      let isSame = lines.prefix(again) == seen[acknowledged..<acknowledged + again]
      #expect(isSame, "it continued at another position, or printed other lines")
      seen += lines.dropFirst(again)
      acknowledged = (try #require(Int(revision())) - start) / 2
      #expect(acknowledged <= seen.count, "a set was acknowledged that was not printed")
    }
    #expect(kills > 3)
    let isWhole = seen.map(\.new) == names.map { .text($0) }
    #expect(isWhole, "a change was lost, or was repeated after it was acknowledged")
  }

  /// Writes with the library, each write as its own set; writes of other programs may share a set.
  private func rename(_ count: Int) throws -> [String] {
    var configuration = Configuration()
    configuration.durability = .normal
    let store = try UserStore(path: workspace.database, configuration: configuration)
    let names = (0..<count).map { "name \($0)" }
    for name in names { try store.write { try $0.rename(User.ID(1), to: name) } }
    return names
  }

  /// The lines that a watch prints before it is killed, soon after `count` lines.
  private func printed(before count: Int) throws -> [Line] {
    let watcher = try workspace.start("watch", "--per-change", "--consumer", "sync", "--timeout", "5s")
    var lines = watcher.output.next(max(1, count))
    watcher.send(SIGKILL)
    _ = watcher.wait()
    // The lines that are still in the pipe, except an incomplete last line.
    let rest = String(decoding: watcher.output.rest(), as: UTF8.self)
    lines += rest.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    return try lines.map(Line.decode)
  }

  @Test func `a watch that takes over the name ends the previous watch with exit code 4`() throws {
    let first = try workspace.start("watch", "--no-initial", "--consumer", "sync", "--timeout", "300s")
    try first.waitUntilWatching()
    try workspace.run("rename", "1", "one")
    _ = first.output.next(3)
    let second = try workspace.start("watch", "--listener", "A=name", "--consumer", "sync", "--timeout", "300s")
    try second.waitUntilWatching()
    #expect(first.wait() == 4)
    let errors = String(decoding: first.errors.rest(), as: UTF8.self)
    #expect(errors.hasPrefix("usertool: error: another consumer took the name “sync”\nusertool: hint: "), "\(errors)")
    try workspace.run("rename", "1", "two")
    var line = second.output.next()
    if try line.map(Line.decode)?.new == .text("one") { line = second.output.next() }
    #expect(try line.map(Line.decode)?.summary == "update 1 name 'one'>'two' @A")
  }

  @Test func `a watch takes over the name from another program, and loses it to another program`() async throws {
    let store = try UserStore(path: workspace.database)
    let consumer = try await store.consumer("sync")
    let watcher = try workspace.start("watch", "--consumer", "sync", "--timeout", "300s")
    try watcher.waitUntilWatching()
    let error = await #expect(throws: StoreError.self) { try await consumer.cursor() }
    #expect(error?.code == .superseded)
    _ = try await store.consumer("sync")
    #expect(watcher.wait() == 4)
  }

  @Test func `removing the consumer ends its watch`() throws {
    let watcher = try workspace.start("watch", "--no-initial", "--consumer", "sync", "--timeout", "300s")
    try watcher.waitUntilWatching()
    try workspace.run("rename", "1", "one")
    _ = watcher.output.next(3)
    try workspace.run("consumers", "remove", "sync", "--yes")
    #expect(watcher.wait() == 4)
    #expect(String(decoding: watcher.errors.rest(), as: UTF8.self).contains("“sync” was removed"))
  }

  @Test func `if the log does not continue, the watch restarts from the current state, or exits with 6`() throws {
    try workspace.takePosition("--consumer", "sync")
    try workspace.sqlite("UPDATE meta SET epoch = epoch + 1")
    #expect(try workspace.run("watch", "--consumer", "sync", "--no-resync").status == 6)
    let restarted = try workspace.firstLines(2, "watch", "--listener", "A=name", "--consumer", "sync")
    #expect(restarted.lines.first == #"{"op":"reset","reason":"diverged"}"#)
    #expect(try restarted.summaries.dropFirst() == ["snapshot 1 name null>'NIX' @A"])
    #expect(
      try workspace.run("watch", "--listener", "A=name", "--consumer", "sync", "--timeout", "2s").output.isEmpty)
  }

  @Test func `after the database file is replaced, the watch follows the new file under the same name`() throws {
    try workspace.run("--db", workspace.folder + "/other.db", "add", "Other")
    let watcher = try workspace.start(
      "watch", "--listener", "A=name", "--no-initial", "--consumer", "sync", "--timeout", "300s")
    try watcher.waitUntilWatching()
    try FileManager.default.removeItem(atPath: workspace.database)
    try FileManager.default.moveItem(atPath: workspace.folder + "/other.db", toPath: workspace.database)
    #expect(watcher.output.next(2).last.map { try? Line.decode($0).summary } == "snapshot 1 name null>'Other' @A")
    try workspace.run("rename", "1", "renamed")
    #expect(try watcher.output.next().map(Line.decode)?.summary == "update 1 name 'Other'>'renamed' @A")
    watcher.send(SIGTERM)
    #expect(watcher.wait() == 143)
    #expect(try Int(revision()) ?? 0 >= 3)
  }

  @Test func `an invalid command line or name fails before anything is printed`() throws {
    for arguments in [["--after", "v1-1-1-1"], ["--cursor-file", workspace.folder + "/cursor"]] {
      let outcome = try workspace.finish([Workspace.tool, "watch", "--consumer", "sync"] + arguments)
      #expect(outcome.status == 64 && outcome.errors.contains("both set the starting point"))
    }
    for name in ["", "a\tb", String(repeating: "x", count: 201)] {
      let outcome = try workspace.run("watch", "--consumer", name)
      #expect(outcome.status == 65 && outcome.output.isEmpty, "\(outcome)")
    }
    #expect(try workspace.run("watch", "--consumer", "sync", "--db", workspace.folder + "/none.db").status == 66)
    #expect(try workspace.run("consumers").output.isEmpty)
  }

  @Test func `a consumer needs write permission`() throws {
    // The stranger cannot write to the folder either.
    let stranger = try Stranger(workspace)
    try stranger.restrict(0o644)
    let outcome = try stranger.run(["watch", "--consumer", "sync", "--timeout", "1s"])
    #expect(outcome.status == 77 && outcome.output.isEmpty, "\(outcome)")
  }
}
