import Foundation
import TestSupport
import Testing

/// After every process has ended in an orderly way, the database is the only file.
///
/// The article “Upkeep” allows copying and moving a database that no process has open. A -wal file that stays behind would contain
/// commits that are missing in the copy.
@Suite(.bounded, .serialized) struct `Files left behind` {
  private let workspace: Workspace
  private let runs = Repetitions.count

  init() throws {
    workspace = try Workspace()
    try workspace.run("add", "NIX")
  }

  private func expectOneFile(_ run: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: workspace.folder).filter {
      $0.hasPrefix("users.db")
    }
    #expect(names == ["users.db"], "run \(run)", sourceLocation: sourceLocation)
  }

  /// The user's name in the database file, without its -wal file.
  private func nameInCopy() throws -> String {
    let copy = workspace.folder + "/copy.db"
    try? FileManager.default.removeItem(atPath: copy)
    try FileManager.default.copyItem(atPath: workspace.database, toPath: copy)
    return try workspace.run("--db", copy, "get", "1", "name").output.trimmingCharacters(in: .newlines)
  }

  @Test(arguments: [Int32(SIGINT), SIGTERM, SIGHUP])
  func `a watch that a signal ends leaves one file, with the commits of the shell`(signal: Int32) throws {
    for run in 1...runs {
      let watcher = try workspace.start("watch", "--listener", "A=name", "--no-initial")
      try watcher.waitUntilWatching()
      try workspace.sqlite("UPDATE users SET name = 'n\(signal)-\(run)'")
      #expect(watcher.output.next() != nil)
      watcher.send(signal)
      #expect(watcher.wait() == 128 + signal)
      try expectOneFile(run)
      #expect(try nameInCopy() == "n\(signal)-\(run)")
    }
  }

  @Test func `three watches that one Ctrl-C ends leave one file`() throws {
    for run in 1...runs {
      let watchers = try (0..<3).map { _ in try workspace.start("watch", "--listener", "A=name", "--no-initial") }
      for watcher in watchers { try watcher.waitUntilWatching() }
      try workspace.sqlite("UPDATE users SET name = 'n\(run)'")
      for watcher in watchers { #expect(watcher.output.next() != nil) }
      for watcher in watchers { watcher.send(SIGINT) }
      for watcher in watchers { #expect(watcher.wait() == 130) }
      try expectOneFile(run)
      #expect(try nameInCopy() == "n\(run)")
    }
  }

  @Test(.enabled(if: geteuid() == 0, "only root can become another user"))
  func `with a reader that cannot write and outlives the writer, the database has every commit`() throws {
    let other = try Stranger(workspace)
    try other.restrict(0o644)
    for run in 1...runs {
      let writer = try workspace.start("watch", "--consumer", "c", "--no-initial")
      try writer.waitUntilWatching()
      let reader = try other.start("watch", "--listener", "A=name", "--no-initial")
      try reader.waitUntilWatching()
      try workspace.sqlite("UPDATE users SET name = 'n\(run)'")
      #expect(writer.output.next() != nil && reader.output.next() != nil)
      writer.send(SIGINT)
      #expect(writer.wait() == 130)
      // The reader still has the database open, but cannot checkpoint: the writer has already copied everything.
      #expect(try nameInCopy() == "n\(run)", "run \(run)")
      reader.send(SIGINT)
      #expect(reader.wait() == 130)
      #expect(try nameInCopy() == "n\(run)", "run \(run)")
    }
  }

  @Test(arguments: [
    "watch | head -n 1", "log --format jsonl | head -n 1", "list | head -n 1", "export --format jsonl | head -n 1",
  ])
  func `a command whose output is no longer read leaves one file`(command: String) throws {
    try workspace.sqlite(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO users (name) SELECT 'u' || i FROM n"
    )
    for run in 1...max(1, runs / 10) {
      try workspace.sqlite("UPDATE users SET name = 'n\(run)' WHERE id = 1")
      let outcome = try workspace.finish(["bash", "-c", "set -o pipefail; \(Workspace.tool) \(command)"])
      #expect(outcome.status == 141, "\(outcome)")
      #expect(outcome.lines.count == 1 && outcome.errors.filter { $0 != "\n" }.hasPrefix("usertool: error") == false)
      try expectOneFile(run)
      #expect(try nameInCopy() == "n\(run)")
    }
  }

  @Test func `a check that Ctrl-C ends leaves one file if it was the last to have the database open`() throws {
    try workspace.sqlite(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) INSERT INTO users (name) SELECT 'u' || i FROM n"
    )
    for run in 1...max(1, runs / 10) {
      let check = try workspace.start("check")
      // No event reports that another process has opened a file.
      while workspace.bytes(of: "users.db-shm") == nil { usleep(100) }
      try workspace.sqlite("UPDATE users SET name = 'n\(run)' WHERE id = 1")
      check.send(SIGINT)
      #expect(check.wait() == 130 && check.errors.rest().isEmpty)
      try expectOneFile(run)
      #expect(try nameInCopy() == "n\(run)")
    }
  }

  @Test func `an import that Ctrl-C ends in the middle leaves one file`() throws {
    let names = (1...200_000).map { "{\"name\":\"u\($0)\"}\n" }.joined()
    try workspace.write(Data(names.utf8), to: "names.jsonl")
    let importer = try workspace.start("import", workspace.folder + "/names.jsonl")
    // The import has started to write when the -wal file is larger than its header; no event reports that.
    while (workspace.bytes(of: "users.db-wal")?.count ?? 0) < 4_096 { usleep(1_000) }
    importer.send(SIGINT)
    #expect(importer.wait() == 130)
    try expectOneFile(1)
    #expect(try workspace.run("list", "--format", "jsonl").lines.count == 1)
  }

  @Test func `a watch under nohup continues after SIGHUP`() throws {
    let watcher = try workspace.start(["nohup", Workspace.tool, "watch", "--listener", "A=name", "--no-initial"])
    try watcher.waitUntilWatching()
    watcher.send(SIGHUP)
    try workspace.run("rename", "1", "Zoë")
    #expect(watcher.output.next() != nil)
    watcher.send(SIGINT)
    #expect(watcher.wait() == 130)
  }
}
